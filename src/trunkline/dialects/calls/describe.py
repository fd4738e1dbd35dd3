"""A call in words: its line for people, what it is about, and what events carry of its reading.

Rule 1: the line is that of ``describe_tool_call``, made of what was found: a command or a path counts under any name.
Rule 2: what a call runs is always in its line, whatever its tool is called; so is what it may do that its name does not say, and
a title that is all that is known of it is told as the agent's words (``told_of``).
Rule 3: no face looks into an input for what is described here (``reading_meta``): events carry it, short enough for a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trunkline import decoders
from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.calls.names import usual_name
from trunkline.dialects.calls.types import Act, CallReading, CarriedReading, ToolRole
from trunkline.dialects.context.descriptions import COMMAND_UNITS, describe_tool_call
from trunkline.dialects.outside import BROKEN

COMMAND_CHARS: Final = 8_000
"""Characters of a command that events repeat beside the input: as many as a transcript shows."""
PATHS_REPEATED: Final = 8
"""Paths that they repeat."""
SUBJECT_CHARS: Final = 300
"""Characters of what a call is about, where that is neither a command nor a path."""

_SUBJECTS: Final = ("query", "url", "description", "prompt", "task")
"""Members that say what a call is about, the most telling first."""


TITLE_CHARS: Final = 200
"""Characters of a title that a line tells."""
_MAY: Final[dict[Act, str]] = {"delete": "delete", "move": "move", "run": "run something", "write": "write"}
_AWAY: Final = ("/", "~", "$", "..")
"""How a path begins that may lead anywhere."""
_OTHERS: Final = 2
"""Further paths that a line names; of more it tells how many."""
_TALKS: Final[frozenset[ToolRole]] = frozenset({"plan", "think", "ask_user", "todos"})


def describe(tool: str, members: Mapping[str, Any], command: str | None, paths: Sequence[str], *, deleted: Sequence[str] = (),
             moved: Sequence[tuple[str, str]] = (), unsaid: Act | None = None, claimed: str = "") -> str:
    """What the call does, in a line; the tool's name where nothing more is known. What a tool that is not for it deletes or moves
    is named as such. ``unsaid`` is the worst that it may do and its name does not say, ``claimed`` a command that only its title
    or what stands beside its input tells."""
    beside = f" (told beside it: {claimed.split(chr(10), 1)[0][:COMMAND_UNITS]})" if claimed else ""
    if command is not None:
        return describe_tool_call(tool, {"command": command}) + beside
    gone = [path for path in deleted if path != BEYOND_RULES]
    if gone:
        return f"{tool}, which deletes: {gone[0]}{_and_more(gone)}{beside}"
    if moved:
        return f"{tool}, which moves: {moved[0][0]} to {moved[0][1]}{_and_more(moved)}{beside}"
    line = _line(tool, members, paths)
    about = line.partition(": ")[2] if line != tool else ""
    line += _others(about, paths)
    if unsaid is not None:
        line = f"{tool}, which may {_MAY[unsaid]}" + (f": {line.partition(': ')[2]}" if about else "")
    return line + beside


def _line(tool: str, members: Mapping[str, Any], paths: Sequence[str]) -> str:
    line = describe_tool_call(tool, {key: value for key, value in members.items() if not isinstance(value, list) or any(value)})
    if line != tool or not paths or paths[0] == BEYOND_RULES:
        return line
    line = describe_tool_call(tool, {"path": paths[0]})
    return describe_tool_call(tool, {"paths": [*paths]}) if line == f"{tool}: {paths[0]}" else line


def _others(about: str, paths: Sequence[str]) -> str:
    """The paths that may lead anywhere and that the line does not tell."""
    if not about or " more" in about:
        return ""
    left = [path for path in paths if path.startswith(_AWAY) and path != BEYOND_RULES and not _is_told(path, about)]
    more = f" and {len(left) - _OTHERS} more" if len(left) > _OTHERS else ""
    return "".join(f", {path}" for path in left[:_OTHERS]) + more


def _is_told(path: str, about: str) -> bool:
    return path in about or path.endswith(f"/{about.removeprefix('./')}")


def told_of(reading: CallReading, title: str) -> str:
    """The line of a call on every face: its own, and where that is no more than its name, its title as the agent's words."""
    if reading.description != reading.tool:
        return reading.description
    words = title[:TITLE_CHARS]
    if not words or reading.tool.casefold() in (words.casefold(), usual_name(words, None)):
        return reading.tool
    return words if reading.role in _TALKS else f'{reading.tool}, titled "{words}"'


def told_alone(tool: str, description: str, doubts: Sequence[str]) -> str:
    """The line of an ask for faces that show nothing beside it: with the tool's name, and the first reason why it is not sure."""
    begins = description.casefold().startswith(f"{tool.casefold()}: ")  # "Write: a" has the name of "write"
    is_named = begins or (description.startswith((tool, "Run: ") if tool == "bash" else tool) and description != tool)
    line = description if is_named else f"Use {tool}: {description}" if description not in ("", tool) else f"Use {tool}"
    return f"{line} (not sure: {doubts[0]})" if doubts else line


def _and_more(named: Sequence[object]) -> str:
    return f" and {len(named) - 1} more" if len(named) > 1 else ""


def subject_of(members: Mapping[str, Any], paths: Sequence[str]) -> str:
    """What a call is about that no command and no path shows: what is looked for, asked or wanted."""
    pattern = members.get("pattern")
    if isinstance(pattern, str) and pattern:
        folder = members.get("path")
        return (f"{pattern}  {folder}" if isinstance(folder, str) and folder else pattern)[:SUBJECT_CHARS]
    if paths:
        return ""
    return next((value[:SUBJECT_CHARS] for key in _SUBJECTS if isinstance(value := members.get(key), str) and value), "")


def reading_meta(reading: CallReading) -> CarriedReading:
    """What ``_meta.reading`` of an event says."""
    return CarriedReading(
        category=reading.category, role=reading.role, command=None if reading.command is None else _beginning(reading.command),
        paths=tuple(path for path in reading.paths[:PATHS_REPEATED] if path != BEYOND_RULES), subject=reading.subject,
        only_runs=reading.only_runs)


def carried_reading(meta: object) -> CarriedReading:
    """What an event's ``_meta`` carries of its call's reading; nothing of an event that is older than that."""
    reading = meta.get("reading") if isinstance(meta, Mapping) else None
    try:
        return decoders.convert(reading if reading is not None else {}, CarriedReading)
    except BROKEN:
        return CarriedReading()


def _beginning(command: str) -> str:
    """As much of a command as is repeated; who reads it has to see that there is more."""
    left = len(command) - COMMAND_CHARS
    return command if left <= 0 else f"{command[:COMMAND_CHARS]}\n… and {left} more characters"
