"""A session's file of Copilot CLI, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tooling.stores import DATA
from trunkline.dialects.copilot.events import CopilotEvents
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed, TokensSpent
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update


def line(kind: str, **data: Any) -> bytes:
    return json.dumps({"type": kind, "id": "i", "timestamp": "2026-11-16T15:28:03.234Z", "data": data}).encode()


def told(*lines: bytes) -> list[Signal]:
    reading = CopilotEvents()
    return [signal for each in lines for _, signal in reading.line(each)] + [signal for _, signal in reading.settle()]


def updates(signals: list[Signal]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]


def test_a_recorded_session_is_told_in_order_with_what_the_terminal_asked() -> None:
    signals = told(*(DATA / "copilot" / "events.jsonl").read_bytes().splitlines())
    said = [(each["sessionUpdate"], each.get("status") or each["content"]["text"]) for each in updates(signals)]
    assert said == [("user_message_chunk", "run: touch t120"), ("agent_message_chunk", "I will use a tool. "),
                    ("tool_call", "in_progress"), ("tool_call_update", "completed"), ("agent_message_chunk", "Done.")]
    asked, answered = [signal for signal in signals if isinstance(signal, CustomNote)]
    assert (asked.kind, json.loads(asked.data)["command"]) == ("permission_requested", "touch t120")
    assert (answered.kind, json.loads(answered.data)["outcome"]) == ("permission_completed", "approved")
    notes = [signal.body for signal in signals if isinstance(signal, AgentNote)]
    assert [note.id for note in notes if isinstance(note, ModelUsed)] == ["fake-model"]
    assert sum(note.input for note in notes if isinstance(note, TokensSpent)) == 200
    assert [signal for signal in signals if isinstance(signal, TurnEnd)] == [TurnEnd(stop="end_turn")], "one turn, of two answers"
    assert signals[-1] == TurnEnd(stop="end_turn")


def test_calls_that_failed_todos_and_thoughts_are_told() -> None:
    plan, failed, coded, thought, over = told(
        line("tool.execution_start", toolCallId="t", toolName="update_todo", arguments={"todos": [{"content": "Look"}]}),
        line("tool.execution_complete", toolCallId="t", success=True),
        line("tool.execution_complete", toolCallId="c", success=False, error={"message": "no"}),
        line("tool.execution_complete", toolCallId="d", success=True, shellExecution={"exitCode": 2}),
        line("assistant.message", reasoningText="Hm.", toolRequests=[{"toolCallId": "c"}]), line("assistant.turn_end"),
        line("abort"))
    first, second, third, fourth = updates([plan, failed, coded, thought])
    assert first["entries"][0]["content"] == "Look" and fourth["sessionUpdate"] == "agent_thought_chunk"
    assert (second["status"], third["status"], third["rawOutput"]) == ("failed", "failed", {"exitCode": 2})
    assert over == TurnEnd(stop="cancelled")


def test_what_nobody_knows_is_passed_over_and_junk_is_named() -> None:
    signals = told(b"{", line("ghost"), line("user.message"), b'{"type":7}', line("tool.execution_start"), line("session.error"),
                   line("tool.execution_complete"), line("session.compaction_complete"))
    assert [type(signal) for signal in signals] == [Malformed, CustomNote, CustomNote]


def test_a_prompt_that_still_waits_when_all_is_read_is_a_notice_once() -> None:
    ask = {"requestId": "r", "permissionRequest": {"kind": "shell", "fullCommandText": "touch a1"}}
    reading = CopilotEvents()
    reading.line(line("permission.requested", **ask))
    (notice,) = updates([signal for _, signal in reading.settle()])
    assert (notice["sessionUpdate"], notice["description"]) == ("notice", "touch a1") and "in its terminal" in notice["title"]
    assert not reading.settle()
    reading.line(line("permission.completed", requestId="r", result={"kind": "approved"}))
    assert not reading.settle()


@pytest.mark.parametrize(("tool", "member"), [("exit_plan_mode", "summary"), ("ask_user", "message")])
def test_a_tool_that_asks_the_person_itself_is_a_notice_while_it_waits(tool: str, member: str) -> None:
    reading = CopilotEvents()
    began = line("tool.execution_start", toolCallId="c", toolName=tool, arguments={member: "1. Touch."})
    reading.line(began)
    (notice,) = updates([signal for _, signal in reading.settle()])
    assert notice["description"] == "1. Touch." and "in its terminal" in notice["title"]
    reading.line(began)
    reading.line(line("tool.execution_complete", toolCallId="c", success=True))
    assert not reading.settle(), "it was answered before all was read"


def test_a_prompt_that_a_hook_decided_is_no_notice() -> None:
    signals = told(line("permission.requested", requestId="r", permissionRequest={"kind": "shell"}),
                   line("permission.completed", requestId="r", result={"kind": "denied-by-permission-request-hook"}))
    assert [type(signal) for signal in signals] == [CustomNote, CustomNote]
