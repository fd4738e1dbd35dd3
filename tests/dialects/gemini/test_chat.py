"""A session's file of Gemini CLI, line by line: records come twice, and are told once."""

from __future__ import annotations

import json
from typing import Any

from tests.tooling.stores import DATA
from trunkline.dialects.gemini.chat import REMEMBERED, GeminiChat
from trunkline.dialects.notes import AgentNote, CustomNote, TokensSpent
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update


def record(kind: str, record_id: str, content: Any, **more: Any) -> bytes:
    fields = {"id": record_id, "timestamp": "2026-11-16T15:20:13.092Z", "type": kind, "content": content}
    return json.dumps({**fields, **more}).encode()


def signals_of(reading: GeminiChat, *lines: bytes) -> list[Signal]:
    return [signal for line in lines for _, signal in reading.line(line)]


def updates(signals: list[Signal]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]


def lines(name: str) -> list[bytes]:
    return (DATA / "gemini" / name).read_bytes().splitlines()


def test_a_recorded_session_is_told_once_and_in_order() -> None:
    reading = GeminiChat()
    signals = signals_of(reading, *lines("chat-after.jsonl"))
    said = [(each["sessionUpdate"], each.get("status") or each["content"]["text"]) for each in updates(signals)]
    assert said == [("user_message_chunk", "run: touch x1"), ("agent_message_chunk", "I will use a tool."),
                    ("tool_call", "in_progress"), ("tool_call_update", "completed"), ("agent_message_chunk", "Done.")]
    spent = [signal.body for signal in signals if isinstance(signal, AgentNote) and isinstance(signal.body, TokensSpent)]
    assert [(each.input, each.output) for each in spent] == [(100, 20), (100, 20)]
    assert reading.settle() == [(1_794_842_415_286_000, TurnEnd(stop="end_turn"))] and reading.settle() == []


def test_what_came_while_the_terminal_asked_is_not_told_again_behind_its_answer() -> None:
    pending, after = lines("chat-pending.jsonl"), lines("chat-after.jsonl")
    assert after[:len(pending)] == pending
    reading = GeminiChat()
    first = signals_of(reading, *pending)
    reading.settle()
    second = signals_of(reading, *after[len(pending):])
    assert first + second == signals_of(GeminiChat(), *after)


def test_what_a_call_changed_and_that_it_failed_is_told() -> None:
    display = {"fileName": "/home/dev/a.txt", "originalContent": "a", "newContent": "b"}
    calls = [{"id": "1", "name": "replace", "args": {"file_path": "/home/dev/a.txt"}, "status": "success",
              "resultDisplay": display},
             {"id": "2", "name": "run_shell_command", "args": {"command": "ls"}, "status": "cancelled"},
             {"id": "3", "name": "write_todos", "args": {"todos": [{"description": "Look", "status": "completed"}]}}]
    told = updates(signals_of(GeminiChat(), record("gemini", "m", "", toolCalls=calls, thoughts=[{"subject": "S"}])))
    assert told[0]["sessionUpdate"] == "agent_thought_chunk"
    assert told[2]["content"] == [{"type": "diff", "path": "/home/dev/a.txt", "oldText": "a", "newText": "b"}]
    assert (told[4]["status"], told[5]["entries"][0]["content"]) == ("failed", "Look")


def test_context_answers_of_tools_and_patches_are_no_prompts() -> None:
    signals = signals_of(
        GeminiChat(), record("user", "1", [{"text": "<session_context>\nThis is"}]),
        record("user", "2", [{"functionResponse": {"id": "c"}}]), b'{"$set":{"lastUpdated":"x"}}', b'{"sessionId":"x"}',
        b"{", record("error", "3", "no luck"), record("info", "4", "hm"), b'{"$rewindTo":"1"}')
    assert [type(signal) for signal in signals] == [Malformed, CustomNote, CustomNote]


def test_only_so_many_records_are_remembered() -> None:
    reading = GeminiChat()
    signals_of(reading, *(record("error", str(number), "x") for number in range(REMEMBERED + 9)))
    assert len(reading._told) == REMEMBERED
