"""What a call is called on the packets face: the documents' titles and kinds, from the merged state of the call.

Rule 1: a call starts under its tool's name (the agent's ``name``, else by what its input looks like, else the agent's title)
and keeps it while it runs, unless the agent gives it another title.
Rule 2: a completed edit is titled by its file, a completed todo write by its count, a completed patch by its success text.
Rule 3: looking at an input decodes only the few members that decide; a file's content is never decoded for a title, and what
nobody asks for is skipped, however many members there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.tools import Diff
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.detect import (
    FILE_PATH_KEYS,
    INPUT_KEYS,
    PATCH_KEYS,
    SUBAGENT_KEYS,
    TOOL_KINDS,
    first_of,
    known_tool,
    packet_kind,
    tool_by_input,
)
from trunkline.dialects.packets.shapes import PacketKind

InputView = Mapping[str, Any]
"""Those of an input's members that are asked for (``INPUT_KEYS``) by name, decoded where their value decides which tool it is."""

_DECISIVE: Final = frozenset({"todos", "pattern", "url", "query", *FILE_PATH_KEYS, *SUBAGENT_KEYS})
_SUCCESS = "Success"

SHORT_INPUT: Final = 1024
"""Bytes of an input whose members are few enough to be read all, which is quicker than to pick some."""

_NAMES: Final = {f"member_{number}": key for number, key in enumerate(sorted(INPUT_KEYS))}
_FIELDS: Final = [(field, Raw | msgspec.UnsetType, msgspec.UNSET) for field in _NAMES]
_Members = msgspec.defstruct("_Members", _FIELDS, rename=_NAMES, gc=False)
_few: msgspec.json.Decoder[dict[str, Raw]] = decoders.of(dict[str, Raw])
_members: msgspec.json.Decoder[Any] = decoders.of(_Members)
_any = msgspec.json.Decoder()


class _Output(msgspec.Struct, gc=False):
    output: str = ""


_output: msgspec.json.Decoder[_Output] = decoders.of(_Output)


def input_view(raw_input: bytes | Raw | None) -> InputView:
    """The members of an input that are asked for; empty when it is no object."""
    if raw_input is None:
        return {}
    try:
        members = _few.decode(raw_input) if len(memoryview(raw_input)) <= SHORT_INPUT else _asked_for(raw_input)
        return {name: _any.decode(value) if name in _DECISIVE else value for name, value in members.items()}
    except BROKEN:
        return {}


def _asked_for(raw_input: bytes | Raw) -> dict[str, Raw]:
    values = zip(_NAMES.values(), msgspec.structs.astuple(_members.decode(raw_input)), strict=True)
    return {name: value for name, value in values if value is not msgspec.UNSET}


def call_tool(call: CallState, view: InputView) -> str:
    """The tool of a call: the agent's name for it, else by its input, else the title that it came with, else its kind."""
    if call.name:
        return known_tool(call.name) or call.name
    return tool_by_input(view, call.kind) or call.first_title or call.title or call.kind


def call_kind(call: CallState, view: InputView) -> PacketKind:
    """The packet's ``kind``: the agent's where packets have it; patches are ``other``; one that was not sent, by the tool."""
    named = known_tool(call_tool(call, view))
    if named == "apply_patch" or first_of(view, PATCH_KEYS):
        return "other"
    if call.kind == "other" and named:
        return packet_kind(TOOL_KINDS[named])
    return packet_kind(call.kind)


def progress_title(call: CallState, view: InputView) -> str:
    """The title of a progress packet, by how far the call is."""
    done = _completed_title(call, view) if call.status == "completed" else ""
    return done or _running_title(call, view)


def _running_title(call: CallState, view: InputView) -> str:
    return call.title if call.title and call.title != call.first_title else call_tool(call, view)


def _completed_title(call: CallState, view: InputView) -> str:
    if isinstance(todos := view.get("todos"), list):
        return f"{len(todos)} todos"
    if call_tool(call, view) == "apply_patch":
        return _success_text(call.raw_output)
    return _edited_path(call, view) if call_kind(call, view) == "edit" else ""


def _edited_path(call: CallState, view: InputView) -> str:
    """The path as it was sent: of the input, else of the first diff, else of the first location."""
    if isinstance(path := first_of(view, FILE_PATH_KEYS), str):
        return path
    for item in call.content or ():
        if isinstance(item, Diff):
            return item.path
    return call.locations[0].path if call.locations else ""


def _success_text(raw_output: bytes | Raw | None) -> str:
    if raw_output is None:
        return ""
    try:
        text = _output.decode(raw_output).output
    except BROKEN:
        return ""
    return text if text.startswith(_SUCCESS) else ""
