"""Tool calls, whatever order they are told in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.told import Told, events, names, packets, updates
from tests.session.script import update
from trunkline.dialects.signals import Update


def call(**fields: Any) -> Update:
    return update(sessionUpdate="tool_call", **{"toolCallId": "c", "title": "bash", "kind": "execute", **fields})


def more(**fields: Any) -> Update:
    return update(sessionUpdate="tool_call_update", **{"toolCallId": "c", **fields})


def test_a_call_from_start_to_result() -> None:
    told = Told().turn()
    entries = told.hear(call(status="pending"))
    entries += told.hear(more(status="in_progress", rawInput={"command": "ls", "description": "List"}))
    done = {"type": "content", "content": {"type": "text", "text": "a\nb"}}
    entries += told.hear(more(status="completed", rawOutput={"output": "a\nb"}, content=[done]), later_us=250_000)
    assert names(entries) == ["tool:start", "tool:executing", "tool:result"]
    assert events(entries)[1]["input"] == {"command": "ls", "description": "List"}
    assert (events(entries)[2]["output"], events(entries)[2]["duration"]) == ("a\nb", 251)
    assert [packet["status"] for packet in packets(entries)] == ["pending", "in_progress", "completed"]
    assert len(updates(entries)) == 3


def test_a_call_that_is_announced_running_gives_a_start_and_then_all_it_carried() -> None:
    entries = Told().turn().hear(call(status="in_progress", rawInput={"command": "ls"}))
    assert names(entries) == ["tool:start", "tool:executing"]
    start, progress = packets(entries)
    assert (start["type"], start["rawInput"], start["content"], start["locations"]) == ("tool_call_start", {}, None, [])
    assert (progress["type"], progress["rawInput"]) == ("tool_call_progress", {"command": "ls", "description": "ls"})
    assert [entry.update is not None for entry in entries] == [True, False], "one update goes out once"


def test_a_call_that_comes_finished_gives_start_and_one_progress() -> None:
    entries = Told().turn().hear(call(status="completed", rawInput={"command": "ls"}, rawOutput={"output": "x"}))
    assert names(entries) == ["tool:start", "tool:executing", "tool:result"]
    assert [packet["type"] for packet in packets(entries)] == ["tool_call_start", "tool_call_progress"]


def test_an_update_without_a_start_starts_the_call() -> None:
    entries = Told().turn().hear(more(status="in_progress", title="read", kind="read"))
    assert names(entries)[0] == "tool:start"
    assert packets(entries)[0]["type"] == "tool_call_start"


def test_a_late_pending_does_not_undo_progress() -> None:
    told = Told().turn()
    told.hear(more(status="in_progress", title="x"))
    entries = told.hear(call(status="pending", rawInput={"command": "ls"}))
    assert packets(entries)[-1]["status"] == "in_progress"


def test_a_title_that_changes_after_the_end_is_told_and_ends_nothing_twice() -> None:
    told = Told().turn()
    told.hear(call(status="completed"))
    entries = told.hear(more(title="listed the files"))
    assert names(entries) == ["tool_call_update"]
    assert packets(entries)[0]["status"] == "completed"


def test_another_title_rides_on_the_next_event_about_the_call_once() -> None:
    told = Told().turn()
    entries = told.hear(call(status="pending", title="Terminal"))
    entries += told.hear(more(title="npm test"))
    entries += told.hear(more(status="in_progress", rawInput={"command": "npm test"}))
    entries += told.hear(more(title="npm test (2 of 3)", rawInput={"command": "npm test", "n": 2}))
    entries += told.hear(more(status="completed", title="npm test: passed"))
    assert [event.get("_meta", {}).get("title") for event in events(entries)] == [
        "Terminal", "npm test", None, "npm test (2 of 3)", "npm test: passed"]
    entries = told.hear(more(title="npm test: passed"), more(title="seen"))
    assert [event.get("_meta", {}).get("title") for event in events(entries)] == [None, "seen"]


def test_another_title_rides_on_a_failure() -> None:
    told = Told().turn()
    told.hear(call(status="in_progress", title="Fetch"))
    failed = told.hear(more(status="failed", title="Fetch: 404"))
    assert events(failed)[-1]["_meta"]["title"] == "Fetch: 404"


def test_an_update_that_says_nothing_new_is_kept_without_a_packet() -> None:
    told = Told().turn()
    told.hear(call(status="in_progress"))
    entries = told.hear(more(status="in_progress"))
    assert (packets(entries), len(updates(entries))) == ([], 1)


def test_a_failed_call_keeps_its_output_as_it_is() -> None:
    rejected = {"error": "Error: The user rejected permission to use this specific tool call."}
    entries = Told().turn().hear(call(status="failed", rawOutput=rejected))
    assert packets(entries)[-1]["rawOutput"] == rejected
    assert events(entries)[-1]["error"]["message"] == rejected["error"]


@pytest.mark.parametrize(("cancelled", "code"), [(False, "abandoned"), (True, "cancelled")])
def test_a_call_left_open_ends_with_its_turn(cancelled: bool, code: str) -> None:
    told = Told().turn()
    told.hear(call(status="in_progress"))
    if cancelled:
        told.at().turns.cancelling(by="ann")
    told.at().turns.end("end_turn")
    entries = told.take()
    error = next(event for event in events(entries) if event["type"] == "tool:error")
    assert error["error"]["code"] == code
    assert [packet["type"] for packet in packets(entries)] == ["tool_call_progress", "prompt_response"]
    assert packets(entries)[0]["status"] == "failed" and "error" in packets(entries)[0]["rawOutput"]


def test_ids_may_be_used_again_in_the_next_turn() -> None:
    told = Told().turn()
    told.hear(call(status="completed"))
    told.at().turns.end("end_turn")
    told.take()
    entries = told.turn().hear(call(status="pending"))
    assert names(entries) == ["tool:start"]


def test_a_todo_write_is_a_tool_call_and_a_plan() -> None:
    todos = [{"content": "one", "status": "completed", "activeForm": "Doing one"},
             {"content": "two", "status": "pending", "activeForm": "Doing two"}]
    told = Told().turn()
    entries = told.hear(call(title="todowrite", kind="other", status="in_progress", rawInput={"todos": todos}))
    assert names(entries) == ["tool:start", "tool:executing", "progress:todo_update"]
    plan = packets(entries)[-1]
    assert plan["type"] == "agent_plan_update"
    assert [(item["content"], item["status"]) for item in plan["entries"]] == [("one", "completed"), ("two", "pending")]
    assert [todo.content for todo in told.fold.todos] == ["one", "two"]
    done = told.hear(more(status="completed", rawInput={"todos": todos}, rawOutput={"output": "[]"}))
    assert packets(done)[0]["title"] == "2 todos"
    assert "progress:todo_update" not in names(done), "the same plan is not told twice"


def test_a_result_too_long_for_an_event_is_cut_there_and_whole_in_its_packet() -> None:
    long = "x" * 600_000
    content = [{"type": "content", "content": {"type": "text", "text": long}}]
    entries = Told().turn().hear(call(status="completed", content=content))
    result = events(entries)[-1]
    assert len(result["output"]) == 256 << 10
    seq = entries[-1].seq
    assert result["_meta"]["truncated"] == {"bytes": 600_000, "url": f"/sessions/s/messages?after={seq - 1}&before={seq + 1}"}
    assert packets(entries)[-1]["content"][0]["content"]["text"] == long


def test_content_that_an_agent_empties_at_the_end_stays_visible() -> None:
    told = Told().turn()
    told.hear(call(status="in_progress", content=[{"type": "content", "content": {"type": "text", "text": "seen"}}]))
    entries = told.hear(more(status="completed", content=[]))
    assert packets(entries)[0]["content"][0]["content"]["text"] == "seen"
