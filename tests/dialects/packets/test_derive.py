"""Packets made from updates and calls: exactly these bytes."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.dialects.packets.calls import AT, CONTENT, STAMP, call_of, call_states, inputs
from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.rows import every_row
from trunkline.dialects.acp.calls import CallState, merge_call
from trunkline.dialects.acp.options import AvailableCommand, AvailableCommandInput
from trunkline.dialects.acp.reading.decode import decode_update, text_chunk
from trunkline.dialects.acp.updates import Cost, MessageChunk, PlanEntry, ToolCall
from trunkline.dialects.packets.derive import (
    chunk_packet,
    commands_packet,
    mode_packet,
    packet_of_update,
    plan_of_todos,
    plan_packet,
    progress_packet,
    start_packet,
    text_chunk_packet,
    usage_packet,
)
from trunkline.dialects.packets.stamps import timestamp

CHUNK_KINDS = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"]
TAIL = f'"timestamp":"{STAMP}"}}'.encode()


def chunk_update(kind: str, content: dict[str, Any], **more: Any) -> bytes:
    return msgspec.json.encode({"sessionUpdate": kind, "content": content, **more})


def valid(packet: bytes | None) -> dict[str, Any]:
    """A packet, decoded, that is one line and has its shape."""
    assert packet is not None and b"\n" not in packet and b"\r" not in packet
    decoded = json.loads(packet)
    validate_packet(decoded)
    assert isinstance(decoded, dict)
    return decoded


# chunks


@pytest.mark.parametrize("kind", CHUNK_KINDS)
def test_a_text_chunk_is_exactly_so(kind: str) -> None:
    packet = text_chunk_packet(kind, b'"I\'ll help you create"', AT)
    assert packet == (
        b'{"_meta":null,"content":{"_meta":null,"annotations":null,"text":"I\'ll help you create","type":"text"},'
        b'"sessionUpdate":"%b","type":"%b",' % (kind.encode(), kind.encode())
    ) + TAIL
    valid(packet)


def test_a_text_chunk_keeps_the_agents_token() -> None:
    packet = text_chunk_packet("agent_message_chunk", Raw(rb'"\u00e9 \/ \ud83d\ude00 100%s"'), AT)
    assert rb'"text":"\u00e9 \/ \ud83d\ude00 100%s"' in packet
    assert valid(packet)["content"]["text"] == "é / 😀 100%s"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"type": "text", "text": "Hi"}, b'{"_meta":null,"annotations":null,"text":"Hi","type":"text"}'),
        (
            {"type": "text", "text": "Hi", "annotations": {"audience": ["user"]}, "_meta": {"x": 1}},
            b'{"_meta":null,"annotations":null,"text":"Hi","type":"text"}',
        ),
        (
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            b'{"_meta":null,"annotations":null,"data":"aGk=","mimeType":"image/png","uri":null,"type":"image"}',
        ),
        (
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            b'{"_meta":null,"annotations":null,"data":"aGk=","mimeType":"audio/wav","type":"audio"}',
        ),
        (
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            b'{"_meta":null,"annotations":null,"description":null,"mimeType":null,"name":"a","size":null,"title":null,'
            b'"uri":"file:///a","type":"resource_link"}',
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "x"}},
            b'{"_meta":null,"annotations":null,"resource":{"_meta":null,"mimeType":null,"text":"x","uri":"file:///a"},'
            b'"type":"resource"}',
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk=", "mimeType": "a/b"}},
            b'{"_meta":null,"annotations":null,"resource":{"_meta":null,"blob":"aGk=","mimeType":"a/b","uri":"file:///a"},'
            b'"type":"resource"}',
        ),
    ],
    ids=["text", "annotated text", "image", "audio", "link", "text resource", "blob resource"],
)
def test_a_chunk_of_any_block_is_in_full_form(content: dict[str, Any], shown: bytes) -> None:
    packet = packet_of_update(chunk_update("agent_message_chunk", content), AT)
    assert packet == (
        b'{"_meta":null,"content":' + shown + b',"sessionUpdate":"agent_message_chunk","type":"agent_message_chunk",' + TAIL
    )
    valid(packet)


@pytest.mark.parametrize("kind", CHUNK_KINDS)
def test_a_stored_chunk_gives_the_packet_that_was_sent_live(kind: str) -> None:
    update = b'{"content":{"text":"caf\\u00e9","type":"text"},"sessionUpdate":"%b","messageId":"m"}' % kind.encode()
    chunk = text_chunk(update)
    assert chunk is not None
    live = text_chunk_packet(chunk.kind, chunk.text, AT)
    assert packet_of_update(update, AT) == live and b"caf\\u00e9" in live


@given(st.sampled_from(CHUNK_KINDS), st.text(), st.integers(0, 10**16))
def test_the_spliced_and_the_encoded_text_chunk_are_the_same(kind: str, text: str, at: int) -> None:
    decoded = decode_update(chunk_update(kind, {"type": "text", "text": text}))
    assert isinstance(decoded, MessageChunk)
    assert text_chunk_packet(kind, msgspec.json.encode(text), at) == chunk_packet(decoded, at)


@pytest.mark.parametrize(
    "update",
    [
        b'{"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}',
        b'{"sessionUpdate":"plan","entries":[]}',
        b'{"sessionUpdate":"of_tomorrow"}',
        b"no json",
    ],
)
def test_only_chunks_are_derived_from_their_update_alone(update: bytes) -> None:
    assert packet_of_update(update, AT) is None


# tool calls


def test_a_start_packet_is_exactly_so() -> None:
    known = {"rawInput": {"command": "ls"}, "rawOutput": {"output": "a"}, "content": CONTENT, "locations": [{"path": "/a"}]}
    call = call_of({"title": "bash", "kind": "execute", "status": "completed", **known})
    packet = start_packet(call, AT)
    assert packet == (
        b'{"_meta":null,"content":null,"kind":"execute","locations":[],"rawInput":{},"rawOutput":null,"status":"pending",'
        b'"title":"bash","toolCallId":"t1","sessionUpdate":"tool_call","type":"tool_call_start",' + TAIL
    )
    valid(packet)


def test_a_progress_packet_is_exactly_so() -> None:
    call = call_of(
        {"title": "bash", "kind": "execute"},
        {
            "status": "completed",
            "rawInput": {"command": "ls", "description": "List"},
            "rawOutput": {"output": "a\n", "metadata": {"exit": 0}},
            "content": [{"type": "content", "content": {"type": "text", "text": "a\n"}}],
            "locations": [{"path": "/a", "line": 3}, {"path": "/b"}],
        },
    )
    packet = progress_packet(call, AT)
    assert packet == (
        b'{"_meta":null,"content":[{"_meta":null,"content":{"_meta":null,"annotations":null,"text":"a\\n","type":"text"},'
        b'"type":"content"}],"kind":"execute","locations":[{"_meta":null,"line":3,"path":"/a"},{"_meta":null,"line":null,'
        b'"path":"/b"}],"rawInput":{"command":"ls","description":"List"},"rawOutput":{"output":"a\\n","metadata":{"exit":0}},'
        b'"status":"completed","title":"bash","toolCallId":"t1","sessionUpdate":"tool_call_update",'
        b'"type":"tool_call_progress",' + TAIL
    )
    valid(packet)


def test_what_is_not_known_yet_is_written_out_as_null() -> None:
    packet = progress_packet(call_of({"title": "bash", "kind": "execute"}, {"status": "in_progress"}), AT)
    assert packet == (
        b'{"_meta":null,"content":null,"kind":"execute","locations":null,"rawInput":{},"rawOutput":null,"status":"in_progress",'
        b'"title":"bash","toolCallId":"t1","sessionUpdate":"tool_call_update","type":"tool_call_progress",' + TAIL
    )


@pytest.mark.parametrize("old", [None, "", "absent"])
def test_a_diff_of_a_new_file_has_an_empty_old_text(old: str | None) -> None:
    diff = {"type": "diff", "path": "/a", "newText": "n"} | ({} if old == "absent" else {"oldText": old})
    packet = progress_packet(call_of({"kind": "edit", "content": [diff]}), AT)
    assert b'{"_meta":null,"newText":"n","oldText":"","path":"/a","type":"diff"}' in packet


def test_every_kind_of_content_is_shown() -> None:
    packet = valid(progress_packet(call_of({"content": CONTENT}), AT))
    assert [item["type"] for item in packet["content"]] == [item["type"] for item in CONTENT]


def test_raw_values_pass_byte_for_byte() -> None:
    odd = b'{"b": 1.0,"a":12345678901234567890123, "dup":1,"dup":2,"e":"\\u00e9\\/", "f":1e400 }'
    raws = b'"rawInput":' + odd + b',"rawOutput":' + odd
    update = decode_update(b'{"sessionUpdate":"tool_call","toolCallId":"t1","title":"x",' + raws + b"}")
    assert isinstance(update, ToolCall)
    call = CallState(tool_call_id="t1")
    merge_call(call, update)
    assert raws + b',"status"' in progress_packet(call, AT)


@pytest.mark.parametrize("raw", [b'"just text"', b"[1,2]", b"3", b"false"])
def test_raw_values_need_not_be_objects(raw: bytes) -> None:
    call = CallState(tool_call_id="t1", title="x", raw_input=raw, raw_output=raw)
    packet = progress_packet(call, AT)
    assert b'"rawInput":' + raw + b',"rawOutput":' + raw in packet
    valid(packet)


def test_line_ends_between_tokens_do_not_break_the_line() -> None:
    call = CallState(tool_call_id="t1", title="x", raw_input=b'{"a":\r\n 1.0,\n"b":"c\\nd"}')
    packet = progress_packet(call, AT)
    assert b'"rawInput":{"a":1.0,"b":"c\\nd"}' in packet
    valid(packet)


def test_the_reason_of_a_failed_call_passes_as_it_is() -> None:
    error = {"error": "Error: The user rejected permission to use this specific tool call."}
    packet = valid(progress_packet(call_of({"title": "bash", "kind": "execute"}, {"status": "failed", "rawOutput": error}), AT))
    assert (packet["rawOutput"], packet["status"], packet["title"]) == (error, "failed", "bash")


@given(call_states)
def test_any_call_gives_packets_in_their_shapes(call: CallState) -> None:
    start, progress = valid(start_packet(call, AT)), valid(progress_packet(call, AT, as_sent=True))
    shaped = valid(progress_packet(call, AT))
    assert (shaped["title"], shaped["kind"], shaped["content"]) == (progress["title"], progress["kind"], progress["content"])
    assert start["toolCallId"] == progress["toolCallId"] == call.tool_call_id
    assert progress["status"] == call.status
    assert progress["rawInput"] == json.loads(call.raw_input or b"{}")
    assert progress["rawOutput"] == json.loads(call.raw_output or b"null")
    assert [item["type"] for item in progress["content"] or []] == [item.__struct_config__.tag for item in call.content or []]


@given(call_states)
def test_a_packet_made_twice_is_the_same(call: CallState) -> None:
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(call), type=CallState)
    assert progress_packet(stored, AT) == progress_packet(call, AT)
    assert start_packet(stored, AT) == start_packet(call, AT)


# plans


def test_a_plan_is_exactly_so() -> None:
    entries = [
        PlanEntry(content="Create prepare.sh script", priority="medium", status="completed"),
        PlanEntry(content="Build dashboard page", priority="high", status="in_progress"),
    ]
    packet = plan_packet(entries, AT)
    assert packet == (
        b'{"_meta":null,"entries":[{"_meta":null,"content":"Create prepare.sh script","priority":"medium","status":"completed"},'
        b'{"_meta":null,"content":"Build dashboard page","priority":"high","status":"in_progress"}],'
        b'"sessionUpdate":"plan","type":"agent_plan_update",' + TAIL
    )
    valid(packet)


def test_a_todo_write_stands_for_a_plan() -> None:
    todos = [
        {"content": "one", "status": "completed", "activeForm": "Doing one"},
        {"content": "two", "status": "in_progress", "priority": "high", "id": "7"},
        {"content": "three", "status": "cancelled"},
        {"content": "four", "status": "someday", "priority": 3},
        {"content": "five"},
        {"status": "pending"},
        "not a todo",
    ]
    plan = plan_of_todos(msgspec.json.encode({"todos": todos}))
    assert plan is not None
    assert [(entry.content, entry.priority, entry.status) for entry in plan] == [
        ("one", "medium", "completed"),
        ("two", "high", "in_progress"),
        ("three", "medium", "completed"),
        ("four", "medium", "pending"),
        ("five", "medium", "pending"),
    ]
    valid(plan_packet(plan, AT))


def test_an_empty_todo_list_is_an_empty_plan() -> None:
    assert plan_of_todos(b'{"todos":[]}') == []


@every_row("raw", [None, b"{}", b'{"todos":"many"}', b"[]", b'"x"', b"not json", b'{"command":"ls"}'])
def test_another_input_stands_for_no_plan(raw: bytes | None) -> None:
    assert plan_of_todos(raw) is None


@given(inputs)
def test_any_input_gives_a_plan_in_shape_or_none(value: Any) -> None:
    plan = plan_of_todos(msgspec.json.encode(value))
    assert plan is None or valid(plan_packet(plan, AT))


# the session's other updates


def test_a_mode_is_exactly_so() -> None:
    packet = mode_packet("plan", AT)
    assert packet == (
        b'{"_meta":null,"currentModeId":"plan","sessionUpdate":"current_mode_update","type":"current_mode_update",' + TAIL
    )
    valid(packet)


def test_commands_are_exactly_so() -> None:
    commands = [
        AvailableCommand(name="web", description="Search", input=AvailableCommandInput(hint="what")),
        AvailableCommand(name="test", description="Run the tests", meta={"x": 1}),
    ]
    packet = commands_packet(commands, AT)
    assert packet == (
        b'{"_meta":null,"availableCommands":[{"_meta":null,"description":"Search","input":{"_meta":null,"hint":"what"},'
        b'"name":"web"},{"_meta":null,"description":"Run the tests","input":null,"name":"test"}],'
        b'"sessionUpdate":"available_commands_update","type":"available_commands_update",' + TAIL
    )
    valid(packet)


def test_usage_is_exactly_so() -> None:
    packet = usage_packet(19, 200_000, Cost(amount=0.25, currency="USD"), AT)
    assert packet == (
        b'{"_meta":null,"cost":{"_meta":null,"amount":0.25,"currency":"USD"},"size":200000,"used":19,'
        b'"sessionUpdate":"usage_update","type":"usage_update",' + TAIL
    )
    assert valid(usage_packet(0, 0, None, AT))["cost"] is None


# timestamps


@every_row(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000000+00:00"),
        (1, "1970-01-01T00:00:00.000001+00:00"),
        (999_999, "1970-01-01T00:00:00.999999+00:00"),
        (AT, STAMP),
        (AT + 82_655, "2026-01-22T19:13:31.000000+00:00"),
    ],
)
def test_timestamps_are_utc_with_microseconds(at: int, text: str) -> None:
    assert timestamp(at) == text


@given(st.lists(st.integers(0, 10**16), min_size=1, max_size=6))
def test_a_remembered_moment_is_never_mistaken_for_another(moments: list[int]) -> None:
    for at in moments + moments[::-1]:
        assert msgspec.json.decode(text_chunk_packet("agent_message_chunk", b'""', at))["timestamp"] == timestamp(at)
        assert timestamp(at).endswith(f".{at % 1_000_000:06d}+00:00")
