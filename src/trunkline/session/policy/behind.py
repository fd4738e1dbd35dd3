"""What stands behind the commands of a line: other names of theirs, and what they run in turn (``risk/runners/``).

Rule 1: pure, and it only ever restricts.
Rule 2: another name is the command itself, so a rule denies it. What may be run in turn makes a person decide.
Rule 3: texts are read as lines, two deep; what cannot be read, and a program that is a file somewhere, may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from trunkline.session.policy.commands import spellings
from trunkline.session.policy.hidden import hidden, printed_into, quoted_lines, without_options

if TYPE_CHECKING:
    from trunkline.dialects.shell import SimpleCommand

_DEPTH: Final = 2
_HIDDEN: Final = 60
"""Texts of one command within a text that are looked at."""
TEXTS_READ: Final = 24
"""Texts of one line that are read as lines; what has more may run anything. Each takes some tens of microseconds."""
_BINARIES: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/")


class Behind(NamedTuple):
    """What stands behind one command."""

    names: tuple[str, ...] = ()
    """The same command as others would write it."""
    texts: tuple[str, ...] = ()
    """What it may run."""
    unknown: bool = False
    """It may run anything."""


class _Read(NamedTuple):
    texts: tuple[str, ...] = ()
    unknown: bool = False


def behind(commands: Sequence[SimpleCommand]) -> list[Behind]:
    """What stands behind each command of a line."""
    return _behind(commands, 0, [TEXTS_READ])


def _behind(commands: Sequence[SimpleCommand], depth: int, left: list[int]) -> list[Behind]:
    from trunkline.dialects.risk.runners.names import UNKNOWN, line_names  # as heavy as the parser
    from trunkline.dialects.risk.runners.runs import runs_other

    found: list[Behind] = []
    for index, (command, named) in enumerate(zip(commands, line_names(commands), strict=True)):
        ran = () if named else runs_other(command)
        if named is UNKNOWN or ran is UNKNOWN:
            found.append(Behind(unknown=True))
        elif named or ran:
            names, texts = _read(named, depth, left), _read(ran, depth, left)
            found.append(Behind(names.texts, texts.texts, names.unknown or texts.unknown or any(map(_is_a_file, ran))))
        else:
            found.append(_NOTHING)
        if not found[-1].unknown and (quoted := _quoted(command, found[-1].texts, depth, left)) is not None:
            found[-1] = found[-1]._replace(texts=(*found[-1].texts, *quoted), unknown=left[0] < 0)
        if 0 <= command.stdin_from < index and (fed := printed_into(commands, index)):
            found[-1] = found[-1]._replace(texts=(*found[-1].texts, *fed))
    return found


def _quoted(command: SimpleCommand, known: Sequence[str], depth: int, left: list[int]) -> list[str] | None:
    """The commands of words in quotes, where they can be read as lines; None: there are no such words. What cannot be read is
    prose, and is held against rules as it is."""
    lines = [line for line in quoted_lines(command) if line not in known] if " " in command.text else ()
    return [text for line in lines for text in _read([line], depth, left).texts] if lines else None


_NOTHING: Final = Behind()


def _read(texts: Iterable[str], depth: int, left: list[int]) -> _Read:
    """Texts as lines: every command in them as a rule may have written it, and what stands behind those. ``left`` counts."""
    from trunkline.dialects.shell import parse_shell

    found: list[str] = []
    unknown = False
    for text in texts:
        left[0] -= 1
        if left[0] < 0:
            return _Read(tuple(dict.fromkeys(found)), True)
        parsed = parse_shell(text)
        found.append(" ".join(text.split()))
        unknown = unknown or not parsed.complete
        if depth >= _DEPTH:
            continue
        for command, below in zip(parsed.commands, _behind(parsed.commands, depth + 1, left), strict=True):
            found += [*spellings(command), *without_options(command), *below.names, *below.texts]
            found += islice(hidden(command), _HIDDEN)
            unknown = unknown or below.unknown
    return _Read(tuple(dict.fromkeys(found)), unknown)


def _is_a_file(text: str) -> bool:
    """Whether a text starts a program that is a file somewhere, and not one of the system's."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return "/" in first and not first.startswith(_BINARIES)
