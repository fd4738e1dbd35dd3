"""Chunks of a message that say that a tool is called, or what it gave: blocks of a model's format, which some agents pass on.

Rule: they are emitted as parts of a message, no more. A call is what a ``tool_call`` update says; only that is asked about.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trunkline import decoders
from trunkline.dialects.context.types import MessageRole
from trunkline.dialects.context.unions import MessageContent, ToolResultPart, ToolUsePart
from trunkline.dialects.outside import BROKEN
from trunkline.session.interpret.writer import TEXT_LIMIT

_ROLES: dict[str, MessageRole] = {"agent_message_chunk": "assistant", "user_message_chunk": "user"}


class _Block(msgspec.Struct):
    type: str = ""
    id: str = ""
    tool_use_id: str = ""
    tool_call_id: str = msgspec.field(default="", name="toolCallId")
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    content: Any = ""
    is_error: bool | None = None
    failed: bool | None = msgspec.field(default=None, name="isError")


class _Chunk(msgspec.Struct):
    content: _Block
    session_update: str = msgspec.field(default="", name="sessionUpdate")


def tool_part(update: bytes) -> tuple[MessageRole, MessageContent] | None:
    """Who says it, and the part; None where an update is no such chunk."""
    if len(update) > TEXT_LIMIT:
        return None
    try:
        chunk = decoders.decode(update, _Chunk)
    except BROKEN:
        return None
    role, block = _ROLES.get(chunk.session_update), chunk.content
    call_id = block.tool_call_id or block.tool_use_id or block.id
    if role is None or not call_id:
        return None
    if block.type == "tool_use":
        return role, ToolUsePart(tool_call_id=call_id, name=block.name, input=block.input)
    if block.type == "tool_result":
        failed = block.failed if block.failed is not None else block.is_error
        return role, ToolResultPart(tool_call_id=call_id, content=_text_of(block.content),
                                    is_error=msgspec.UNSET if failed is None else failed)
    return None


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(item["text"] for item in content if isinstance(item, dict) and isinstance(item.get("text"), str))
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()
