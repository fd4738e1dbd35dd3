"""Command lines within a text that is none itself: in JSON, in a setting (``post=rm x``), in a list of strings, between tags.

Rule 1: pure, and it only ever restricts: what is found may be a command, and may as well be prose.
Rule 2: bounded: so many characters of a text are looked at, and so many lines are given.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from trunkline.dialects import late_re as re
from trunkline.dialects.calls.inputs import command_of
from trunkline.dialects.outside import BROKEN

CHARS: Final = 4096
LINES: Final = 16
_DEPTH: Final = 6
_HOLDS: Final = re.compile(r"[=:\[({<\"'`]")
"""What a text has in it that holds another one; a path and a name have none of them."""
_QUOTED: Final = re.compile(r"\"((?:[^\"\\\n]|\\.){0,400})\"|'([^'\n]{0,400})'")
_LIST: Final = re.compile(r"[\[({]\s{0,9}((?>(?:(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')[\s,]{0,9}){2,40}))[\])}]")
_APART: Final = re.compile(r"[\[\](){}<>,;&|?\n\"'`]+")
_NAMED: Final = re.compile(r"\s{0,9}[\w.@/-]{0,60}\s{0,3}[:=]{1,2}\s{0,9}(?=\S)")
"""A name before what it stands for."""


def lines_in(text: str) -> Iterator[str]:
    """The command lines that a text may hold, beside the whole of it."""
    if _HOLDS.search(text) is None:
        return
    found = itertools.chain(_of_json(text), _of_signs(text[:CHARS]))
    yield from itertools.islice((line for line in dict.fromkeys(found) if line and line != text), LINES)


def _of_json(text: str) -> Iterator[str]:
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or len(stripped) > CHARS:
        return
    try:
        value = msgspec.json.decode(stripped)
    except BROKEN:
        return
    yield from _of_value(value, _DEPTH)


def _of_value(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        if (command := command_of(value)) is not None:
            yield from command.split("\n")
        for inner in value.values():
            yield from _of_value(inner, depth - 1)
    elif isinstance(value, list) and depth:
        if len(value) > 1 and all(isinstance(word, str | int | float) for word in value):
            yield shlex.join(map(str, value))
        for inner in value:
            yield from _of_value(inner, depth - 1)


def _of_signs(text: str) -> Iterator[str]:
    """Lists of strings joined, strings, and what stands between brackets, commas and tags, without the name before it."""
    yield _without_name(text)
    for found in _LIST.finditer(text):
        yield shlex.join([one or other for one, other in _QUOTED.findall(found[1])])
    for one, other in _QUOTED.findall(text):
        yield one or other
    yield from map(_without_name, _APART.split(text))


def _without_name(text: str) -> str:
    named = _NAMED.match(text)
    return (text[named.end():] if named is not None else text).strip()
