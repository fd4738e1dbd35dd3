"""Tool calls from their first sign to their result, and plans."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(("name", "given", "kind", "title", "places"), [
    ("Read", {"file_path": "/p/a", "offset": 5, "limit": 3}, "read", "Read /p/a (5 - 7)", [{"path": "/p/a", "line": 5}]),
    ("Write", {"file_path": "/p/a", "content": "x"}, "edit", "Write /p/a", [{"path": "/p/a"}]),
    ("MultiEdit", {"file_path": "/p/a", "edits": []}, "edit", "Edit /p/a", [{"path": "/p/a"}]),
    ("NotebookEdit", {"notebook_path": "/p/n"}, "edit", "Edit /p/n", [{"path": "/p/n"}]),
    ("Bash", {"command": "make test"}, "execute", "make test", None),
    ("Glob", {"pattern": "*.py", "path": "/p"}, "search", "Find *.py", [{"path": "/p"}]),
    ("Grep", {"pattern": "def"}, "search", "Grep def", None),
    ("WebFetch", {"url": "https://e.org"}, "fetch", "Fetch https://e.org", None),
    ("WebSearch", {"query": "cats"}, "fetch", '"cats"', None),
    ("Task", {"description": "Count", "prompt": "Count all"}, "think", "Count", None),
    ("Skill", {"skill": "pdf"}, "other", "Load skill: pdf", None),
    ("TaskCreate", {"subject": "T"}, "think", "Create task: T", None),
    ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "other", "Which?", None),
    ("ExitPlanMode", {"plan": "1."}, "switch_mode", "Ready to carry out the plan?", None),
    ("mcp__files__open", {"x": 1}, "other", "open (files)", None),
    ("Tomorrow", {"x": 1}, "other", "Tomorrow", None),
])
def test_a_tool_has_its_kind_title_and_places(name: str, given: dict[str, Any], kind: str, title: str, places: Any) -> None:
    (call,) = f.updates(f.hear(translator(), f.whole("m", f.use("c", name, **given))), "tool_call")
    assert (call["kind"], call["title"], call.get("locations"), call["name"]) == (kind, title, places, name)


def test_an_mcp_tool_has_the_title_that_its_server_gives_it() -> None:
    meta = [{"id": "c", "display_name": "Add", "server_display_name": "Sums", "tool_name": "add"}]
    (call,) = f.updates(f.hear(translator(), f.whole("m", f.use("c", "mcp__mine__add"), tool_use_meta=meta)))
    assert call["title"] == "Add (Sums)"


def test_what_a_sub_agent_does_is_under_the_call_that_started_it() -> None:
    told = f.hear(translator(), f.whole("m", f.use("t", "Task", prompt="p")), f.whole("s", f.use("c", "Read"), parent="t"),
                  f.answer("c", "x", parent="t"), f.answer("t", "done"))
    parents = [update["_meta"]["claudeCode"].get("parentToolUseId") for update in f.updates(told)]
    assert parents == [None, "t", "t", None]


def test_what_a_sub_agent_was_told_is_nothing_that_a_person_said() -> None:
    sent = f.frame("user", message={"content": [f.text("Count all")]}, parent_tool_use_id="t")
    assert f.hear(translator(), sent) == []


def test_a_todo_list_is_a_plan_first_and_a_call_too() -> None:
    todos = [{"content": "A", "status": "completed", "activeForm": "a"}, {"content": "B", "status": "weird"}]
    told = f.updates(f.hear(translator(), f.whole("m", f.use("c", "TodoWrite", todos=todos)), f.answer("c", "ok")))
    assert [update["sessionUpdate"] for update in told] == ["plan", "tool_call", "tool_call_update"]
    assert [(entry["content"], entry["status"]) for entry in told[0]["entries"]] == [("A", "completed"), ("B", "pending")]


def test_a_sub_agents_todo_list_is_no_plan() -> None:
    told = f.hear(translator(), f.whole("m", f.use("c", "TodoWrite", todos=[{"content": "A"}]), parent="t"))
    assert f.updates(told, "plan") == []


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
