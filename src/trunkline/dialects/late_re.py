"""``re`` for modules that a hub loads at its start: their patterns are compiled by who first uses them.

A session's state has types of what judges calls and commands, so a hub that starts loads that; but there is nobody to be judged.
A hundred and thirty patterns of these modules took some 15 ms of a start, and were held by every hub that nobody uses. Such a
module says ``from trunkline.dialects import late_re as re``, and is written as with the real one.

Rule: what ``compile`` gives has a pattern's methods and members and is none itself: ``sub`` and its like take patterns as text.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    VERBOSE,
    A,
    I,
    M,
    Match,
    Pattern,
    RegexFlag,
    S,
    X,
    escape,
    findall,
    search,
    sub,
)
from typing import Any, AnyStr, cast

__all__ = ["ASCII", "DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "A", "I", "M", "Match", "Pattern", "RegexFlag", "S", "X",
           "compile", "escape", "findall", "search", "sub"]


class _LatePattern:
    """Becomes a pattern by being asked for anything of one."""

    def __init__(self, text: Any, flags: int | RegexFlag) -> None:
        self.pattern = text  # others are made of it
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(re.compile(self.pattern, self._flags), name)  # the next time this is not called
        return found


def compile(pattern: AnyStr, flags: int | RegexFlag = 0) -> Pattern[AnyStr]:
    """A pattern, as soon as it is used."""
    return cast("Pattern[AnyStr]", _LatePattern(pattern, flags))
