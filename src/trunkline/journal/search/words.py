"""What a person typed, as a question to the index.

Rule 1: nothing that is typed is an error of syntax: there is no syntax but quotes.
Rule 2: every word has to be found. A word is found by its beginning; what stands in quotes is found as it is.
"""

from __future__ import annotations

import re

from trunkline.errors import Invalid

WORDS_MOST = 16
LENGTH_MOST = 500

_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_LETTER = re.compile(r"[^\W_]")


def expression_of(typed: str) -> str:
    """The words in the index's own language, or Invalid when there is none among them."""
    if len(typed) > LENGTH_MOST:
        raise Invalid(f"q is longer than {LENGTH_MOST} characters", details={"field": "q"})
    parts = []
    for quoted, word in _PIECE.findall(typed.replace("\0", " ")):
        if _LETTER.search(quoted):
            parts.append(f'"{quoted}"')
        elif _LETTER.search(word):
            parts.append(f'"{word}"*')
    if not parts:
        raise Invalid("q has no word to look for", details={"field": "q"})
    if len(parts) > WORDS_MOST:
        raise Invalid(f"q has more than {WORDS_MOST} words", details={"field": "q"})
    return " AND ".join(parts)
