"""A session's file of Codex, line by line: what is told of it, once, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trunkline.dialects.codex.rollout import CodexRollout
from trunkline.dialects.notes import AgentNote, CustomNote, ModelUsed, TokensSpent
from trunkline.dialects.signals import Malformed, Signal, TurnEnd, Update

RECORDED = next((Path(__file__).parents[2] / "data" / "stores" / "codex").rglob("rollout-*.jsonl"))
AT = "2026-02-03T04:05:06.789Z"


def line(kind: str, payload: dict[str, Any], at: str = AT) -> bytes:
    return json.dumps({"timestamp": at, "type": kind, "payload": payload}).encode()


def item(**payload: Any) -> bytes:
    return line("response_item", payload)


def event(**payload: Any) -> bytes:
    return line("event_msg", payload)


def message(role: str, text: str, **more: Any) -> bytes:
    return item(type="message", role=role, content=[{"type": "output_text", "text": text}], **more)


def told(*lines: bytes) -> list[Signal]:
    reading = CodexRollout()
    return [signal for each in lines for _, signal in reading.line(each)] + [signal for _, signal in reading.settle()]


def updates(signals: list[Signal]) -> list[dict[str, Any]]:
    return [json.loads(signal.raw) for signal in signals if isinstance(signal, Update)]


def texts(signals: list[Signal]) -> list[tuple[str, str]]:
    return [(each["sessionUpdate"], each["content"]["text"]) for each in updates(signals) if "content" in each
            and isinstance(each["content"], dict)]


def test_a_recorded_session_is_told_once_and_in_order() -> None:
    signals = told(*RECORDED.read_bytes().splitlines())
    assert texts(signals) == [("user_message_chunk", "run: touch a1"), ("agent_message_chunk", "I will use a tool. "),
                              ("agent_message_chunk", "Done.")]
    calls = [each for each in updates(signals) if each["sessionUpdate"].startswith("tool_call")]
    assert [(each["sessionUpdate"], each["status"]) for each in calls] == [("tool_call", "in_progress"),
                                                                            ("tool_call_update", "completed")]
    assert calls[0]["title"] == "touch a1" and calls[0]["kind"] == "execute" and calls[1]["rawOutput"] == {"exitCode": 0}
    assert [signal for signal in signals if isinstance(signal, TurnEnd)] == [TurnEnd(stop="end_turn")]
    notes = [signal.body for signal in signals if isinstance(signal, AgentNote)]
    assert [note.id for note in notes if isinstance(note, ModelUsed)] == ["gpt-5.5"]
    spent = [note for note in notes if isinstance(note, TokensSpent)]
    assert [(each.input, each.output) for each in spent] == [(100, 20), (100, 20)], "once, though the file says it twice"
    assert not [signal for signal in signals if isinstance(signal, Malformed)]


def test_each_signal_has_the_time_of_its_line() -> None:
    reading = CodexRollout()
    assert [at for at, _ in reading.line(message("assistant", "hi"))] == [1_770_091_506_789_000]
    assert [at for at, _ in reading.line(b"rubbish")] == [1_770_091_506_789_000], "as of the line before it"


def test_files_of_older_versions_are_told_too() -> None:
    total = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3, "total_tokens": 13}
    count = {"type": "token_count", "info": {"total_token_usage": total, "last_token_usage": total, "model_context_window": 100}}
    signals = told(
        line("session_meta", {"id": "x", "cwd": "/home/dev"}), line("turn_context", {"cwd": "/home/dev", "model": "gpt-5"}),
        message("user", "<user_instructions>be kind</user_instructions>"),
        message("user", "<environment_context>\n<cwd>/home/dev</cwd>\n</environment_context>"),
        message("user", "list it"), event(type="user_message", message="list it", kind="plain"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}]), event(type="agent_reasoning", text="Hm."),
        item(type="function_call", name="shell", arguments=json.dumps({"command": ["bash", "-lc", "ls"]}), call_id="c1"),
        item(type="function_call_output", call_id="c1", output=json.dumps({"output": "a\n", "metadata": {"exit_code": 2}})),
        message("assistant", "There is a."), event(type="agent_message", message="There is a."),
        event(**count), event(**count), event(type="turn_aborted", reason="interrupted"))
    assert texts(signals) == [("user_message_chunk", "list it"), ("agent_thought_chunk", "Hm."),
                              ("agent_message_chunk", "There is a.")]
    ended = next(each for each in updates(signals) if each["sessionUpdate"] == "tool_call_update")
    assert (ended["status"], ended["rawOutput"]) == ("failed", {"exitCode": 2, "output": "a\n"})
    spent = [signal.body for signal in signals if isinstance(signal, AgentNote) and isinstance(signal.body, TokensSpent)]
    assert [(each.input, each.output, each.cache_read) for each in spent] == [(6, 3, 4)]
    window = [each for each in updates(signals) if each["sessionUpdate"] == "usage_update"]
    assert window == [{"sessionUpdate": "usage_update", "used": 13, "size": 100}]
    assert signals[-1] == TurnEnd(stop="cancelled")


def test_a_patch_is_told_with_its_changes_and_the_plan_as_a_plan() -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n"
    signals = told(
        line("session_meta", {"cwd": "/home/dev"}), item(type="custom_tool_call", name="apply_patch", call_id="c1", input=patch),
        item(type="custom_tool_call_output", call_id="c1", output="Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"),
        item(type="function_call", name="update_plan", call_id="c2",
             arguments=json.dumps({"plan": [{"step": "Look", "status": "completed"}, {"step": "Act", "status": "odd"}]})),
        item(type="function_call_output", call_id="c2", output="Plan updated"))
    begun, ended, plan = updates(signals)
    diff = {"type": "diff", "path": "/home/dev/a.txt", "newText": "hello\n"}
    assert begun["kind"] == "edit" and begun["content"] == ended["content"] == [diff]
    assert [(each["content"], each["status"]) for each in plan["entries"]] == [("Look", "completed"), ("Act", "pending")]


def test_what_a_command_printed_is_told_once_though_two_lines_have_it() -> None:
    signals = told(
        item(type="function_call", name="exec_command", call_id="c1", arguments='{"cmd":"ls"}'),
        event(type="item_completed", item={"type": "CommandExecution", "id": "c1", "exit_code": 1, "aggregated_output": "all"}),
        item(type="function_call_output", call_id="c1", output="Process exited with code 1\nOutput:\nal"),
        item(type="function_call", name="exec_command", call_id="c2", arguments="not json"),
        item(type="function_call_output", call_id="c2", output="Process exited with code 0\nOutput:\nyes"))
    assert [each.get("rawOutput") for each in updates(signals)] == [
        None, {"exitCode": 1, "output": "all"}, None, {"exitCode": 0, "output": "yes"}]


def test_what_nobody_knows_is_passed_over_and_junk_is_named() -> None:
    signals = told(b"{", b"[]", b"\xff", line("world_state", {}), item(type="ghost"), event(type="ghost"),
                   line("response_item", {}), b'{"type":7,"payload":[]}', event(type="error", message="no luck"),
                   line("compacted", {}))
    assert [type(signal) for signal in signals] == [Malformed, Malformed, Malformed, CustomNote, CustomNote]
