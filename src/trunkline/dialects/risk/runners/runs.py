"""The command lines that a command runs in turn, beside those that the line itself shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from trunkline.dialects.calls.loaders import names_program
from trunkline.dialects.calls.variables import loading_level
from trunkline.dialects.risk.runners import forges, git
from trunkline.dialects.risk.runners.changing import is_plain, settings_of
from trunkline.dialects.risk.runners.code import has_script, may_run
from trunkline.dialects.risk.runners.names import (
    QUIET,
    UNKNOWN,
    Ran,
    joined,
    line_names,
    manager_by_script,
    real_name,
)
from trunkline.dialects.risk.runners.table import Runner
from trunkline.dialects.risk.runners.words import base_name, operands_of, options_of, row_of
from trunkline.dialects.shell import SimpleCommand

_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl"))

_ENDS: Final = 6
"""Words behind an entrypoint of which each may be the first of its own."""

_FOR_ENDINGS: Final = re.compile(r"[\w*,.]{1,80}:")

_HAVE_SETTINGS: Final = forges.FORGES | {"npm", "pnpm", "yarn"}

_SHELL_KEYS: Final = frozenset("script-shell shell node-options git editor userconfig globalconfig".split())
"""Settings of package managers that say what is run."""


def runs_other(command: SimpleCommand) -> Ran:
    """The command lines that a command runs in turn, beside those that the line itself shows."""
    return UNKNOWN if _load_code(command.assignments) else real_name(command) or _under_own_name(command)


def line_runs(commands: Sequence[SimpleCommand]) -> list[Ran]:
    """For every command of a line what it runs in turn, with the aliases, copies and links that the line has made before it."""
    return [names or _under_own_name(command) for names, command in zip(line_names(commands), commands, strict=True)]


def _under_own_name(command: SimpleCommand) -> Ran:
    """What a command runs in turn that no other name is known of."""
    if command.assignments and _load_code(command.assignments):
        return UNKNOWN
    if not command.words:
        return ()
    name = command.name
    if name is None:
        return UNKNOWN
    if name in QUIET and not command.binds:
        return ()  # as mostly
    if name == "git":
        found = git.runs(command)
        return UNKNOWN if found is None else tuple([text[:git.CHARS] for text in found if text])
    if (command.binds and _load_code(command.binds)) or (name in _HAVE_SETTINGS and _sets_what_runs(command)):
        return UNKNOWN
    inside = _inside(command, name)
    command, row = row_of(command)
    ran = _by_row(command, row) if row is not None else ()
    return UNKNOWN if ran is UNKNOWN or inside is UNKNOWN else (*ran, *inside)


def _inside(command: SimpleCommand, name: str) -> Ran:
    """What a program runs by words that are no options of a row."""
    if name in _CONTAINERS:
        return _entrypoint(command)
    if name in forges.FORGES:
        return forges.runs(command)
    return manager_by_script(command)


def _load_code(assignments: tuple[str, ...]) -> bool:
    """Whether a variable among these makes other programs load or run something."""
    return any([loading_level(one) == "high" or names_program(one) for one in assignments])


def _entrypoint(command: SimpleCommand) -> Ran:
    """``docker run --entrypoint rm image x`` is ``rm x`` in there; where the image stands is not sure, so each end is one."""
    for at, sketch in enumerate(command.sketch):
        if sketch.partition("=")[0] != "--entrypoint":
            continue
        begin = at + (1 if "=" in sketch else 2)
        value = sketch.partition("=")[2] if "=" in sketch else " ".join(command.sketch[at + 1:at + 2])
        if command.words[at] is None or command.words[begin - 1] is None:
            return UNKNOWN
        rests = [command.sketch[end:] for end in range(begin, min(len(command.sketch), begin + _ENDS))]
        return tuple([" ".join((base_name(value), *map(git.quoted, rest)))[:git.CHARS] for rest in (*rests, ())])
    return ()


def _by_row(command: SimpleCommand, row: Runner) -> Ran:
    found: list[str] = []
    texts: list[str | None] = []
    if (row.always and len(command.words) > 1) or not row.flags.isdisjoint(command.sketch[1:]):
        return UNKNOWN
    for option, value in options_of(command, row):
        if option in row.loads:
            if is_plain(command, row, option, value):
                continue
            return UNKNOWN
        if option in row.options:
            if value is None:
                return UNKNOWN
            found.append(_as_line(option, value))
        elif option in row.code:
            texts.append(value)
    places = operands_of(command, row)
    operands = [command.words[at] for at in places]
    if row.operand and (not texts or row.stdin):
        texts += operands[row.operand - 1:] if row.stdin else operands[row.operand - 1:row.operand]
    if row.language == "editor":
        texts += [word[1:] for word in command.words[1:] if word is not None and word[:1] == "+"]
    if any([text is None or may_run(text, row, command.name or "") for text in texts]) or (
            row.stdin and has_script(command, row)) or settings_of(command, row):
        return UNKNOWN
    if row.rest and len(places) >= row.rest:
        last = command.words[places[-1]]
        behind = (last,) if len(places) == row.rest and last is not None else joined(command, places[row.rest - 1])
        if behind is UNKNOWN:
            return UNKNOWN
        found.extend(behind)
    return tuple([text[:git.CHARS] for text in found if text])


def _as_line(option: str, value: str) -> str:
    """A value as the command that it is: ``exec=x`` of tar, ``a,b`` of gcc."""
    if option == "--checkpoint-action":
        return value.rpartition("exec=")[2]
    if option == "--filter" and _FOR_ENDINGS.match(value) is not None:  # ``*:cmd`` of ugrep
        return value.partition(":")[2]
    return value.replace(",", " ") if option == "-wrapper" else value


def _sets_what_runs(command: SimpleCommand) -> bool:
    """``npm config set script-shell x``, ``gh alias set x y``: what later commands run."""
    words = command.sketch[1:]
    if command.name in forges.FORGES:
        return words[:1] == ("alias",) and not {"set", "import"}.isdisjoint(words)
    return not {"config", "c", "set"}.isdisjoint(words[:2]) and any(
        word.partition("=")[0].lower() in _SHELL_KEYS for word in words[1:])
