"""Globs that climb: a part such as ``.?``, ``.*`` or ``.[.]`` stands for ``..`` in some shells, so that a path leaves its folder.

Rule 1: pure, by spelling alone. Rather a climb too many than one too few: a class or a choice that is hard to read may be one.
Rule 2: a leading wildcard (``?.``, ``*``) stands for no leading dot in any shell, and a class that leaves the dot out
(``.[!.]*``) climbs no more than a name.
Rule 3: the work has an end: a path with more than PARTS such parts may lead ANYWHERE.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from trunkline.dialects import late_re as re

PARTS: Final = 4
"""Parts of one path that may climb."""
ANYWHERE: Final = "/.."
"""What stands for a path of which too many parts may climb: the top of everything."""

_MAY: Final = re.compile(r"(?:^|/)(?:\.|\[|\{|[@+*?]\()[^/]*")
"""Where a part begins that may be ``..``; what has none is most of all that is written."""
_SIGNS: Final = re.compile(r"[*?\[{(]")
_TOKEN: Final = re.compile(
    r"\\(?P<quoted>.)|(?P<choice>[@+!*?]\(.*)|(?P<braces>\{.*)|(?P<star>\*+)|(?P<any>\?)"
    r"|\[(?P<negated>[!^]?)(?P<members>\]?(?>(?:\[[:.=][^\]]*\]|[^\]])*))\]|(?P<plain>.)", re.DOTALL)
_BETWEEN: Final = re.compile(r"[,{}]")
_CLASS: Final = re.compile(r"\[[^\[\]]{1,80}\]")
_ONLY_DOTS: Final = re.compile(r"[.\\*?()\[\]|@+!]+")
_CHARS: Final = 256
"""The longest name of a file; a longer part is none, but may be a glob of one."""


def climbing(path: str) -> tuple[str, ...]:
    """The paths that a glob stands for beside its own spelling, with ``..`` wherever a part of it may be that."""
    if not _SIGNS.search(path) or not _MAY.search(path):
        return ()
    parts = path.split("/")
    found = [at for at, part in enumerate(parts) if _may_be_above(part)]
    if len(found) > PARTS:
        return (ANYWHERE,)
    return tuple(_replaced(parts, found)) if found else ()


def _replaced(parts: list[str], places: list[int]) -> Iterator[str]:
    for climbs in product((True, False), repeat=len(places)):
        above = {at for at, does in zip(places, climbs, strict=True) if does}
        if above:
            yield "/".join(".." if at in above else part for at, part in enumerate(parts))


def _may_be_above(part: str) -> bool:
    """Whether a shell may take a part of a path for ``..``."""
    if part in ("", ".", "..") or not _SIGNS.search(part):
        return False
    if len(part) > _CHARS:
        return part[0] in ".[{@+"
    reached = {0}
    for token in _TOKEN.finditer(part):
        reached = {after for dots in reached for after in _after(token, dots)}
        if not reached:
            return False
    return 2 in reached


def _after(token: re.Match[str], dots: int) -> Iterator[int]:
    """How many dots are taken once this token is, where ``dots`` were before it."""
    plain = token["quoted"] or token["plain"]
    if plain is not None:
        yield from (dots + 1,) if plain == "." and dots < 2 else ()
    elif token["star"] is not None:
        yield from range(dots, 3) if dots else ()
    elif token["any"] is not None:
        yield from (dots + 1,) if dots == 1 else ()
    elif token["members"] is not None:
        yield from (dots + 1,) if dots < 2 and _holds_dot(token["members"], bool(token["negated"])) else ()
    elif token["braces"] is not None and not _is_choice(token["braces"], dots):
        return
    else:  # a choice: what it ends with, and what stands behind it, is not looked at
        inside = token["choice"] or token["braces"] or ""
        yield from range(dots, 3) if dots or ("." in inside and inside[0] != "!") or "[" in inside else ()


def _is_choice(braces: str, dots: int) -> bool:
    """Whether braces may stand for dots: they have alternatives or a range, one of which is nothing but dots and wildcards."""
    if ".." in braces:
        return True
    if "," not in braces:
        return False
    return bool(dots) or any(_ONLY_DOTS.fullmatch(piece) for piece in _BETWEEN.split(_CLASS.sub(".", braces)) if piece)


def _holds_dot(members: str, negated: bool) -> bool:
    """Whether a class of characters may stand for a dot."""
    if "[" in members or "\\" in members:  # a class by its name, or one that ends elsewhere
        return True
    listed = "." in members
    ranges = re.findall(r"(.)-(.)", members, re.DOTALL)
    return not listed if negated else listed or any(
        low <= "." <= high or not (low.isalnum() and high.isalnum()) for low, high in ranges)
