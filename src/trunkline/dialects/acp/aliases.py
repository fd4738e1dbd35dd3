"""Names in circulation that the schema does not know, and the right ones: tables first, then what a table cannot say.

Agents and clients were written from drafts, from memory and from documents older than the schema. What they mean is
clear, so it is taken; what we write is always the schema's.

Rule 1: input only. Nothing here is ever written.
Rule 2: a rename or a value belongs in a table; a function only reshapes what renaming cannot.
Rule 3: functions take and give the members of one object, each still encoded, so that untouched parts keep their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

import msgspec
from msgspec import Raw

from trunkline.dialects.acp import methods
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.dialects.acp.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
)
from trunkline.dialects.acp.initialize import ClientCapabilities, InitializeRequest, InitializeResponse, Offered
from trunkline.dialects.acp.permission import PermissionOption
from trunkline.dialects.acp.sessions import (
    LoadSessionRequest,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    NewSessionRequest,
    PromptRequest,
    PromptResponse,
    ResumeSessionRequest,
)
from trunkline.dialects.acp.tools import Diff, ToolCallContent, ToolKind
from trunkline.dialects.acp.updates import CurrentModeUpdate, PlanEntry, SessionUpdate, ToolCall, ToolCallUpdate, UsageUpdate

Members = dict[str, Raw]
"""One JSON object: each member's value still encoded."""

# -- tables ------------------------------------------------------------------------------------------------------------

UPDATES = {
    "tool_call_start": "tool_call",
    "tool_call_progress": "tool_call_update",
    "agent_plan_update": "plan",
}
"""Packet names for updates."""

UPDATE_TAGS = ("sessionUpdate", "session_update", "type", "kind")
"""Where an update may say what it is, in the order we look."""

ENVELOPE_FIELDS = ("type", "timestamp")
"""Packet members that no update may carry."""

_MEDIA = {"mediaType": "mimeType"}
_CALL = {
    "id": "toolCallId",
    "input": "rawInput",
    "args": "rawInput",
    "raw_input": "rawInput",
    "output": "rawOutput",
    "raw_output": "rawOutput",
}

FIELDS: dict[Any, dict[str, str]] = {
    ImageContent: _MEDIA,
    AudioContent: _MEDIA,
    ResourceLink: _MEDIA,
    ResourceContents: _MEDIA,
    ToolCall: _CALL,
    ToolCallUpdate: _CALL,
    Diff: {"old_content": "oldText", "oldContent": "oldText", "new_content": "newText", "newContent": "newText"},
    CurrentModeUpdate: {"modeId": "currentModeId"},
    InitializeRequest: {"capabilities": "clientCapabilities"},
    InitializeResponse: {"capabilities": "agentCapabilities"},
    ClientCapabilities: {"fileSystem": "fs"},
    PromptRequest: {"content": "prompt", "messages": "prompt", "text": "prompt"},
}
"""Wrong member name to right one, by type. Snake case of a right name is understood everywhere."""

_TOOL_KINDS = {"write": "edit", "create": "edit", "command": "execute", "bash": "execute", "task": "think"}
_STATUSES = {
    "running": "in_progress",
    "inProgress": "in_progress",
    "done": "completed",
    "success": "completed",
    "error": "failed",
    "cancelled": "failed",
    "canceled": "failed",
}

VALUES: dict[Any, dict[str, dict[str, str]]] = {
    ToolCall: {"kind": _TOOL_KINDS, "status": _STATUSES},
    ToolCallUpdate: {"kind": _TOOL_KINDS, "status": _STATUSES},
    PlanEntry: {
        "status": {**_STATUSES, "cancelled": "completed", "canceled": "completed", "error": "completed"},
        "priority": {"normal": "medium"},
    },
    PermissionOption: {
        "kind": {
            "allow": "allow_once",
            "allowOnce": "allow_once",
            "allowAlways": "allow_always",
            "deny": "reject_once",
            "reject": "reject_once",
            "rejectOnce": "reject_once",
            "rejectAlways": "reject_always",
        }
    },
    PromptResponse: {
        "stopReason": {
            "stop_sequence": "end_turn",
            "tool_use": "end_turn",
            "endTurn": "end_turn",
            "maxTokens": "max_tokens",
            "maxTurnRequests": "max_turn_requests",
            "canceled": "cancelled",
        }
    },
}
"""Wrong value to right one, by type and (right) member. A value in neither list is judged by the schema's policy."""

BLOCK_TYPES = {"embedded_resource": "resource", "link": "resource_link", "file": "resource_link"}
"""Wrong ``type`` of a content block to right one."""

_TO_CLIENT = {
    "session/notification": methods.SESSION_UPDATE,
    "session/message": methods.SESSION_UPDATE,
    "session/requestPermission": methods.SESSION_REQUEST_PERMISSION,
    "fs/readTextFile": methods.FS_READ_TEXT_FILE,
    "fs/writeTextFile": methods.FS_WRITE_TEXT_FILE,
    "terminal/waitForExit": methods.TERMINAL_WAIT_FOR_EXIT,
}
_TO_AGENT = {
    "prompt": methods.SESSION_PROMPT,
    "session/message": methods.SESSION_PROMPT,
    "newSession": methods.SESSION_NEW,
    "session/setMode": methods.SESSION_SET_MODE,
    "session/setConfigOption": methods.SESSION_SET_CONFIG_OPTION,
}

METHODS: dict[Literal["agent", "client"], dict[str, str]] = {"client": _TO_CLIENT, "agent": _TO_AGENT}
"""Wrong method name to right one, by the side that serves it."""


def canonical_method(name: str, *, side: Literal["agent", "client"]) -> str:
    """The schema's name of a method that ``side`` was sent."""
    return METHODS[side].get(name, name)


def with_aliases(names: Iterable[str], *, side: Literal["agent", "client"]) -> frozenset[str]:
    """These methods and every other name they go by: what a ``Peer`` should let through."""
    served = frozenset(names)
    return served | {wrong for wrong, right in METHODS[side].items() if right in served}


CLIENT_METHODS = with_aliases(methods.CLIENT_REQUESTS, side="client")
"""Every name by which an agent may ask its client for something."""

# -- reading and writing members ---------------------------------------------------------------------------------------

_OBJECT = msgspec.json.Decoder(Members)
_ARRAY = msgspec.json.Decoder(list[Raw])
_STRING = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode
_BROKEN = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def members_of(raw: bytes | None) -> Members | None:
    """The members of an object, or None when it is none."""
    try:
        return None if raw is None else _OBJECT.decode(raw)
    except _BROKEN:
        return None


def items_of(raw: bytes | None) -> list[Raw] | None:
    """The items of an array, or None when it is none."""
    try:
        return None if raw is None else _ARRAY.decode(raw)
    except _BROKEN:
        return None


def text_of(raw: bytes | None) -> str | None:
    """A string, or None when it is none."""
    try:
        return None if raw is None else _STRING.decode(raw)
    except _BROKEN:
        return None


def _raw(value: object) -> Raw:
    return Raw(_encode(value))


_TEXT = _raw("text")


def _is_null(raw: Raw | None) -> bool:
    return raw is None or bytes(raw) == b"null"


def _text_block(text: Raw) -> Members:
    return {"type": _TEXT, "text": text}


# -- applying the tables -----------------------------------------------------------------------------------------------


def rename(table: dict[str, str], members: Members) -> Members:
    """Right names for wrong ones; where both are there, the right one stands."""
    renamed = {name: value for name, value in members.items() if name not in table}
    for wrong, right in table.items():
        if wrong in members and _is_null(renamed.get(right)):
            renamed[right] = members[wrong]
    return renamed


def revalue(kind: Any, members: Members) -> Members:
    """Right values for wrong ones."""
    for name, table in VALUES.get(kind, {}).items():
        right = table.get(text_of(members.get(name)) or "")
        if right is not None:
            members[name] = _raw(right)
    return members


def reshape(kind: Any, members: Members) -> Members:
    """The members of an object of type ``kind`` as the schema would have them."""
    members = revalue(kind, rename(FIELDS.get(kind, {}), members))
    function = _RESHAPES.get(kind)
    return members if function is None else function(members)


def reshape_value(kind: Any, raw: Raw) -> Raw:
    """A value of type ``kind`` (a union or a marker) that is not even the right sort of JSON, or of the wrong variant."""
    function = _VALUE_RESHAPES.get(kind)
    return raw if function is None else function(raw)


def update_kind(members: Members) -> str | None:
    """The ``sessionUpdate`` value an update means, wherever and however it says so."""
    for name in UPDATE_TAGS:
        said = text_of(members.get(name))
        if said is not None and (name == "sessionUpdate" or said in UPDATES or said in _KNOWN_UPDATES):
            return UPDATES.get(said, said)
    return None


def strip_envelope(members: Members, kind: str) -> Members:
    """An update's own members, without those that said what it is or came with a packet."""
    other = {"sessionUpdate", "session_update", *ENVELOPE_FIELDS}
    if text_of(members.get("kind")) in {kind, *(wrong for wrong, right in UPDATES.items() if right == kind)}:
        other.add("kind")
    return {name: value for name, value in members.items() if name not in other}


_KNOWN_UPDATES = frozenset(kind.__struct_config__.tag for kind in get_args(SessionUpdate))

# -- what a table cannot say -------------------------------------------------------------------------------------------

_NEW_TEXT = frozenset(("new_string", "newString", "newText", "new_text", "content", "patchText"))
"""Members of a tool's input that only a change of a file has."""


def _tool_call(members: Members) -> Members:
    """``name`` serves as title, an unknown kind is "other"."""
    if _is_null(members.get("title")) and not _is_null(members.get("name")):
        members["title"] = members["name"]
    members = _tool_call_update(members)
    if not _is_null(members.get("kind")) and text_of(members["kind"]) not in _KINDS:
        members["kind"] = _raw("other")
    return members


def _tool_call_update(members: Members) -> Members:
    """A "file" is an edit or a read; a failed call shows its error."""
    if text_of(members.get("kind")) == "file":
        members["kind"] = _raw("edit" if _writes(members) else "read")
    error = text_of((members_of(members.get("rawOutput")) or {}).get("error"))
    if error and text_of(members.get("status")) == "failed" and _is_null(members.get("content")):
        members["content"] = _raw([_text_block(_raw(error))])
    return members


def _writes(members: Members) -> bool:
    if not _NEW_TEXT.isdisjoint(members_of(members.get("rawInput")) or {}):
        return True
    return any(text_of((members_of(item) or {}).get("type")) == "diff" for item in items_of(members.get("content")) or [])


_KINDS = frozenset(get_args(ToolKind))


def _plan_entry(members: Members) -> Members:
    members.setdefault("priority", _raw("medium"))
    return members


def _usage(members: Members) -> Members:
    """Token counts by direction add up to what is used; the size of the window cannot be guessed."""
    if "used" not in members:
        counts = [members[name] for name in ("inputTokens", "outputTokens") if name in members]
        total = members.get("totalTokens") or (_sum(counts) if counts else None)
        if total is not None:
            members["used"] = total
    if "size" not in members and "contextWindow" in members:
        members["size"] = members["contextWindow"]
    return members


def _sum(counts: list[Raw]) -> Raw | None:
    try:
        return _raw(sum(msgspec.json.decode(count, type=int) for count in counts))
    except _BROKEN:
        return None


def _initialize(members: Members) -> Members:
    """A version in quotes: its major part where it has one ("1.0"), else 1 (a date)."""
    said = text_of(members.get("protocolVersion"))
    if said is not None:
        major = re.fullmatch(r"(\d{1,3})(\.\d+)*", said)
        members["protocolVersion"] = _raw(int(major.group(1)) if major else 1)
    return members


def _prompt(members: Members) -> Members:
    prompt = members.get("prompt")
    if prompt is not None:
        members["prompt"] = _raw(list(_blocks(prompt)))
    return members


def _blocks(raw: Raw) -> list[Any]:
    """Content blocks out of a string, one block, chat messages, or a list of any of these."""
    if text_of(raw) is not None:
        return [_text_block(raw)]
    items = items_of(raw)
    if items is not None:
        return [block for item in items for block in _blocks(item)]
    members = members_of(raw)
    if members is not None and "role" in members and "content" in members and "type" not in members:
        return _blocks(members["content"])
    return [raw]


def _session_start(members: Members) -> Members:
    servers = members_of(members.get("mcpServers"))
    if servers is not None:
        members["mcpServers"] = _raw([_named(name, server) for name, server in servers.items()])
    return members


def _named(name: str, raw: Raw) -> Any:
    members = members_of(raw)
    return raw if members is None else {"name": _raw(name), **members}


def _pairs(name: str) -> Callable[[Members], Members]:
    """Reshape a map into {name, value} pairs; where the member is missing, there are none."""

    def function(members: Members) -> Members:
        table = members_of(members.get(name))
        if table is not None:
            members[name] = _raw([{"name": key, "value": value} for key, value in table.items()])
        return members

    return function


def _mcp_stdio(members: Members) -> Members:
    for name in ("args", "env"):
        members.setdefault(name, _raw([]))
    return _pairs("env")(members)


def _mcp_remote(members: Members) -> Members:
    members.setdefault("headers", _raw([]))
    return _pairs("headers")(members)


def _resource_link(members: Members) -> Members:
    if "name" not in members and (uri := text_of(members.get("uri"))):
        members["name"] = _raw(uri.rstrip("/").rsplit("/", 1)[-1] or uri)
    return members


def _embedded(members: Members) -> Members:
    """The body beside the type instead of inside ``resource``."""
    if "resource" not in members and "uri" in members:
        body = {name: value for name, value in members.items() if name not in ("type", "annotations", "_meta")}
        members["resource"] = _raw(rename(_MEDIA, body))
    return members


_RESHAPES: dict[Any, Callable[[Members], Members]] = {
    ToolCall: _tool_call,
    ToolCallUpdate: _tool_call_update,
    PlanEntry: _plan_entry,
    UsageUpdate: _usage,
    InitializeRequest: _initialize,
    InitializeResponse: _initialize,
    PromptRequest: _prompt,
    NewSessionRequest: _session_start,
    LoadSessionRequest: _session_start,
    ResumeSessionRequest: _session_start,
    McpServerStdio: _mcp_stdio,
    McpServerHttp: _mcp_remote,
    McpServerSse: _mcp_remote,
    CreateTerminalRequest: _pairs("env"),
    ResourceLink: _resource_link,
    EmbeddedResource: _embedded,
}


def _offered(raw: Raw) -> Raw:
    """A capability marker that is ``true`` instead of an object."""
    return Raw(b"{}") if bytes(raw) == b"true" else raw


_DATA_URL = re.compile(r"data:([^;,]+)?(?:;[^,]*)?;base64,(.*)", re.DOTALL)


def _block(raw: Raw) -> Raw:
    """A content block that is a bare string, has a wrong type, or is an image by address."""
    if text_of(raw) is not None:
        return _raw(_text_block(raw))
    members = members_of(raw)
    if members is None:
        return raw
    said = text_of(members.get("type")) or ("text" if "text" in members else "")
    kind = "resource" if said == "file" and _has_body(members) else BLOCK_TYPES.get(said, said)
    members = {**rename(_MEDIA, members), "type": _raw(kind)}
    if kind == "image" and "data" not in members:
        members = _image_by_address(members)
    return _raw(members)


def _has_body(members: Members) -> bool:
    return not members.keys().isdisjoint(("resource", "text", "blob"))


def _image_by_address(members: Members) -> Members:
    """An image's ``url``: with the data in it, or a link to it."""
    url = text_of(members.get("url")) or text_of(members.get("uri")) or ""
    inline = _DATA_URL.fullmatch(url)
    rest = {name: value for name, value in members.items() if name not in ("url", "uri")}
    if inline:
        return {"mimeType": _raw(inline.group(1) or "image/png"), **rest, "data": _raw(inline.group(2))}
    return {**rest, "type": _raw("resource_link"), "uri": _raw(url)} if url else members


def _call_content(raw: Raw) -> Raw:
    """An item of a tool call's content that is a bare block or a diff without its texts."""
    members = members_of(raw)
    said = None if members is None else text_of(members.get("type"))
    if members is not None and said == "diff" and "diff" in members and not _has_new_text(members):
        return _raw({"type": "content", "content": _text_block(members["diff"])})
    if said in ("content", "diff", "terminal"):
        return raw
    return _raw({"type": "content", "content": raw})


def _has_new_text(members: Members) -> bool:
    return not members.keys().isdisjoint(("newText", "new_text", "new_content", "newContent"))


def _mcp_server(raw: Raw) -> Raw:
    """An MCP server whose kind must be guessed: one with an address is http, one with a command has no type."""
    members = members_of(raw)
    if members is None:
        return raw
    said = text_of(members.pop("type", None))
    if "url" in members:
        members["type"] = _raw("sse" if said == "sse" else "http")
    return _raw(members)


_VALUE_RESHAPES: dict[Any, Callable[[Raw], Raw]] = {
    Offered: _offered,
    ContentBlock: _block,
    ToolCallContent: _call_content,
    McpServer: _mcp_server,
}

HIDDEN: frozenset[Any] = frozenset((InitializeRequest, InitializeResponse, ClientCapabilities))
"""Types whose wrong names do not break the schema, at some depth: read member by member, always."""

