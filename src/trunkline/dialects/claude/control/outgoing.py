"""What we write to the CLI: lines of JSON, each ready for its stdin.

Rule 1: every line is whole and valid JSON: one that is not ends the CLI.
Rule 2: only what 2.0.77 takes is sent unasked; newer requests are answered by an error there, or by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from trunkline.dialects.acp.content import ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.outside import Json
from trunkline.errors import Invalid

GATE = "rules"
"""Our name for what we want to be called back about."""

_encode = msgspec.json.Encoder().encode


class Input(msgspec.Struct, kw_only=True, frozen=True, tag_field="type", omit_defaults=True):
    """Base of what the CLI reads on its stdin."""


class UserContent(msgspec.Struct, kw_only=True, frozen=True):
    """A message of the person's: blocks of the Messages API, or its text."""

    role: Literal["user"]
    content: list[Json] | str


class UserMessage(Input, kw_only=True, frozen=True, tag="user"):
    """A prompt. ``priority`` is ``now``, ``next`` or ``later``; without a query it is only added to the conversation."""

    message: UserContent
    session_id: str
    parent_tool_use_id: str | None
    uuid: str | UnsetType = UNSET
    priority: str | UnsetType = UNSET
    should_query: bool | UnsetType = msgspec.field(name="shouldQuery", default=UNSET)
    client_composed: bool | UnsetType = UNSET


class ControlRequest(Input, kw_only=True, frozen=True, tag="control_request"):
    """We ask something of the CLI; ``request`` has a ``subtype``."""

    request_id: str
    request: Json


class ReplySuccess(msgspec.Struct, kw_only=True, frozen=True, tag_field="subtype", tag="success"):
    """What we answer."""

    request_id: str
    response: Any


class ReplyFailure(msgspec.Struct, kw_only=True, frozen=True, tag_field="subtype", tag="error"):
    """Why we do not."""

    request_id: str
    error: str


class ControlReply(Input, kw_only=True, frozen=True, tag="control_response"):
    """We answer the CLI."""

    response: ReplySuccess | ReplyFailure


class ControlCancel(Input, kw_only=True, frozen=True, tag="control_cancel_request"):
    """We take a request of ours back."""

    request_id: str


class KeepAlive(Input, kw_only=True, frozen=True, tag="keep_alive"):
    """Nothing; every version takes it."""


def user_message(blocks: Sequence[bytes], session_id: str | None = None, uuid: str | None = None, *,
                 plain: bool = False) -> bytes:
    """A prompt, from content blocks of the Agent Client Protocol. ``uuid`` names it, so that its end is known. ``plain``: as its
    text, where it is nothing else."""
    content = [block for raw in blocks for block in _content(raw)]
    is_text = plain and all(block["type"] == "text" for block in content)
    said = UserContent(role="user", content="\n\n".join(block["text"] for block in content) if is_text else content)
    return _line(UserMessage(message=said, session_id=session_id or "",
                             parent_tool_use_id=None, uuid=uuid if uuid is not None else UNSET))


def initialize(request_id: str, **fields: Any) -> bytes:
    """The first line to write; the answer lists commands, models, modes. ``fields`` as the CLI names them."""
    return request(request_id, "initialize", fields)


def hooked() -> Json:
    """For ``initialize``: we are asked about every tool before it runs, also of those that the CLI would not ask about."""
    return {"hooks": {"PreToolUse": [{"hookCallbackIds": [GATE]}]}}


def gated(request_id: str, decision: Literal["ask", "deny"], why: str) -> bytes:
    """A tool that is about to run is not to, or not before somebody was asked."""
    output = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": why}
    return succeeded(request_id, {"hookSpecificOutput": output})


def interrupt(request_id: str, *, cancel_queued: bool = True) -> bytes:
    """End the turn. Builds that know the flag also drop prompts that wait; others ignore it."""
    return request(request_id, "interrupt", {"cancel_queued": True} if cancel_queued else {})


def set_mode(request_id: str, mode: str) -> bytes:
    """Switch the permission mode."""
    return request(request_id, "set_permission_mode", {"mode": mode})


def set_model(request_id: str, model: str | None) -> bytes:
    """Switch the model; None is the CLI's own choice."""
    return request(request_id, "set_model", {"model": model} if model is not None else {})


def set_thinking(request_id: str, tokens: int | None) -> bytes:
    """How many tokens the model may think; 0 for none, None for the CLI's own choice."""
    return request(request_id, "set_max_thinking_tokens", {"max_thinking_tokens": tokens})


def request(request_id: str, subtype: str, fields: Mapping[str, Any]) -> bytes:
    """Any control request."""
    return _line(ControlRequest(request_id=request_id, request={"subtype": subtype, **fields}))


def take_back(request_id: str) -> bytes:
    """A control request of ours is no longer wanted; the CLI may still answer it."""
    return _line(ControlCancel(request_id=request_id))


def keep_alive() -> bytes:
    """A line that says nothing."""
    return _line(KeepAlive())


def succeeded(request_id: str, response: Any) -> bytes:
    """The answer to a request of the CLI's."""
    return _line(ControlReply(response=ReplySuccess(request_id=request_id, response=response)))


def failed(request_id: str, error: str) -> bytes:
    """A request of the CLI's that we do not serve."""
    return _line(ControlReply(response=ReplyFailure(request_id=request_id, error=error)))


def _line(frame: Input) -> bytes:
    return _encode(frame) + b"\n"


def _content(raw: bytes) -> list[Json]:
    """A content block of a prompt as the Messages API has it."""
    try:
        block = read_lenient(raw, ContentBlock)
    except Invalid:
        return []
    match block:
        case TextContent():
            return [_text(block.text)]
        case ImageContent():
            return [_image(block)]
        case ResourceLink():
            return [_text(f"[@{block.name}]({block.uri})")]
        case EmbeddedResource():
            return _resource(block)
        case _:
            return [_text(f"[audio, {block.mime_type}]")]


def _image(block: ImageContent) -> Json:
    if block.data:
        return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}
    return {"type": "image", "source": {"type": "url", "url": block.uri or ""}}


def _resource(block: EmbeddedResource) -> list[Json]:
    resource = block.resource
    if isinstance(resource.text, str):
        return [_text(f"[@{resource.uri}]({resource.uri})\n<context ref=\"{resource.uri}\">\n{resource.text}\n</context>")]
    if resource.mime_type == "application/pdf" and isinstance(resource.blob, str):
        return [{"type": "document", "source": {"type": "base64", "media_type": resource.mime_type, "data": resource.blob}}]
    return [_text(f"[@{resource.uri}]({resource.uri})")]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
