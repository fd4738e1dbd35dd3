"""A call in words: its line for people, what it is about, and what events carry of its reading.

Rule 1: the line is that of ``describe_tool_call``, made of what was found: a command or a path counts under any name.
Rule 2: what a call runs is always in its line, whatever its tool is called.
Rule 3: no face looks into an input for what is described here (``reading_meta``): events carry it, short enough for a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.calls.types import CallReading, CarriedReading
from trunkline.dialects.context.descriptions import describe_tool_call
from trunkline.dialects.outside import BROKEN

COMMAND_CHARS: Final = 8_000
"""Characters of a command that events repeat beside the input: as many as a transcript shows."""
PATHS_REPEATED: Final = 8
"""Paths that they repeat."""
SUBJECT_CHARS: Final = 300
"""Characters of what a call is about, where that is neither a command nor a path."""

_SUBJECTS: Final = ("query", "url", "description", "prompt", "task")
"""Members that say what a call is about, the most telling first."""


def describe(tool: str, members: Mapping[str, Any], command: str | None, paths: Sequence[str], *, deleted: Sequence[str] = (),
             moved: Sequence[tuple[str, str]] = ()) -> str:
    """What the call does, in a line; the tool's name where nothing more is known. What a tool that is not for it deletes or moves
    is named as such."""
    if command is not None:
        return describe_tool_call(tool, {"command": command})
    gone = [path for path in deleted if path != BEYOND_RULES]
    if gone:
        return f"{tool}, which deletes: {gone[0]}{_and_more(gone)}"
    if moved:
        return f"{tool}, which moves: {moved[0][0]} to {moved[0][1]}{_and_more(moved)}"
    line = describe_tool_call(tool, members)
    if line != tool or not paths or paths[0] == BEYOND_RULES:
        return line
    line = describe_tool_call(tool, {"path": paths[0]})
    return describe_tool_call(tool, {"paths": [*paths]}) if line == f"{tool}: {paths[0]}" else line


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
        return msgspec.convert(reading if reading is not None else {}, CarriedReading)
    except BROKEN:
        return CarriedReading()


def _beginning(command: str) -> str:
    """As much of a command as is repeated; who reads it has to see that there is more."""
    left = len(command) - COMMAND_CHARS
    return command if left <= 0 else f"{command[:COMMAND_CHARS]}\n… and {left} more characters"
