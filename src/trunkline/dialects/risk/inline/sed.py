"""What a sed script runs, writes and reads, by its grammar: addresses, commands, and what each command takes.

Rule 1: pure, and linear in the script.
Rule 2: what does not fit the grammar is ``odd``: it may run something. A script that sed itself would refuse is no loss.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ADDRESS: Final = re.compile(r"\d++(?:~\d++)?|\$|[+~]\d++")
_BETWEEN: Final = re.compile(r"[\s;]*+")
_BRACKET: Final = re.compile(r"\[\^?\]?(?>(?:\[:[a-z]{1,10}:\]|[^\]\n]){0,200})\]")
_BLANKS: Final = re.compile(r"\s*+")
_FLAGS: Final = re.compile(r"[gpiImMeE0-9]*+")
_LABEL: Final = re.compile(r"[^;\n}]*+")
_LINE: Final = re.compile(r"[^\n]*+")
_TEXT: Final = re.compile(r"(?>(?:[^\\\n]|\\[\s\S])*)")
_NUMBER: Final = re.compile(r" *+\d*+")
_PLAIN: Final = frozenset("={}dDgGhHxnNpPzF")
_NUMBERED: Final = frozenset("lLqQ")
_LABELLED: Final = frozenset("btT:v")


class SedScript(NamedTuple):
    """What a script does beside changing text. A run without a text runs what it finds in its input."""

    runs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    odd: bool = False


def read_sed(script: str) -> SedScript:
    """Read a script; several of one call are joined by line ends. Most programs take the sign that ends a part for no end in
    brackets (``s/[^/]*//``), some do: what either of them does counts."""
    found = _read(script, False)
    if "[" not in script:
        return found
    other = _read(script, True)
    return SedScript(_both(found.runs, other.runs), _both(found.writes, other.writes), _both(found.reads, other.reads),
                     found.odd and other.odd)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _read(script: str, brackets: bool) -> SedScript:
    runs: list[str] = []
    writes: list[str] = []
    reads: list[str] = []
    at, end = _skip(script, 0, _BETWEEN), len(script)
    while 0 <= at < end:
        at = _addresses(script, at, brackets)
        sign = script[at:at + 1] if at >= 0 else ""
        at += 1
        if sign in _PLAIN:
            pass
        elif sign in ("s", "y"):
            at = _substitution(script, at, runs, writes, brackets) if sign == "s" else _delimited(script, at, 2)
        elif sign in ("e", "r", "R", "w", "W"):
            found = _LINE.match(script, at)
            rest, at = (found[0].strip(), found.end()) if found is not None else ("", end)
            (runs if sign == "e" else reads if sign in "rR" else writes).append(rest)
        elif sign in _NUMBERED:
            at = _skip(script, at, _NUMBER)
        elif sign in _LABELLED:
            at = _skip(script, at, _LABEL)
        elif sign in ("a", "i", "c", "#"):
            at = _skip(script, at, _LINE if sign == "#" else _TEXT)
        else:
            at = -1
        at = _skip(script, at, _BETWEEN) if at >= 0 else at
    return SedScript(tuple(runs), tuple(writes), tuple(reads), at < 0)


def _skip(script: str, at: int, pattern: re.Pattern[str]) -> int:
    found = pattern.match(script, at)
    return found.end() if found is not None else at


def _addresses(script: str, at: int, brackets: bool) -> int:
    """Where the command stands behind its addresses; -1 where one has no end."""
    for _ in range(2):
        sign = script[at:at + 1]
        if sign == "/" or sign == "\\":
            at = _delimited(script, at if sign == "/" else at + 1, 1, brackets)
            while 0 <= at and script[at:at + 1] in ("I", "M"):
                at += 1
        else:
            at = _skip(script, at, _ADDRESS)
        at = _skip(script, at, _BLANKS) if at >= 0 else at
        if at < 0 or script[at:at + 1] != ",":
            break
        at = _skip(script, at + 1, _BLANKS)
    while at >= 0 and script[at:at + 1] in ("!", " ", "\t"):
        at += 1
    return at


def _delimited(script: str, at: int, parts: int, brackets: bool = False) -> int:
    """Where as many parts end as one sign keeps apart, the first sign standing here; -1 where they do not."""
    sign = script[at:at + 1]
    if sign in ("", "\\", "\n"):
        return -1
    at, first = at + 1, parts
    while parts and at < len(script):
        if script[at] == "\\":
            at += 1
        elif brackets and parts == first and script[at] == "[" and (found := _BRACKET.match(script, at)) is not None:
            at = found.end()
            continue
        elif script[at] == sign:
            parts -= 1
        at += 1
    return -1 if parts else at


def _substitution(script: str, at: int, runs: list[str], writes: list[str], brackets: bool) -> int:
    start, at = at, _delimited(script, at, 2, brackets)
    flags = _FLAGS.match(script, at) if at >= 0 else None
    if flags is None:
        return -1
    if "e" in flags[0]:
        runs.append(script[start + 1:at - 1].rpartition(script[start])[2])
    if script[flags.end():flags.end() + 1] == "w":
        found = _LINE.match(script, flags.end() + 1)
        writes.append(found[0].strip() if found is not None else "")
        return found.end() if found is not None else len(script)
    return flags.end()
