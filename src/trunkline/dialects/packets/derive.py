"""From an agent's updates to packets: chunks, tool calls, plans, and the session's other updates.

Rule 1: a packet is a pure function of what is journaled and of ``at``; made twice, it is the same bytes.
Rule 2: streamed text is the hot path: its JSON token goes from the agent's line into the packet unread.
Rule 3: a progress packet carries all that is known of the call, not what changed; it comes from the merged state.
Rule 4: every packet is one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.options import AvailableCommand
from trunkline.dialects.acp.reading.decode import USUAL_CHUNK, decode_update, text_chunk
from trunkline.dialects.acp.updates import AgentMessageChunk, AgentThoughtChunk, Cost, MessageChunk, PlanEntry, UserMessageChunk
from trunkline.dialects.packets.contents import ANY_TEXT, block_json, items_json, locations_of, with_text
from trunkline.dialects.packets.raw_inputs import NOTHING_BESIDE, Beside, documented_input, documented_tool, own_input
from trunkline.dialects.packets.raw_outputs import documented_output, own_output
from trunkline.dialects.packets.shapes import (
    CallStatus,
    CommandHint,
    CommandItem,
    CommandsPacket,
    MessageChunkPacket,
    ModePacket,
    Money,
    PlanItem,
    PlanPacket,
    PlanStatus,
    Priority,
    ThoughtChunkPacket,
    ToolCallProgressPacket,
    ToolCallStartPacket,
    UsagePacket,
    UserChunkPacket,
)
from trunkline.dialects.packets.stamps import stamp, timestamp
from trunkline.dialects.packets.titles import call_kind, call_tool, input_view, progress_title

_CHUNK_PACKETS: Final = {
    AgentMessageChunk: MessageChunkPacket,
    AgentThoughtChunk: ThoughtChunkPacket,
    UserMessageChunk: UserChunkPacket,
}
_CHUNK_KINDS: Final = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
"""Chunk packets are named as the updates they come from."""

_TEXT_HEAD = b'{"_meta":null,"content":{"_meta":null,"annotations":null,"text":'
_TEXT_MIDDLE: Final[dict[str, bytes]] = {
    kind: f',"type":"text"}},"sessionUpdate":"{kind}","type":"{kind}","timestamp":"'.encode() for kind in _CHUNK_KINDS
}
_TEXT_END = b'"}'
_USUAL_MIDDLE = _TEXT_MIDDLE["agent_message_chunk"]
_USUAL_LENGTH = len(USUAL_CHUNK)

_TODO_STATUS: Final[dict[str, PlanStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "cancelled": "completed",  # a plan has no fourth state, and a cancelled todo is no longer open
}
_PRIORITY: Final[dict[str, Priority]] = {"high": "high", "medium": "medium", "low": "low"}

_encode = msgspec.json.Encoder().encode


def text_chunk_packet(kind: str, text: bytes | Raw, at_us: int) -> bytes:
    """The packet of a text chunk. ``text`` is its JSON string token, quotes included; ``kind`` its ``sessionUpdate``."""
    return b"".join((_TEXT_HEAD, text, _TEXT_MIDDLE[kind], stamp(at_us), _TEXT_END))


def chunk_packet(update: MessageChunk, at_us: int) -> bytes:
    """The packet of a chunk with any content block."""
    shape = _CHUNK_PACKETS[type(update)]
    return _encode(shape(content=block_json(update.content), timestamp=timestamp(at_us)))


def packet_of_update(update: bytes, at_us: int) -> bytes | None:
    """The packet of a stored chunk; None for every other update, whose packet needs more than the update and is stored."""
    if update.startswith(USUAL_CHUNK) and update.find(b'"', _USUAL_LENGTH) == len(update) - 3 and update.endswith(b"}}"):
        # As ``usual_text``: once per chunk a call more is noticed.
        return b"%b%b%b%b%b" % (_TEXT_HEAD, update[_USUAL_LENGTH - 1:-2], _USUAL_MIDDLE, stamp(at_us), _TEXT_END)
    if chunk := text_chunk(update):
        return text_chunk_packet(chunk.kind, chunk.text, at_us)
    decoded = decode_update(update)
    return chunk_packet(decoded, at_us) if isinstance(decoded, MessageChunk) else None


def start_packet(call: CallState, at_us: int) -> bytes:
    """The empty packet that begins a call; what the call already carries follows as progress."""
    view = input_view(call.raw_input)
    return _encode(
        ToolCallStartPacket(
            kind=call_kind(call, view),
            title=call_tool(call, view),
            tool_call_id=call.tool_call_id,
            timestamp=timestamp(at_us),
        )
    )


def progress_packet(call: CallState, at_us: int, text: bytes | memoryview | None = None, *, beside: Beside = NOTHING_BESIDE,
                    as_sent: bool = False) -> bytes:
    """All that is known of a call. ``text`` is all that it shows, as a JSON string: a long one is not encoded again.

    Input and output have the documents' shapes, or, ``as_sent``, the agent's own."""
    view = input_view(call.raw_input)
    if as_sent:
        raw_input, raw_output = own_input(call), own_output(call)
    else:
        tool = documented_tool(call, view)
        raw_input = documented_input(call, view, tool, beside)
        raw_output = documented_output(call, tool, raw_input, beside, text)
    packet = _encode(
        ToolCallProgressPacket(
            content=items_json(call.content) if text is None else [ANY_TEXT],
            kind=call_kind(call, view),
            locations=locations_of(call.locations),
            raw_input=raw_input,
            raw_output=raw_output,
            status=cast(CallStatus, call.status),
            title=progress_title(call, view),
            tool_call_id=call.tool_call_id,
            timestamp=timestamp(at_us),
        )
    )
    return packet if text is None else with_text(packet, text)


def plan_packet(entries: Iterable[PlanEntry], at_us: int) -> bytes:
    """The whole plan."""
    items = [PlanItem(content=entry.content, priority=entry.priority, status=entry.status) for entry in entries]
    return _encode(PlanPacket(entries=items, timestamp=timestamp(at_us)))


def plan_of_todos(raw_input: bytes | Raw | None) -> list[PlanEntry] | None:
    """The plan that a todo write stands for; None when the input is no todo write. Items without text are left out."""
    todos = input_view(raw_input).get("todos")
    if not isinstance(todos, list):
        return None
    return [_entry_of(todo) for todo in todos if isinstance(todo, dict) and isinstance(todo.get("content"), str)]


def _entry_of(todo: dict[str, Any]) -> PlanEntry:
    status, priority = str(todo.get("status")), str(todo.get("priority"))
    return PlanEntry(
        content=todo["content"],
        priority=_PRIORITY.get(priority, "medium"),
        status=_TODO_STATUS.get(status, "pending"),
    )


def mode_packet(mode_id: str, at_us: int) -> bytes:
    """The mode in force now."""
    return _encode(ModePacket(current_mode_id=mode_id, timestamp=timestamp(at_us)))


def commands_packet(commands: Iterable[AvailableCommand], at_us: int) -> bytes:
    """The slash commands on offer now."""
    items = [
        CommandItem(description=command.description, input=_hint_of(command), name=command.name) for command in commands
    ]
    return _encode(CommandsPacket(available_commands=items, timestamp=timestamp(at_us)))


def _hint_of(command: AvailableCommand) -> CommandHint | None:
    return CommandHint(hint=command.input.hint) if command.input else None


def usage_packet(used: int, size: int, cost: Cost | None, at_us: int) -> bytes:
    """How full the context is, and what the session cost so far."""
    money = Money(amount=cost.amount, currency=cost.currency) if cost else None
    return _encode(UsagePacket(cost=money, size=size, used=used, timestamp=timestamp(at_us)))
