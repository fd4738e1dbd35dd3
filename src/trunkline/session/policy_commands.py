"""What a policy sees of one simple command: how it is written, how else it could be written, and what makes it unsure.

Rule 1: pure, and it never runs anything.
Rule 2: what is unsure is never covered by a pattern. Only a rule that is the whole line, word for word, allows it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trunkline.dialects.shell import Redirect, SimpleCommand

_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_DUPLICATION = re.compile(r"\d*[<>]&(?:\d+-?|-)$")
_EXPANDS = re.compile(r"[*?\[{]")


def as_written(command: SimpleCommand) -> str:
    """What a pattern has to match: the command with the assignments in front of it, without its redirections."""
    return " ".join((*command.assignments, command.text))


def spellings(command: SimpleCommand) -> Iterator[str]:
    """The ways in which a rule may have meant this command: without quotes, without its program's folder, as written."""
    plain = " ".join("…" if word is None else word for word in command.words)
    yield plain
    program = command.words[0] if command.words else None
    if program and "/" in program:
        yield posixpath.basename(program) + plain[len(program):]
    yield " ".join(plain.split())
    yield command.text
    yield as_written(command)


def words(commands: Iterable[SimpleCommand]) -> Iterator[str]:
    """Everything in a line that may be a path: words, the values of options and assignments, targets of redirections."""
    for command in commands:
        for word in (*command.words, *command.assignments, *(redirect.target for redirect in command.redirects)):
            if word:
                yield word
                _, equals, value = word.partition("=")
                if equals and value:
                    yield value


def doubt(command: SimpleCommand) -> str:
    """Why no pattern covers this command, or nothing."""
    if not command.text or not command.words:
        return "it does more than run commands"
    if any(word is None for word in command.words):
        return f"`{command.text}` has a part that only the shell knows"
    program = command.words[0] or ""
    if _EXPANDS.search(program):
        return f"`{program}` may be any program"
    for redirect in command.redirects:
        if not _is_harmless(redirect):
            return f"`{command.text}` is redirected"
    return ""


def _is_harmless(redirect: Redirect) -> bool:
    """Into nothing, or from one of the command's own streams to another."""
    return redirect.target in _HARMLESS_TARGETS or bool(_DUPLICATION.match(f"{redirect.operator}{redirect.target or ''}"))
