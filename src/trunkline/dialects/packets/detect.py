"""What a packet is about: which type, which tool, which file; the documents' detection rules.

Rule 1: a title never identifies a tool alone: it turns into a path or a count when the call completes. Names come first,
then what the input looks like.
Rule 2: a packet is taken in any form: as bytes, as decoded JSON, or as one of our structs; snake_case keys count too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.packets.shapes import PacketKind, PacketType
from trunkline.errors import Invalid

AnyPacket = Mapping[str, Any] | msgspec.Struct | bytes
"""A packet in any form."""

ToolName = Literal[
    "glob", "grep", "read", "write", "edit", "bash", "task", "todowrite", "webfetch", "websearch", "apply_patch"
]

TOOL_KINDS: Final[dict[ToolName, PacketKind | Literal["task"]]] = {
    "glob": "search",
    "grep": "search",
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "bash": "execute",
    "task": "task",
    "todowrite": "other",
    "webfetch": "other",
    "websearch": "other",
    "apply_patch": "other",
}
"""The documents' table of tool names. ``task`` is known by name: no packet carries it as its ``kind``."""

PACKET_KINDS: Final[dict[str, PacketKind]] = {
    "search": "search",
    "read": "read",
    "execute": "execute",
    "edit": "edit",
}
"""ACP kinds that a packet may carry; all others are ``other``."""

_TYPE_OF_UPDATE: Final[dict[str, PacketType]] = {
    "tool_call": PacketType.TOOL_CALL_START,
    "tool_call_update": PacketType.TOOL_CALL_PROGRESS,
    "plan": PacketType.AGENT_PLAN_UPDATE,
    **{
        kind.value: kind
        for kind in (
            PacketType.AGENT_MESSAGE_CHUNK,
            PacketType.AGENT_THOUGHT_CHUNK,
            PacketType.USER_MESSAGE_CHUNK,
            PacketType.CURRENT_MODE_UPDATE,
            PacketType.AVAILABLE_COMMANDS_UPDATE,
            PacketType.USAGE_UPDATE,
        )
    },
}
_TYPES: Final[dict[str, PacketType]] = {kind.value: kind for kind in PacketType}
_NAMES: Final[dict[str, ToolName]] = {name.replace("_", ""): name for name in TOOL_KINDS}

FILE_PATH_KEYS: Final = ("file_path", "filePath", "path")
OLD_TEXT_KEYS: Final = ("old_string", "oldString", "old_text", "oldText", "old_str")
NEW_TEXT_KEYS: Final = ("new_string", "newString", "new_text", "newText", "new_str")
SUBAGENT_KEYS: Final = ("subagent_type", "subagentType")
PATCH_KEYS: Final = ("patchText", "patch_text")
COMMAND_KEYS: Final = ("command", "cmd")
CONTENT_KEYS: Final = ("content", "contents", "file_text")

_GREP_ONLY_KEYS: Final = frozenset({"include", "glob", "output_mode", "outputMode", "-i", "-n", "-A", "-B", "-C"})
INPUT_KEYS: Final = frozenset({
    "todos", "pattern", "url", "query", *FILE_PATH_KEYS, *OLD_TEXT_KEYS, *SUBAGENT_KEYS, *PATCH_KEYS, *COMMAND_KEYS,
    *CONTENT_KEYS, *_GREP_ONLY_KEYS,
})
"""Every member of an input that says which tool it is for (``tool_by_input``)."""
_REGEX_SIGNS: Final = ("\\", "(", ")", "|", "^", "$", "+", ".*")


def fields_of(packet: AnyPacket) -> Mapping[str, Any]:
    """A packet as a mapping of its wire names; ``Invalid`` when it is not a JSON object."""
    if isinstance(packet, Mapping):
        return packet
    if isinstance(packet, msgspec.Struct):
        packet = msgspec.json.encode(packet)
    try:
        return decoders.decode(packet, dict[str, Any])
    except BROKEN as wrong:
        raise Invalid(f"not a packet: {wrong}") from wrong


def first_of(fields: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The first of several spellings that has a value (the documents' ``a || b``), else None."""
    for key in keys:
        if value := fields.get(key):
            return value
    return None


def raw_input_of(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A packet's tool input, empty when it has none or when it is not an object."""
    value = first_of(fields, ("raw_input", "rawInput"))
    return value if isinstance(value, Mapping) else {}


def packet_type(packet: AnyPacket) -> PacketType | None:
    """The packet's type: by ``type``, else by ``sessionUpdate``; None for one that this version does not know."""
    fields = _head_of(packet) if isinstance(packet, bytes) else fields_of(packet)
    if named := fields.get("type"):
        return _TYPES.get(named) if isinstance(named, str) else None
    update = first_of(fields, ("sessionUpdate", "session_update"))
    return _TYPE_OF_UPDATE.get(update) if isinstance(update, str) else None


class _Head(msgspec.Struct, gc=False):
    """What packets are distinguished by; the rest of them is not decoded for it."""

    type: Any = None
    sessionUpdate: Any = None
    session_update: Any = None


_head = decoders.of(_Head)


def _head_of(packet: bytes) -> Mapping[str, Any]:
    try:
        return msgspec.structs.asdict(_head.decode(packet))
    except BROKEN as wrong:
        raise Invalid(f"not a packet: {wrong}") from wrong


def known_tool(name: object) -> ToolName | None:
    """The documents' spelling of a tool's name (``TodoWrite``, ``todo_write`` → ``todowrite``); None for other tools."""
    if not isinstance(name, str):
        return None
    return _NAMES.get(name.lower().replace("_", "").replace("-", ""))


def tool_by_input(tool_input: Mapping[str, Any], kind: str) -> ToolName | None:
    """Which tool takes an input like this; None when no tool of the documents does."""
    if first_of(tool_input, SUBAGENT_KEYS):
        return "task"
    if isinstance(tool_input.get("todos"), list):
        return "todowrite"
    if first_of(tool_input, PATCH_KEYS):
        return "apply_patch"
    if first_of(tool_input, COMMAND_KEYS):
        return "bash"
    if any(key in tool_input for key in OLD_TEXT_KEYS):
        return "edit"
    return _tool_by_target(tool_input, kind)


def _tool_by_target(tool_input: Mapping[str, Any], kind: str) -> ToolName | None:
    if isinstance(pattern := tool_input.get("pattern"), str):
        return _search_tool(pattern, tool_input)
    if first_of(tool_input, FILE_PATH_KEYS):
        if any(key in tool_input for key in CONTENT_KEYS):
            return "write"
        return "read" if kind == "read" or (kind == "other" and "path" not in tool_input) else None
    if tool_input.get("url"):
        return "webfetch"
    return "websearch" if tool_input.get("query") and kind in ("fetch", "search", "other") else None


def _search_tool(pattern: str, tool_input: Mapping[str, Any]) -> ToolName:
    """Both search tools take a ``pattern``: grep's own options decide, else whether it reads as a path or as an expression."""
    if _GREP_ONLY_KEYS & tool_input.keys() or any(sign in pattern for sign in _REGEX_SIGNS):
        return "grep"
    return "glob" if "*" in pattern or "?" in pattern or "path" not in tool_input else "grep"


def tool_name(packet: AnyPacket) -> str:
    """The tool of a packet: its given name, else by its title where that is a tool's name, else by its input, else its title."""
    fields = fields_of(packet)
    meta = fields.get("_meta")
    given = first_of(fields, ("tool_name", "toolName", "name")) or (meta.get("toolName") if isinstance(meta, Mapping) else None)
    if isinstance(given, str):
        return known_tool(given) or given
    title = str(fields.get("title") or "")
    return known_tool(title) or tool_by_input(raw_input_of(fields), str(fields.get("kind") or "other")) or title


def is_todo_write(packet: AnyPacket) -> bool:
    """Whether the packet is a todo write, also when its title has become a count."""
    fields = fields_of(packet)
    return known_tool(fields.get("title")) == "todowrite" or isinstance(raw_input_of(fields).get("todos"), list)


def is_task(packet: AnyPacket) -> bool:
    """Whether the packet is a sub-agent's task, also when its title has become a description."""
    fields = fields_of(packet)
    return known_tool(fields.get("title")) == "task" or bool(first_of(raw_input_of(fields), SUBAGENT_KEYS))


def is_new_file(packet: AnyPacket) -> bool | None:
    """Whether an edit made a new file: its first diff has no old text. None when it is no edit or shows no diff."""
    fields = fields_of(packet)
    if fields.get("kind") != "edit":
        return None
    for item in _items(fields):
        if item.get("type") == "diff":
            return not first_of(item, ("oldText", "old_text"))
    return None


def _items(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = fields.get("content")
    return [item for item in content if isinstance(item, Mapping)] if isinstance(content, list) else []


def display_title(packet: AnyPacket) -> str:
    """What to show for a call: "Writing file" or "Editing file" for an edit, else its title."""
    fields = fields_of(packet)
    if fields.get("kind") != "edit":
        return str(fields.get("title") or "")
    new = is_new_file(fields)
    writes = tool_name(fields) == "write" if new is None else new
    return "Writing file" if writes else "Editing file"


def file_path(packet: AnyPacket, root: str = "") -> str:
    """The file of an edit, from its input, else its diff, else its title, else ""; relative to ``root`` where it is inside it."""
    fields = fields_of(packet)
    path = first_of(raw_input_of(fields), FILE_PATH_KEYS)
    if not isinstance(path, str):
        path = next((item["path"] for item in _items(fields) if item.get("type") == "diff" and item.get("path")), None)
    if not isinstance(path, str):
        title = fields.get("title")
        path = title if isinstance(title, str) and "/" in title else ""
    return relative_path(path, root)


def relative_path(path: str, root: str) -> str:
    """``path`` as seen from ``root``; unchanged when it is not inside it, or when there is no root."""
    if not root or not path:
        return path
    try:
        return str(PurePosixPath(path).relative_to(root))
    except ValueError:
        return path


def tool_kind(tool: AnyPacket | str) -> PacketKind | Literal["task"]:
    """The kind of a tool by its name, or of a packet by its tool: the documents' table first, then the packet's own ``kind``."""
    if isinstance(tool, str):
        named = known_tool(tool)
        return TOOL_KINDS[named] if named else "other"
    fields = fields_of(tool)
    named = known_tool(tool_name(fields))
    return TOOL_KINDS[named] if named else packet_kind(str(fields.get("kind") or "other"))


def packet_kind(kind: str) -> PacketKind:
    """An ACP kind as packets know it: five of the ten, the others are ``other``."""
    return PACKET_KINDS.get(kind, "other")
