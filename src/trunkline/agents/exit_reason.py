"""Why an agent died: out of the last lines of its stderr, those that give the reason.

Rule: a line that names an error counts before one that does not, the last such line before the first; what only closes a trace (a
brace, a place in the code, an interpreter's version) is never the reason.
"""

from __future__ import annotations

import re
from typing import Final

LINES: Final = 3
"""Lines that are quoted: the reason, and what it goes on with."""

CHARS: Final = 400
"""Characters of them together."""

_REASON = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception|Panic|Failure)|[Ee]rror|ERROR|FATAL|[Ff]atal|panic(?:ked)?|E[A-Z]{3,12}|"
                     r"cannot|can't|could not|denied|not found|no such|invalid|failed|missing|refused|unauthorized)\b")
_PLACE = re.compile(r"\s*(?:at\s|File \"|Traceback\b|node:|Node\.js v|\^+\s*$|~+\^|\.\.\. |stack backtrace:|\d+: 0x|goroutine \d|"
                    r"note: run with)")
_LETTERS = re.compile(r"[^\W\d_]{2}")


def last_words(stderr: str) -> str:
    """The lines that say why, in one; "" where nothing was printed."""
    lines = [line.strip() for line in stderr.splitlines() if _LETTERS.search(line) and not _PLACE.match(line)]
    if not lines:
        return ""
    reasons = [index for index, line in enumerate(lines) if _REASON.search(line)]
    start = _first_of_run(reasons) if reasons else len(lines) - 1
    return " ".join(lines[start:start + LINES])[:CHARS]


def _first_of_run(reasons: list[int]) -> int:
    """The beginning of the last group of lines that name an error."""
    start = reasons[-1]
    while start - 1 in reasons and reasons[-1] - start < LINES - 1:
        start -= 1
    return start
