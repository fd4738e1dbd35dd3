"""A tool call in one short line, for people: ``Run: npm test``, ``Read: /src/index.ts``.

Rule 1: tools are known by the protocol's own names, in any case of letters; any other by its name and what it is about.
Rule 2: an input that does not say what the line needs leaves the tool's name alone, never "undefined".
Rule 3: what a call would run is in its line, whatever its tool is called.
Rule 4: lengths count UTF-16 units, as every JavaScript client counts, and a character is never cut in half.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class _Line(NamedTuple):
    """How a tool's line is made: its word, the input's fields to look for in order, and how much of it is shown."""

    word: str
    fields: tuple[str, ...]
    units: int | None = None


COMMAND_UNITS: Final = 100
_PATHS: Final = ("file_path", "filePath", "path")
_LISTS: Final = ("paths", "files", "file_paths", "filePaths")
_ASKED: Final = ("sql", "statement", "statements", "query", "queries", "url")
_LINES: Final[dict[str, _Line]] = {
    "bash": _Line("Run", ("command",), COMMAND_UNITS),
    "read": _Line("Read", _PATHS),
    "write": _Line("Write", _PATHS),
    "edit": _Line("Edit", _PATHS),
    "glob": _Line("Search", ("pattern",)),
    "grep": _Line("Grep", ("pattern",)),
    "task": _Line("Task", ("description", "prompt"), 50),
    "websearch": _Line("Search", ("query",)),
    "webfetch": _Line("Fetch", ("url",)),
}


def describe_tool_call(name: str, input: Mapping[str, Any] | str | None = None) -> str:
    """What the call does, in a line; the tool's name where nothing more is known. A bare text is the whole input."""
    line = _LINES.get(name.lower())
    if name and name.lower() != "bash" and isinstance(input, Mapping) and (command := _command(input)):
        return f"{name}, which runs: {_first_units(command, COMMAND_UNITS)}"
    if line is None:
        about = _about(input) if name and isinstance(input, Mapping) else ""
        return f"{name}: {about}" if about else name
    text = _text_in(input, line.fields)
    return f"{line.word}: {text if line.units is None else _first_units(text, line.units)}" if text else name


def _command(input: Mapping[str, Any]) -> str:
    """What a call would run. One word beside a path is what an editor is to do with that."""
    command = input.get("command")
    if not isinstance(command, str) or (" " not in command.strip() and _text_in(input, _PATHS)):
        return ""
    return command


def _about(input: Mapping[str, Any]) -> str:
    """The file that a tool of another name is about, or how many; else its pattern, its statements, its question, its address."""
    listed = next((value for key in _LISTS if isinstance(value := input.get(key), list) and value), None)
    if listed is not None and isinstance(listed[0], str):
        return listed[0] + (f" and {len(listed) - 1} more" if len(listed) > 1 else "")
    named = [value for key in (*_PATHS, "pattern") if isinstance(value := input.get(key), str) and value]
    return named[0] if named else _first_units(_text_in(input, _ASKED), COMMAND_UNITS)


def _text_in(input: Mapping[str, Any] | str | None, fields: tuple[str, ...]) -> str:
    """The first of these fields that says something."""
    if not isinstance(input, Mapping):
        return _text(input)
    return next(filter(None, (_text(input.get(field)) for field in fields)), "")


def _text(value: object) -> str:
    """A value in words; what has none (nothing, an object) is empty."""
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list():
            return ",".join(map(_text, value))
    return ""


def _first_units(text: str, units: int) -> str:
    """The first characters that fit into so many UTF-16 units."""
    if text.isascii():
        return text[:units]
    taken = 0
    for at, character in enumerate(text[:units]):
        taken += 2 if ord(character) > 0xFFFF else 1
        if taken > units:
            return text[:at]
    return text[:units]
