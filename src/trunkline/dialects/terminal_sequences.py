"""What programs say to terminals: sequences that colour, move and set titles, beside the text that people read.

Rule: pure. A sequence that does not end is text, but for its beginning.
"""

from __future__ import annotations

import re

_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])")


def without_sequences(text: str) -> str:
    """The text without what a terminal would obey instead of showing it."""
    return _SEQUENCES.sub("", text)
