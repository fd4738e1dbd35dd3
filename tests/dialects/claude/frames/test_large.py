"""Lines of many megabytes from the CLI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.acp.reading.large import BEGINNING_BYTES
from trunkline.dialects.claude.conversation import blocks
from trunkline.dialects.claude.frames.large import KEPT_BYTES, Large, read_large
from trunkline.dialects.claude.translate import Translator
from trunkline.dialects.notes import AgentNote, RuledOut
from trunkline.dialects.signals import Malformed, Signal, Update

Json = dict[str, Any]
MIB = 1 << 20


def translator() -> Translator:
    return Translator(lambda prefix: f"{prefix}-1")


def heard(cli: Translator, frame: Json) -> list[Signal]:
    return [signal for told in cli.receive_large(json.dumps(frame).encode()) for signal in told]


def said(signals: list[Signal]) -> str:
    updates = [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]
    return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk")


def assistant(*content: Json) -> Json:
    return {"type": "assistant", "message": {"id": "m", "content": [*content]}, "parent_tool_use_id": None}


def delta(text: str) -> Json:
    return {"type": "stream_event", "parent_tool_use_id": None,
            "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}}


def begun() -> Translator:
    """One whose answer has begun."""
    cli = translator()
    start = {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m"}}, "parent_tool_use_id": None}
    cli.receive(json.dumps(start).encode())
    return cli


def call(number: int, content: str) -> Json:
    return {"type": "tool_use", "id": f"t{number}", "name": "Write", "input": {"file_path": "a.txt", "content": content}}


@pytest.mark.parametrize("piece", ["lorem ", "h\u00e9\u4f60\U0001f600 ", 'a\n"\\b'])
def test_a_long_text_is_told_whole(piece: str) -> None:
    text = piece * (2 * MIB // len(piece.encode()))
    assert said(heard(translator(), assistant({"type": "text", "text": text}))) == text
    assert said(heard(translator(), delta(text))) == text
    assert said(heard(translator(), {"type": "result", "subtype": "success", "result": text})) == text


def test_a_long_text_that_came_in_pieces_is_told_once() -> None:
    cli, text = begun(), "lorem ip" * (MIB // 8)
    first = heard(cli, delta(text[:700_000]))
    assert said(first + heard(cli, assistant({"type": "text", "text": text}))) == text


def test_a_whole_text_after_very_many_pieces_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "TEXT_KEPT", 1000)
    cli, text = begun(), "lorem ip" * 1000
    told = [signal for start in range(0, 7000, 70) for signal in cli.receive(json.dumps(delta(text[start:start + 70])).encode())]
    told += cli.receive(json.dumps(assistant({"type": "text", "text": text})).encode())
    assert said(told) == text


def test_a_call_is_told_by_its_beginning_and_says_how_long_it_was() -> None:
    frame = assistant(call(1, "x" * MIB))
    [signal] = heard(translator(), frame)
    assert isinstance(signal, Update)
    update = json.loads(signal.raw)
    assert update["rawInput"]["file_path"] == "a.txt"
    assert len(update["rawInput"]["content"]) < MIB
    assert update["_meta"]["trunkline"] == {"truncated": {"bytes": len(json.dumps(frame))}}


@pytest.mark.parametrize("request_", [
    {"subtype": "can_use_tool", "tool_name": "Write", "tool_use_id": "t", "input": {"content": "x" * MIB}},
    {"subtype": "hook_callback", "tool_use_id": "t",
     "input": {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"content": "x" * MIB}}},
])
def test_what_is_too_long_to_be_looked_at_is_denied(request_: Json) -> None:
    cli = translator()
    [told] = heard(cli, {"type": "control_request", "request_id": "r", "request": request_})
    [answer] = cli.control.take_output()
    assert isinstance(told, AgentNote) and isinstance(told.body, RuledOut)
    assert told.body.tool == "Write"
    assert b"deny" in answer
    assert cli.control.take_about_to_run() == []


def test_asks_that_an_answer_brings_along_are_denied_too() -> None:
    cli = translator()
    ask = {"request_id": "r", "request": {"subtype": "can_use_tool", "tool_name": "Write", "input": {"content": "x" * MIB}}}
    heard(cli, {"type": "control_response", "response": {"subtype": "success", "request_id": "c",
                                                          "pending_permission_requests": [ask]}})
    assert b"deny" in cli.control.take_output()[0]
    assert [each.request_id for each in cli.control.take_answers()] == ["c"]


def test_what_is_kept_of_a_line_is_bounded() -> None:
    line = json.dumps(assistant(*(call(number, "x" * 200_000) for number in range(100)))).encode()
    *_, read = read_large(line)
    assert isinstance(read, Large)
    assert len(read.frame) < KEPT_BYTES + 2 * BEGINNING_BYTES
    assert len(json.loads(read.frame)["message"]["content"]) == 100


@every_row("line", [b"{" + b"x" * MIB, b"[" * MIB, b'{"type":"system","text":"' + b"\xff" * MIB + b'"}', b"1" * MIB,
                                  b'{"text":"' + b"x" * MIB + b'"}'])
def test_a_long_line_that_is_no_frame_is_malformed(line: bytes) -> None:
    [told] = [signal for signals in translator().receive_large(line) for signal in signals]
    assert isinstance(told, Malformed)
    assert (len(told.line) <= 4096, told.size) == (True, len(line))
