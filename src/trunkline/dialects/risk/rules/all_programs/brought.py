"""Commands that a program which is not known here brings in its words: in quotes (``concurrently 'make a'``), behind ``--``, as
the words behind a program's name (``shx ls src``), or within a text that is no line (``'{"run": "make a"}'``, ``post='make a'``).

Rule 1: what runs its words for all to see is a wrapper (``shell/wrappers.py``); here is whoever may. So a brought command only
ever raises, and only by what is high: a word that merely looks like one costs nothing.
Rule 2: bounded: so many texts of a call, and only those that have a program's name where a command begins. What brings more is
not sure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Final

from trunkline.dialects.calls.texts import lines_in
from trunkline.dialects.risk.call import ProgramCall
from trunkline.dialects.risk.rules import is_known
from trunkline.dialects.risk.stdin import given

TEXTS: Final = 8
"""Of one call that are judged as lines; each takes about as long as a line of its own."""
WORDS: Final = 24
"""Of one call that are looked at."""
LINES: Final = 64
"""Of a text on the input that are looked at."""
_CHARS: Final = 400
_HEAD: Final = re.compile(r"(?:^|[;&|({`\"'\n])\s{0,9}((?:/\w{1,20}){0,6}/?[a-z][\w.+-]{0,30})")
"""Where a command begins in a text, and its program; prose begins with a capital, or with no program."""


_VERBS: Final = frozenset(("init", "service", "halt", "link"))
"""Programs whose names are usual sub-commands of others."""
_ASSIGNED: Final = re.compile(r"^(?:\w{1,60}=\S{0,200}\s{1,9}){1,8}")


def note_brought(call: ProgramCall) -> None:
    """Note the commands that a call brings, to be judged as lines of their own."""
    found = list(islice(dict.fromkeys(_texts(call)), TEXTS + 1))
    for text in found[:TEXTS]:
        call.bring(text[:_CHARS])
    if len(found) > TEXTS:
        call.note("medium", "may run more of its words than are read", call.command.text, unsure=True)


def _texts(call: ProgramCall) -> Iterator[str]:
    if call.command.redirects or call.command.stdin_from >= 0 or call.lenders:
        fed = given(call)
        for text in fed.texts if fed is not None else ():
            yield from _fed(text)
    args = call.args[:WORDS]
    behind = args.index("--") + 1 if "--" in args else 0
    if behind and behind < len(args):
        yield shlex.join(args[behind:])
    for at, arg in enumerate(args):
        if " " in arg or arg[:1] in ("{", "["):
            yield from _within(arg)
        elif at + 1 < len(args) and at + 1 != behind and arg.isascii() and is_known(arg) and not (at < 2 and arg in _VERBS):
            yield shlex.join(args[at:])


def _fed(text: str) -> Iterator[str]:
    """The lines of a text on the input that begin with a program's name, and those within it."""
    for line in text.split("\n", LINES)[:LINES]:
        head = _ASSIGNED.sub("", line[:_CHARS].lstrip("!%:$ \t")).split(None, 1)
        if len(head) > 1 and head[0].isascii() and is_known(head[0]):
            yield line.lstrip("!%:$ \t")
    if text[:1] in ("{", "["):
        yield from _within(text)


def _within(arg: str) -> Iterator[str]:
    """A text, where it may be a line, and the lines that it may hold."""
    value = arg.partition("=")[2] if arg[:1] == "-" else arg
    if _names_program(value):
        yield value
    for line in lines_in(value):
        words = _ASSIGNED.sub("", line[:_CHARS]).split(None, 1)
        if len(words) > 1 and words[0].isascii() and is_known(words[0].strip("\"'")):
            yield line


def _names_program(text: str) -> bool:
    return any([is_known(found[1]) for found in _HEAD.finditer(text[:_CHARS])])
