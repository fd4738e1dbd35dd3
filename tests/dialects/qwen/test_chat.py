"""A session's file of Qwen Code, line by line."""

from __future__ import annotations

import json
from typing import Any

from tests.tooling.stores import DATA
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed, TokensSpent
from trunkline.dialects.qwen.chat import QwenChat
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update


def line(kind: str, *parts: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"uuid": "u", "type": kind, "timestamp": "2026-11-16T14:54:48.844Z", "cwd": "/home/dev",
                       "message": {"parts": list(parts)}, **more}).encode()


def told(*lines: bytes) -> list[Signal]:
    reading = QwenChat()
    return [signal for each in lines for _, signal in reading.line(each)] + [signal for _, signal in reading.settle()]


def updates(signals: list[Signal]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]


def test_a_recorded_session_is_told_in_order_without_what_the_program_writes_for_itself() -> None:
    signals = told(*(DATA / "qwen" / "chat.jsonl").read_bytes().splitlines())
    said = [(each["sessionUpdate"], each.get("status") or each["content"]["text"]) for each in updates(signals)]
    assert said == [("user_message_chunk", "run: touch a1"), ("agent_message_chunk", "I will use a tool. "),
                    ("tool_call", "in_progress"), ("tool_call_update", "completed"), ("agent_message_chunk", "Done."),
                    ("user_message_chunk", "run: touch d1")]
    assert [signal for signal in signals if isinstance(signal, TurnEnd)] == [TurnEnd(stop="end_turn")]
    notes = [signal.body for signal in signals if isinstance(signal, AgentNote)]
    assert [note.id for note in notes if isinstance(note, ModelUsed)] == ["fake-model"]
    assert sum(note.input for note in notes if isinstance(note, TokensSpent)) == 200
    assert not [signal for signal in signals if isinstance(signal, Malformed | CustomNote)]


def test_thoughts_calls_and_how_they_ended_are_told() -> None:
    call = {"functionCall": {"id": "c", "name": "write_file", "args": {"file_path": "a.txt", "content": "x"}}}
    display = {"fileName": "/home/dev/a.txt", "originalContent": None, "newContent": "x"}
    answer = {"functionResponse": {"id": "c", "name": "write_file", "response": {"output": "ok"}}}
    thought, begun, ended = updates(told(
        line("assistant", {"text": "Hm.", "thought": True}, call),
        line("tool_result", answer, toolCallResult={"callId": "c", "status": "success", "resultDisplay": display})))
    assert thought["sessionUpdate"] == "agent_thought_chunk"
    assert begun["content"][0]["path"] == "/home/dev/a.txt" and begun["kind"] == "edit"
    assert ended["content"] == [{"type": "diff", "path": "/home/dev/a.txt", "newText": "x"}]
    (failed,) = updates(told(line("tool_result", {"functionResponse": {"id": "d", "response": {"error": "no"}}})))
    assert (failed["status"], failed["toolCallId"]) == ("failed", "d")


def test_what_no_person_typed_is_no_prompt_and_junk_is_named() -> None:
    signals = told(line("user", {"text": "remember"}, provenance="system"), line("user", {"text": "<system-reminder>x"}),
                   b"[", line("ghost"), line("system", subtype="chat_compression"), line("system", subtype="api_error"),
                   line("tool_result"))
    assert [type(signal) for signal in signals] == [Malformed, CustomNote, CustomNote]


def test_a_call_that_was_not_allowed_ends_the_turn_where_no_other_of_its_answer_ran() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"id": name, "name": "run_shell_command", "args": {}}}

    def result(name: str, status: str) -> bytes:
        return line("tool_result", toolCallResult={"callId": name, "status": status})

    def ends(*lines: bytes) -> list[Signal]:
        return [signal for signal in told(*lines) if isinstance(signal, TurnEnd)]

    assert ends(line("assistant", call("a")), result("a", "cancelled")) == [TurnEnd(stop="cancelled")]
    both = line("assistant", call("a"), call("b"))
    assert ends(both, result("a", "cancelled"), result("b", "cancelled")) == [TurnEnd(stop="cancelled")]
    assert not ends(both, result("a", "cancelled")) and not ends(both, result("a", "success"), result("b", "cancelled"))
    assert not ends(result("unknown", "cancelled"))
