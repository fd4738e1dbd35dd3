"""Whether a word of which only a part is known may lead to a folder that nobody is to touch: the hub's own.

Rule 1: pure, by spelling alone.
Rule 2: a word of which nothing is known (``$F``) may be anything, and says nothing: what it changes is not sure
(``dialects/risk``). What is known of it counts: ``$X/trunkline/token`` ends like something in the folder, ``~/$D`` begins like
the way to it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from trunkline.dialects import late_re as re
from trunkline.dialects.glob_tokens import parts_of, path_tokens, run
from trunkline.session.policy import globs
from trunkline.session.policy.commands import path_like_parts
from trunkline.session.workspace import PLAYGROUND

_DYNAMIC: Final = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^{}]*\}|\$[\w\N{HORIZONTAL ELLIPSIS}@*#?!-]+")
_CODE: Final = re.compile(r"[\s'\"()]")
_HOME_IN_CODE: Final = re.compile(r"\bHOME\b|expanduser|\.home\b|home_?dir|getpw|USERPROFILE|Dir\.home|HOMEPATH", re.IGNORECASE)
_HANDS_ON: Final = re.compile(
    r"['\"(,:=]~|~/?['\":,)]|~/?$|system|exec|popen|spawn|\brun\b|call|getline|\|"
    r"|\b(?:rm|mv|cp|ln|tar|zip|rsync|scp|dd|find|chmod|chown|chgrp|docker)\b", re.IGNORECASE)
_TAKES_AWAY: Final = re.compile(r"rmtree|rm_?rf|rmSync|rmdir|\brm\(|\bmove\b|rename|remove|unlink|chmod|chown")


def may_lead_to(folder: str, text: str, base: str, home: str | None) -> bool:
    """Whether a text with variables in it may be a path in a folder, or the way to it."""
    goal = parts_of(globs.folded(folder))
    opened = globs.folded(_DYNAMIC.sub("*", text))
    if opened[:1] != "*":
        return _begins_like(goal, globs.place(opened, base, home).absolute)
    return _ends_like(goal, [part for part in opened.split("/")[1:] if part not in ("", ".")])


def _begins_like(goal: list[str], path: str) -> bool:
    """Whether the parts of a path before its first open one, and that one, are on the way to the goal or below it."""
    parts = parts_of(path)
    if parts[:len(goal) + 1] == [*goal, PLAYGROUND]:
        return False
    for at, part in enumerate(parts):
        if at >= len(goal):
            return True
        if not run(path_tokens(part), goal[at]):
            return False
        if "*" in part:
            return True
    return False


def _ends_like(goal: list[str], tail: list[str]) -> bool:
    """Whether what stands behind something that only the run knows begins with the goal's own names, or is hidden and on the
    way to it."""
    fits = [[run(path_tokens(part), name) for name in goal] for part in tail[:len(goal)]]
    for count in range(1, len(fits) + 1):
        if tail[count - 1].strip("*") and all(fits[at][len(goal) - count + at] for at in range(count)):
            return True
    if not tail or len(tail) > len(goal) or tail[0][:1] != ".":
        return False
    return any(all(fits[at][start + at] for at in range(len(tail))) for start in range(len(goal) - len(tail) + 1))


def parts_that_hold(word: str) -> Iterator[str]:
    """Paths within a word that may be folders which somebody is given as a whole (``-v ~/.local:/h``); of code and prose only
    those that are written in full."""
    is_code = _CODE.search(word) is not None
    if "HOME" in word:  # in quotes, for a program that knows variables itself
        word = word.replace("${HOME}", "~").replace("$HOME", "~")
    for part in path_like_parts(word):
        if part in ("~", "~/") and is_code and not _HANDS_ON.search(word):  # an operator, or "about"
            continue
        if not is_code or part[:1] == "~" or (part[:1] == "/" and "/" in part.strip("/")):
            yield part


def of_home_in_code(word: str, home: str) -> Iterator[str]:
    """Paths that code may put together from the home folder and its own texts (``Path.home() / '.local'``)."""
    if not _CODE.search(word) or not _HOME_IN_CODE.search(word):
        return
    if _TAKES_AWAY.search(word):
        yield home
    yield from (posixpath.join(home, part.lstrip("/")) for part in path_like_parts(word) if part.strip("/. "))


_PIECES: Final = re.compile(r"[\s,;|:#\"'`<>]+")
"""What may stand between a path and something else in one text."""


def within_path(path: str) -> Iterator[str]:
    """What a tool may take a path for that has more in it than a path."""
    bare = path.strip(" \t\r\n\"'`<>@").replace("/@", "/")
    yield from (piece for piece in (bare, path, *_PIECES.split(bare), *_PIECES.split(path)) if piece)
