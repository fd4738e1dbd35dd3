"""Regular expressions with possessive repetitions of groups, for every Python that we run on.

Before 3.11.5 such a repetition loses the beginning of what its group matched: ``rm`` is read as ``m``. There it is written as the
atomic group that it stands for, which those engines read rightly.
"""

from __future__ import annotations

import re
import sys
from typing import AnyStr, Final

READS_POSSESSIVE: Final = sys.version_info >= (3, 11, 5)

_POSSESSIVE: Final = ("*+", "++", "?+")


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern, ready to be used."""
    if READS_POSSESSIVE:
        return re.compile(pattern, flags)
    if isinstance(pattern, bytes):
        return re.compile(without_possessive_groups(pattern.decode("latin-1")).encode("latin-1"), flags)
    return re.compile(without_possessive_groups(pattern), flags)


def without_possessive_groups(pattern: str) -> str:
    """The same pattern with ``(…)*+`` as ``(?>(…)*)``. Repetitions of single characters were always read rightly."""
    written: list[str] = []
    begins: list[int] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            written.append(pattern[at:at + 2])
            at += 2
            continue
        if sign == "[":
            end = _class_end(pattern, at)
            written.append(pattern[at:end])
            at = end
            continue
        written.append(sign)
        at += 1
        if sign == "(":
            begins.append(len(written) - 1)
        elif sign == ")":
            begin = begins.pop()
            if pattern[at:at + 2] in _POSSESSIVE:
                written[begin:] = ["(?>", *written[begin:], pattern[at], ")"]
                at += 2
    return "".join(written)


def _class_end(pattern: str, at: int) -> int:
    """Where a set of characters ends that begins here."""
    at += 2 if pattern[at + 1] == "^" else 1
    at += pattern[at] == "]"  # a bracket that comes first is one of the characters
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
