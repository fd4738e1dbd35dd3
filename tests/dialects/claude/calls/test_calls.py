"""Tool calls from their first sign to their result, and plans."""

from __future__ import annotations

from typing import Any

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator


def test_a_call_is_announced_streamed_told_whole_and_ended() -> None:
    told = f.hear(
        translator(), f.begin("m"), f.block(0, "tool_use", id="c", name="Bash", input={}), f.write(0, '{"command":'),
        f.write(0, ' "ls"}'), f.whole("m", f.use("c", "Bash", command="ls")), f.stop(),
        f.answer("c", "a.txt", {"stdout": "a.txt", "stderr": "", "interrupted": False}))
    begun, known, ended = f.updates(told, "tool_call")
    assert (begun["status"], begun["kind"], begun["title"], "rawInput" in begun) == ("pending", "execute", "Bash", False)
    assert "".join(note["delta"] for note in f.notes(told, "args_delta")) == '{"command": "ls"}'
    assert (known["status"], known["title"], known["rawInput"]) == ("in_progress", "ls", {"command": "ls"})
    assert (ended["status"], ended["rawOutput"]["stdout"]) == ("completed", "a.txt")
    assert ended["content"] == [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]


def test_what_a_sub_agent_does_is_under_the_call_that_started_it() -> None:
    told = f.hear(translator(), f.whole("m", f.use("t", "Task", prompt="p")), f.whole("s", f.use("c", "Read"), parent="t"),
                  f.answer("c", "x", parent="t"), f.answer("t", "done"))
    parents = [update["_meta"]["claudeCode"].get("parentToolUseId") for update in f.updates(told)]
    assert parents == [None, "t", "t", None]


def test_what_a_sub_agent_was_told_is_nothing_that_a_person_said() -> None:
    sent = f.frame("user", message={"content": [f.text("Count all")]}, parent_tool_use_id="t")
    assert f.hear(translator(), sent) == []


def test_tasks_that_are_created_changed_listed_and_deleted_are_the_plan() -> None:
    translate = translator()

    def plan(call: dict[str, Any], record: Any, *, failed: bool = False) -> list[tuple[str, str]] | None:
        told = f.hear(translate, f.whole(f"m{call['id']}", call), f.answer(call["id"], "ok", record, failed=failed))
        plans = f.updates(told, "plan")
        return [(entry["content"], entry["status"]) for entry in plans[0]["entries"]] if plans else None

    assert plan(f.use("1", "TaskCreate", subject="T1"), {"task": {"id": "1", "subject": "T1"}}) == [("T1", "pending")]
    assert plan(f.use("2", "TaskCreate", subject="T2"), None) == [("T1", "pending"), ("T2", "pending")]
    done = {"success": True, "taskId": "1"}
    assert plan(f.use("3", "TaskUpdate", taskId="1", status="completed"), done) == [("T1", "completed"), ("T2", "pending")]
    assert plan(f.use("4", "TaskUpdate", taskId="2", status="in_progress"), None, failed=True) is None, "it failed"
    assert plan(f.use("5", "TaskUpdate", taskId="1", status="deleted"), done) == [("T2", "pending")]
    listed = {"tasks": [{"id": "2", "subject": "T2", "status": "in_progress"}, {"id": "9", "subject": "T9", "status": "pending"}]}
    assert plan(f.use("6", "TaskList"), listed) == [("T2", "in_progress"), ("T9", "pending")]
    assert plan(f.use("7", "TaskList"), listed) is None, "nothing is new"


def test_a_result_of_a_call_that_nobody_announced_is_told() -> None:
    (ended,) = f.updates(f.hear(translator(), f.answer("old", "late")))
    assert (ended["toolCallId"], ended["status"]) == ("old", "completed")


def test_a_call_of_the_providers_own_ends_within_the_answer() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "s",
             "content": [{"type": "web_search_result", "url": "https://e.org", "title": "E"}]}
    told = f.hear(translator(), f.whole("m", {**f.use("s", "web_search", query="cats"), "type": "server_tool_use"}, found))
    call, ended = f.updates(told)
    assert (call["kind"], call["title"]) == ("fetch", '"cats"')
    assert ended["content"][0]["content"] == {"type": "resource_link", "uri": "https://e.org", "name": "E"}


def test_a_call_whose_input_was_never_complete_ends_with_the_answer() -> None:
    told = f.hear(translator(), f.begin("m"), f.block(0, "tool_use", id="c", name="Bash"), f.write(0, "{"), f.stop())
    assert [update["status"] for update in f.updates(told)] == ["pending", "failed"]
