"""Permissions as chmod takes them, as one number: ``0777``, ``a+rwx`` and ``u=rwx,go=u`` all give 777.

Rule: pure. Only what a mode surely sets is counted; what was there before is not known, and a mask is
not believed to take anything away.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NUMBER: Final = re.compile(r"[-+=]?([0-7]{1,12})")
_CLAUSE: Final = re.compile(r"([ugoa]{0,8})((?:[-+=][rwxXstugo]{0,8}){1,4})")
_ACTION: Final = re.compile(r"([-+=])([rwxXstugo]*)")
_CLAUSES: Final = 16
_BITS: Final = {"r": 4, "w": 2, "x": 1, "X": 1}


@lru_cache(maxsize=256)
def bits_set(mode: str) -> int | None:
    """What a mode surely lets owner, group and others do, of 0o777; None where the word is no mode."""
    if (number := _NUMBER.fullmatch(mode)) is not None:
        return int(number[1], 8) & 0o777
    held = dict.fromkeys("ugo", 0)
    for clause in mode.split(",", _CLAUSES):
        found = _CLAUSE.fullmatch(clause)
        if found is None:
            return None
        who = "ugo" if not found[1] or "a" in found[1] else found[1]
        for sign, what in _ACTION.findall(found[2]):
            given = 0
            for letter in what:
                given |= held[letter] if letter in held else _BITS.get(letter, 0)
            for one in who:
                held[one] = given if sign == "=" else held[one] | given if sign == "+" else held[one] & ~given
    return held["u"] << 6 | held["g"] << 3 | held["o"]
