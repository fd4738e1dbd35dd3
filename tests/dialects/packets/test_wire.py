"""Packets back from bytes: our own, the documents' examples, and those of tomorrow."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.packets.calls import AT, CONTENT, STAMP, call_of, call_states
from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.rows import every_row
from trunkline.dialects.acp.calls import CallState
from trunkline.dialects.acp.options import AvailableCommand
from trunkline.dialects.acp.updates import Cost, PlanEntry
from trunkline.dialects.context.unions import DescriptionPreview
from trunkline.dialects.packets.derive import (
    commands_packet,
    mode_packet,
    plan_packet,
    progress_packet,
    start_packet,
    text_chunk_packet,
    usage_packet,
)
from trunkline.dialects.packets.detect import packet_type
from trunkline.dialects.packets.notices import (
    approval_requested_packet,
    approval_resolved_packet,
    artifact_packet,
    error_packet,
    gap_packet,
    prompt_response_packet,
    question_requested_packet,
    question_resolved_packet,
)
from trunkline.dialects.packets.shapes import PACKETS, ArtifactInfo, PacketType
from trunkline.dialects.packets.wire import UnknownPacket, decode_packet
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import Invalid

DOCUMENTS = Path(__file__).parents[2] / "spec" / "seeds"
CALL = call_of({"title": "bash", "kind": "execute", "rawInput": {"x": 1}, "rawOutput": {"output": ""}, "content": CONTENT})
OURS: dict[PacketType, bytes] = {
    PacketType.AGENT_MESSAGE_CHUNK: text_chunk_packet("agent_message_chunk", b'"x"', AT),
    PacketType.AGENT_THOUGHT_CHUNK: text_chunk_packet("agent_thought_chunk", b'"x"', AT),
    PacketType.USER_MESSAGE_CHUNK: text_chunk_packet("user_message_chunk", b'"x"', AT),
    PacketType.TOOL_CALL_START: start_packet(CALL, AT),
    PacketType.TOOL_CALL_PROGRESS: progress_packet(CALL, AT),
    PacketType.AGENT_PLAN_UPDATE: plan_packet([PlanEntry(content="c", priority="low", status="pending")], AT),
    PacketType.PROMPT_RESPONSE: prompt_response_packet("refusal", AT),
    PacketType.ERROR: error_packet("m", AT, -1, {"code": "agent_exited"}),
    PacketType.ARTIFACT_CREATED: artifact_packet(ArtifactInfo(id="a", type="image", name="n", path="p"), AT),
    PacketType.CURRENT_MODE_UPDATE: mode_packet("plan", AT),
    PacketType.AVAILABLE_COMMANDS_UPDATE: commands_packet([AvailableCommand(name="n", description="d")], AT),
    PacketType.USAGE_UPDATE: usage_packet(1, 2, Cost(amount=1.5, currency="EUR"), AT),
    PacketType.APPROVAL_REQUESTED: approval_requested_packet(
        at_us=AT,
        request_id="r",
        tool_call_id="t",
        tool_name="bash",
        title="t",
        description="d",
        risk_level="low",
        options=[PermissionOption(option_id="o", name="n", kind="allow_once")],
        expires_at=STAMP,
        preview=DescriptionPreview(text="x"),
    ),
    PacketType.APPROVAL_RESOLVED: approval_resolved_packet(
        at_us=AT, request_id="r", tool_call_id="t", approved=False, resolved_by="policy", reason="no"
    ),
    PacketType.QUESTION_REQUESTED: question_requested_packet(at_us=AT, question_id="q", question="?", schema=b"{}"),
    PacketType.GAP: gap_packet(3, 5, "lost", AT),
    PacketType.QUESTION_RESOLVED: question_resolved_packet(
        at_us=AT, question_id="q", action="accept", resolved_by="user", answer=b'{"a":1}'
    ),
}


def documented() -> list[dict[str, Any]]:
    """Every example of a whole packet in the two documents."""
    texts = [next(DOCUMENTS.glob(f"{number}_*")).read_text() for number in ("000", "001")]
    examples = [json.loads(block) for text in texts for block in re.findall(r"```json\n(.*?)```", text, re.S)]
    return [example for example in examples if {"type", "sessionUpdate"} & example.keys()]


def test_every_type_has_a_struct_and_an_example_here() -> None:
    assert PACKETS.keys() == OURS.keys() == set(PacketType)


@every_row("kind", PacketType)
def test_our_packets_read_back_and_are_written_the_same(kind: PacketType) -> None:
    validate_packet(json.loads(OURS[kind]))
    packet = decode_packet(OURS[kind])
    assert isinstance(packet, PACKETS[kind]) and packet.timestamp == STAMP
    assert msgspec.json.encode(packet) == OURS[kind]


@given(call_states, st.integers(0, 10**16))
def test_any_progress_packet_reads_back_and_is_written_the_same(call: CallState, at: int) -> None:
    packet = progress_packet(call, at)
    assert msgspec.json.encode(decode_packet(packet)) == packet


def test_the_documents_have_examples() -> None:
    assert len(documented()) >= 14


@every_row("example", documented())
def test_an_example_of_the_documents_is_read_with_all_it_says(example: dict[str, Any]) -> None:
    packet = decode_packet(json.dumps(example).encode())
    assert packet_type(packet) is packet_type(example) is not None
    assert contains(json.loads(msgspec.json.encode(packet)), example)


@every_row("example", documented())
def test_an_example_of_the_documents_gets_every_field_of_its_packet(example: dict[str, Any]) -> None:
    kind = packet_type(example)
    assert kind is not None
    assert list(json.loads(msgspec.json.encode(decode_packet(json.dumps(example).encode())))) == list(json.loads(OURS[kind]))


def contains(whole: Any, part: Any) -> bool:
    """Whether ``whole`` says all that ``part`` says, and perhaps more."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and contains(whole[name], inner) for name, inner in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def test_a_packet_of_tomorrow_is_kept_whole() -> None:
    raw = b'{"type":"hologram_started","timestamp":"t","x":1}'
    assert decode_packet(raw) == UnknownPacket(raw)


def test_fields_of_tomorrow_are_skipped() -> None:
    packet = decode_packet(b'{"type":"prompt_response","stopReason":"end_turn","_meta":{},"timestamp":"t","usage":{"x":1}}')
    assert b"usage" not in msgspec.json.encode(packet)


@every_row(
    ("raw", "named"),
    [
        (b'{"type":"error"}', "message"),
        (b'{"type":"tool_call_progress","title":"x","kind":"read","toolCallId":"t","status":"done"}', "done"),
        (b'{"type":"agent_plan_update","entries":[{"content":"x","status":"late"}]}', "late"),
        (b'{"type":"prompt_response"}', "stopReason"),
        (b"[]", "not a packet"),
    ],
)
def test_a_packet_that_breaks_its_shape_is_refused_and_the_field_named(raw: bytes, named: str) -> None:
    with pytest.raises(Invalid, match=named):
        decode_packet(raw)


def test_an_error_with_a_word_for_a_code_is_read() -> None:
    packet = decode_packet(b'{"type":"error","message":"m","code":"E_X"}')
    assert getattr(packet, "code", None) == "E_X"
