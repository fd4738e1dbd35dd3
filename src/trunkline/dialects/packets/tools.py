"""What the tools of the documents take and give: ``rawInput`` and ``rawOutput`` as typed structs.

Rule 1: these are views, for whoever reads packets, also those that carry the agent's own bytes (``packets.raw = "agent"``).
Rule 2: every spelling in circulation is read (``filePath``, ``file_path``, ``path`` …); a struct writes the documents' one.
Rule 3: nothing fails. An input that fits no tool is ``OtherInput`` with its bytes, an output ``OtherOutput``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.detect import (
    COMMAND_KEYS,
    CONTENT_KEYS,
    FILE_PATH_KEYS,
    NEW_TEXT_KEYS,
    OLD_TEXT_KEYS,
    PATCH_KEYS,
    SUBAGENT_KEYS,
    AnyPacket,
    ToolName,
    fields_of,
    known_tool,
    tool_name,
)

_TASK_TRAILER = "<task_metadata>"
"""What follows this in a task's output is about the sub-agent's run, not its answer."""


class GlobInput(Struct, kw_only=True, frozen=True):
    """Find files by name."""

    pattern: str
    path: str | UnsetType = UNSET


class GrepInput(Struct, kw_only=True, frozen=True):
    """Find text in files."""

    pattern: str
    path: str | UnsetType = UNSET


class ReadInput(Struct, kw_only=True, frozen=True, rename="camel"):
    """Read a file."""

    file_path: str
    offset: int | UnsetType = UNSET
    limit: int | UnsetType = UNSET


class WriteInput(Struct, kw_only=True, frozen=True, rename="camel"):
    """Write a whole file."""

    file_path: str
    content: str


class EditInput(Struct, kw_only=True, frozen=True):
    """Replace a piece of a file."""

    file_path: str = field(name="filePath")
    old_string: str
    new_string: str


class BashInput(Struct, kw_only=True, frozen=True):
    """Run a shell command."""

    command: str
    description: str | UnsetType = UNSET


class TaskInput(Struct, kw_only=True, frozen=True):
    """Give a task to a sub-agent."""

    prompt: str
    description: str | UnsetType = UNSET
    subagent_type: str


class TodoItem(Struct, kw_only=True, frozen=True, rename="camel"):
    """One todo; ``active_form`` is what to show while it is being done."""

    content: str
    status: str
    active_form: str | UnsetType = UNSET


class TodoWriteInput(Struct, kw_only=True, frozen=True):
    """Replace the todo list."""

    todos: list[TodoItem]


class WebFetchInput(Struct, kw_only=True, frozen=True):
    """Fetch a page."""

    url: str
    format: str | UnsetType = UNSET
    prompt: str | UnsetType = UNSET


class WebSearchInput(Struct, kw_only=True, frozen=True):
    """Search the web."""

    query: str


class ApplyPatchInput(Struct, kw_only=True, frozen=True, rename="camel"):
    """Change several files by one patch."""

    patch_text: str


class OtherInput(Struct, frozen=True):
    """The input of any other tool, as it came."""

    raw: bytes


ToolInput = (
    GlobInput
    | GrepInput
    | ReadInput
    | WriteInput
    | EditInput
    | BashInput
    | TaskInput
    | TodoWriteInput
    | WebFetchInput
    | WebSearchInput
    | ApplyPatchInput
    | OtherInput
)


class SearchMetadata(Struct, kw_only=True, frozen=True):
    """How much a search found."""

    count: int | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class SearchOutput(Struct, kw_only=True, frozen=True):
    """Paths or matches, one per line, or "No files found"."""

    output: str
    metadata: SearchMetadata | UnsetType = UNSET


class ReadMetadata(Struct, kw_only=True, frozen=True):
    """The beginning of what was read."""

    preview: str | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class ReadOutput(Struct, kw_only=True, frozen=True):
    """A file with line numbers, inside ``<file>`` tags."""

    output: str
    metadata: ReadMetadata | UnsetType = UNSET


class BashMetadata(Struct, kw_only=True, frozen=True):
    """How the command ended."""

    output: str | UnsetType = UNSET
    exit: int | UnsetType | None = UNSET
    description: str | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class BashOutput(Struct, kw_only=True, frozen=True):
    """What the command printed."""

    output: str
    metadata: BashMetadata | UnsetType = UNSET


class WriteMetadata(Struct, kw_only=True, frozen=True):
    """What was written where; ``exists`` says that the file was there before."""

    diagnostics: dict[str, Any] | UnsetType = UNSET
    filepath: str | UnsetType = UNSET
    exists: bool | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class WriteOutput(Struct, kw_only=True, frozen=True):
    """The result of a write or an edit."""

    output: str
    metadata: WriteMetadata | UnsetType = UNSET


class TodoWriteMetadata(Struct, kw_only=True, frozen=True):
    """The list as it was stored."""

    todos: list[TodoItem] | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class TodoWriteOutput(Struct, kw_only=True, frozen=True):
    """The stored list as JSON text."""

    output: str
    metadata: TodoWriteMetadata | UnsetType = UNSET


class TaskOutput(Struct, kw_only=True, frozen=True):
    """What a sub-agent came back with."""

    output: str
    metadata: dict[str, Any] | UnsetType = UNSET

    @property
    def answer(self) -> str:
        """The sub-agent's answer, without the trailer about its run."""
        return self.output.partition(_TASK_TRAILER)[0].rstrip()


class WebOutput(Struct, kw_only=True, frozen=True):
    """A page or search results as text."""

    output: str
    metadata: dict[str, Any] | UnsetType = UNSET


class FileChange(Struct, kw_only=True, frozen=True, rename="camel"):
    """One file of a patch, with its text before and after."""

    file_path: str | UnsetType = UNSET
    relative_path: str | UnsetType = UNSET
    type: Literal["add", "update", "delete", "move"]
    diff: str | UnsetType = UNSET
    before: str
    after: str
    additions: int
    deletions: int


class PatchMetadata(Struct, kw_only=True, frozen=True):
    """What the patch did, file by file."""

    diff: str | UnsetType = UNSET
    files: list[FileChange]
    diagnostics: dict[str, Any] | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class ApplyPatchOutput(Struct, kw_only=True, frozen=True):
    """"Success. Updated the following files: …"."""

    output: str
    metadata: PatchMetadata | UnsetType = UNSET


class FailedOutput(Struct, kw_only=True, frozen=True):
    """Why a call failed."""

    error: str


class OtherOutput(Struct, frozen=True):
    """The output of any other tool, as it came."""

    raw: bytes


ToolOutput = (
    SearchOutput
    | ReadOutput
    | BashOutput
    | WriteOutput
    | TodoWriteOutput
    | TaskOutput
    | WebOutput
    | ApplyPatchOutput
    | FailedOutput
    | OtherOutput
)

_Aliases = dict[str, tuple[str, ...]]

_INPUTS: Final[dict[ToolName, tuple[type[ToolInput], _Aliases]]] = {
    "glob": (GlobInput, {}),
    "grep": (GrepInput, {"pattern": ("pattern", "query")}),
    "read": (ReadInput, {"filePath": FILE_PATH_KEYS}),
    "write": (WriteInput, {"filePath": FILE_PATH_KEYS, "content": CONTENT_KEYS}),
    "edit": (EditInput, {"filePath": FILE_PATH_KEYS, "old_string": OLD_TEXT_KEYS, "new_string": NEW_TEXT_KEYS}),
    "bash": (BashInput, {"command": COMMAND_KEYS}),
    "task": (TaskInput, {"subagent_type": SUBAGENT_KEYS}),
    "todowrite": (TodoWriteInput, {}),
    "webfetch": (WebFetchInput, {}),
    "websearch": (WebSearchInput, {"query": ("query", "q")}),
    "apply_patch": (ApplyPatchInput, {"patchText": PATCH_KEYS}),
}
_OUTPUTS: Final[dict[ToolName, type[ToolOutput]]] = {
    "glob": SearchOutput,
    "grep": SearchOutput,
    "read": ReadOutput,
    "write": WriteOutput,
    "edit": WriteOutput,
    "bash": BashOutput,
    "task": TaskOutput,
    "todowrite": TodoWriteOutput,
    "webfetch": WebOutput,
    "websearch": WebOutput,
    "apply_patch": ApplyPatchOutput,
}


def tool_input(packet: AnyPacket) -> ToolInput:
    """The typed input of a tool packet, whatever its spelling."""
    fields = fields_of(packet)
    value = _member(fields, "raw_input", "rawInput")
    value = {} if value is None else value
    known = known_tool(tool_name(fields))
    if known is None or not isinstance(value, Mapping):
        return OtherInput(_bytes_of(value))
    shape, aliases = _INPUTS[known]
    try:
        return decoders.convert(_documented(value, aliases), shape)
    except BROKEN:
        return OtherInput(_bytes_of(value))


def _documented(value: Mapping[str, Any], aliases: _Aliases) -> dict[str, Any]:
    """The input with the documents' names; a command given as a list of words becomes a line."""
    named = dict(value)
    for name, spellings in aliases.items():
        present = next((value[spelling] for spelling in spellings if spelling in value), UNSET)
        if present is not UNSET:
            named[name] = present
    if isinstance(words := named.get("command"), list):
        named["command"] = shlex.join(str(word) for word in words)
    if isinstance(todos := named.get("todos"), list):
        named["todos"] = [_documented_todo(todo) for todo in todos]
    return named


def _documented_todo(todo: Any) -> Any:
    if not isinstance(todo, Mapping) or "activeForm" in todo or "active_form" not in todo:
        return todo
    return {**todo, "activeForm": todo["active_form"]}


def tool_output(packet: AnyPacket) -> ToolOutput | None:
    """The typed output of a tool packet; None while there is none."""
    fields = fields_of(packet)
    value = _member(fields, "raw_output", "rawOutput")
    if value is None:
        return None
    if isinstance(value, Mapping) and isinstance(error := value.get("error"), str) and "output" not in value:
        return FailedOutput(error=error)
    known = known_tool(tool_name(fields))
    return _output_as(value, _OUTPUTS[known]) if known else OtherOutput(_bytes_of(value))


def _member(fields: Mapping[str, Any], *spellings: str) -> Any:
    return next((fields[name] for name in spellings if fields.get(name) is not None), None)


def _output_as(value: Any, shape: type[ToolOutput]) -> ToolOutput:
    try:
        return decoders.convert(value, shape)
    except BROKEN:
        return OtherOutput(_bytes_of(value))


def _bytes_of(value: Any) -> bytes:
    return bytes(value) if isinstance(value, Raw) else msgspec.json.encode(value)
