"""Claude Code's tools as the protocol describes calls: kind, title, places, plans."""

from __future__ import annotations

from typing import Any

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from tests.tooling.rows import every_row


@every_row(("name", "given", "kind", "title", "places"), [
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


def test_a_todo_list_is_a_plan_first_and_a_call_too() -> None:
    todos = [{"content": "A", "status": "completed", "activeForm": "a"}, {"content": "B", "status": "weird"}]
    told = f.updates(f.hear(translator(), f.whole("m", f.use("c", "TodoWrite", todos=todos)), f.answer("c", "ok")))
    assert [update["sessionUpdate"] for update in told] == ["plan", "tool_call", "tool_call_update"]
    assert [(entry["content"], entry["status"]) for entry in told[0]["entries"]] == [("A", "completed"), ("B", "pending")]


def test_a_sub_agents_todo_list_is_no_plan() -> None:
    told = f.hear(translator(), f.whole("m", f.use("c", "TodoWrite", todos=[{"content": "A"}]), parent="t"))
    assert f.updates(told, "plan") == []
