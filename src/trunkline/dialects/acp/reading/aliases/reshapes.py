"""What a table cannot say: objects and values that have another shape than the schema's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args
from urllib.parse import unquote

from msgspec import Raw

from trunkline import decoders
from trunkline.dialects.acp.client import CreateTerminalRequest
from trunkline.dialects.acp.content import (
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
)
from trunkline.dialects.acp.initialize import ClientCapabilities, InitializeRequest, InitializeResponse, Offered
from trunkline.dialects.acp.permission import UNKNOWN_KIND, PermissionOption, PermissionOptionKind
from trunkline.dialects.acp.reading.aliases.members import (
    Members,
    as_raw,
    is_null,
    items_of,
    members_of,
    rename,
    text_block,
    text_of,
)
from trunkline.dialects.acp.reading.aliases.tables import BLOCK_TYPES, MEDIA
from trunkline.dialects.acp.sessions import (
    LoadSessionRequest,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    NewSessionRequest,
    PromptRequest,
    ResumeSessionRequest,
)
from trunkline.dialects.acp.tools import ToolCallContent, ToolCallLocation, ToolKind
from trunkline.dialects.acp.updates import PlanEntry, ToolCall, ToolCallUpdate, UsageUpdate
from trunkline.dialects.calls.names import role_of_name
from trunkline.dialects.outside import BROKEN

_NEW_TEXT = frozenset(("new_string", "newString", "newText", "new_text", "content", "patchText"))
"""Members of a tool's input that only a change of a file has."""


def _tool_call(members: Members) -> Members:
    """``name`` serves as title, an unknown kind is "other"."""
    if is_null(members.get("title")) and not is_null(members.get("name")):
        members["title"] = members["name"]
    members = _tool_call_update(members)
    if not is_null(members.get("kind")) and text_of(members["kind"]) not in _KINDS:
        members["kind"] = as_raw("other")
    return members


def _tool_call_update(members: Members) -> Members:
    """A "file" is an edit, a read where the tool is named so, and else anything; a failed call shows its error. One thing that is
    shown, without a list around it, is shown all the same."""
    shown = members.get("content")
    if shown is not None and (text_of(shown) is not None or members_of(shown) is not None):
        members["content"] = as_raw([shown if text_of(shown) is None else text_block(shown)])
    if text_of(members.get("kind")) == "file":
        members["kind"] = as_raw("edit" if _writes(members) else "read" if _is_read(members) else "other")
    error = text_of((members_of(members.get("rawOutput")) or {}).get("error"))
    if error and text_of(members.get("status")) == "failed" and is_null(members.get("content")):
        members["content"] = as_raw([text_block(as_raw(error))])
    return members


def _is_read(members: Members) -> bool:
    return role_of_name(text_of(members.get("name")) or text_of(members.get("title")) or "") == "read"


def _writes(members: Members) -> bool:
    if not _NEW_TEXT.isdisjoint(members_of(members.get("rawInput")) or {}):
        return True
    return any(text_of((members_of(item) or {}).get("type")) == "diff" for item in items_of(members.get("content")) or [])


_KINDS = frozenset(get_args(ToolKind))


def _plan_entry(members: Members) -> Members:
    members.setdefault("priority", as_raw("medium"))
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
        return as_raw(sum(decoders.decode(count, int) for count in counts))
    except BROKEN:
        return None


def _initialize(members: Members) -> Members:
    """A version in quotes: its major part where it has one ("1.0"), else 1 (a date)."""
    value = text_of(members.get("protocolVersion"))
    if value is not None:
        major = re.fullmatch(r"(\d{1,3})(\.\d+)*", value)
        members["protocolVersion"] = as_raw(int(major.group(1)) if major else 1)
    return members


def _prompt(members: Members) -> Members:
    prompt = members.get("prompt")
    if prompt is not None:
        members["prompt"] = as_raw(list(_blocks(prompt)))
    return members


def _blocks(raw: Raw) -> list[Any]:
    """Content blocks out of a string, one block, chat messages, or a list of any of these."""
    if text_of(raw) is not None:
        return [text_block(raw)]
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
        members["mcpServers"] = as_raw([_named(name, server) for name, server in servers.items()])
    return members


def _named(name: str, raw: Raw) -> Any:
    members = members_of(raw)
    return raw if members is None else {"name": as_raw(name), **members}


def _pairs(name: str) -> Callable[[Members], Members]:
    """Reshape a map into {name, value} pairs; where the member is missing, there are none."""

    def function(members: Members) -> Members:
        table = members_of(members.get(name))
        if table is not None:
            members[name] = as_raw([{"name": key, "value": value} for key, value in table.items()])
        return members

    return function


def _mcp_stdio(members: Members) -> Members:
    for name in ("args", "env"):
        members.setdefault(name, as_raw([]))
    return _pairs("env")(members)


def _mcp_remote(members: Members) -> Members:
    members.setdefault("headers", as_raw([]))
    return _pairs("headers")(members)


def _resource_link(members: Members) -> Members:
    if "name" not in members and (uri := text_of(members.get("uri"))):
        members["name"] = as_raw(uri.rstrip("/").rsplit("/", 1)[-1] or uri)
    return members


def _embedded(members: Members) -> Members:
    """The body beside the type instead of inside ``resource``."""
    if "resource" not in members and "uri" in members:
        body = {name: value for name, value in members.items() if name not in ("type", "annotations", "_meta")}
        members["resource"] = as_raw(rename(MEDIA, body))
    return members


def _permission_option(members: Members) -> Members:
    """A kind that nobody knows is no yes, and is kept beside."""
    value = members.get("kind")
    if text_of(value) not in get_args(PermissionOptionKind):
        remarks = members_of(members.get("_meta")) or {}
        members["_meta"] = as_raw({**remarks, UNKNOWN_KIND: value})
        members["kind"] = as_raw("reject_once")
    return members


_FILE_URI = re.compile(r"file:(?://(?:localhost)?)?(?=/)", re.IGNORECASE)


def path_of_uri(uri: str) -> str:
    """The path of a file on this machine; every other address as it is, for it leads somewhere else."""
    found = _FILE_URI.match(uri)
    return uri if found is None else unquote(uri[found.end():])


def _location(members: Members) -> Members:
    """A place that is told by its address."""
    uri = text_of(members.get("uri")) if is_null(members.get("path")) else None
    return {**members, "path": as_raw(path_of_uri(uri))} if uri else members


def _place(raw: Raw) -> Raw:
    """A place that is nothing but its path or its address."""
    path = text_of(raw)
    return raw if not path else as_raw({"path": path_of_uri(path)})


RESHAPES: dict[Any, Callable[[Members], Members]] = {
    ToolCall: _tool_call,
    ToolCallLocation: _location,
    ToolCallUpdate: _tool_call_update,
    PermissionOption: _permission_option,
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
        return as_raw(text_block(raw))
    members = members_of(raw)
    if members is None:
        return raw
    value = text_of(members.get("type")) or ("text" if "text" in members else "")
    kind = "resource" if value == "file" and _has_body(members) else BLOCK_TYPES.get(value, value)
    members = {**rename(MEDIA, members), "type": as_raw(kind)}
    if kind == "image" and "data" not in members:
        members = _image_by_address(members)
    return as_raw(members)


def _has_body(members: Members) -> bool:
    return not members.keys().isdisjoint(("resource", "text", "blob"))


def _image_by_address(members: Members) -> Members:
    """An image's ``url``: with the data in it, or a link to it."""
    url = text_of(members.get("url")) or text_of(members.get("uri")) or ""
    inline = _DATA_URL.fullmatch(url)
    rest = {name: value for name, value in members.items() if name not in ("url", "uri")}
    if inline:
        return {"mimeType": as_raw(inline.group(1) or "image/png"), **rest, "data": as_raw(inline.group(2))}
    return {**rest, "type": as_raw("resource_link"), "uri": as_raw(url)} if url else members


def _call_content(raw: Raw) -> Raw:
    """An item of a tool call's content that is a bare block or a diff without its texts."""
    members = members_of(raw)
    value = None if members is None else text_of(members.get("type"))
    if members is not None and value == "diff" and "diff" in members and not _has_new_text(members):
        return as_raw({"type": "content", "content": text_block(members["diff"])})
    if value in ("content", "diff", "terminal"):
        return raw
    return as_raw({"type": "content", "content": raw})


def _has_new_text(members: Members) -> bool:
    return not members.keys().isdisjoint(("newText", "new_text", "new_content", "newContent"))


def _mcp_server(raw: Raw) -> Raw:
    """An MCP server whose kind must be guessed: one with an address is http, one with a command has no type."""
    members = members_of(raw)
    if members is None:
        return raw
    value = text_of(members.pop("type", None))
    if "url" in members:
        members["type"] = as_raw("sse" if value == "sse" else "http")
    return as_raw(members)


VALUE_RESHAPES: dict[Any, Callable[[Raw], Raw]] = {
    Offered: _offered,
    ContentBlock: _block,
    ToolCallContent: _call_content,
    ToolCallLocation: _place,
    McpServer: _mcp_server,
}

HIDDEN: frozenset[Any] = frozenset((InitializeRequest, InitializeResponse, ClientCapabilities))
"""Types whose wrong names do not break the schema, at some depth: read member by member, always."""
