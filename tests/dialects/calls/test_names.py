"""What tools are for, by what their agents call them."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.calls.names import ToolNames, is_name, name_of_kind, role_of_kind, role_of_name, usual_name, verb_in
from trunkline.dialects.calls.types import ToolRole

NAMES = ToolNames(roles={"run_it": "terminal", "Scribble": "write"})


@every_row(("name", "role"), [
    ("run_it", "terminal"), ("RUN_IT", "terminal"), ("Scribble", "write"), ("scribble", None), ("Bash", "terminal"),
    ("todo_write", "todos"), ("mcp__run_it__read", "mcp"), ("nothing", None), ("", None),
])
def test_a_name_of_the_agents_own_decides_then_a_usual_one(name: str, role: ToolRole | None) -> None:
    assert NAMES.role_of(name) == role


@every_row(("call_id", "title", "name"), [
    ("run_it__17", "x", "run_it"), ("run_it-17", "x", "run_it"), ("1", "run_it: ls", "run_it"), ("1", "run_it · ls", "run_it"),
    ("1", "run_it", "run_it"), ("1", "running", None), ("run_itself", "x", None), ("", "", None),
])
def test_a_name_may_stand_at_the_front_of_an_id_or_title(call_id: str, title: str, name: str | None) -> None:
    assert NAMES.named_in(call_id, title) == name


def test_an_agent_without_names_has_none_in_its_titles() -> None:
    assert ToolNames().named_in("bash-1", "bash: ls") is None


@every_row(("said", "role", "name"), [
    ("run_it", "terminal", "bash"), ("Read", "read", "read"), ("ask_them", "ask_user", "ask_them"), ("other", None, "other"),
    ("mcp__x__read", "mcp", "mcp__x__read"), ("rg", "search", "rg"),
])
def test_events_use_the_usual_name_of_a_role(said: str, role: ToolRole | None, name: str) -> None:
    assert usual_name(said, role) == name


def test_every_kind_has_a_role_and_a_name_but_other() -> None:
    kinds = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode")
    assert all(role_of_kind(kind) and name_of_kind(kind) for kind in kinds)
    assert role_of_kind("other") is None and name_of_kind("other") is None
    assert role_of_name("bash") == "terminal" and role_of_name("x") is None



@every_row(("title", "is_one"), [
    ("Bash", True), ("delete_files", True), ("mcp__fs__purge", True), ("WriteFile", True), ("run-command", True),
    ("a.txt", False), ("echo hi", False), ("Read a.py", False), ("/etc/passwd", False), ("shell · ls", False), ("", False),
    ("Preparing file…", False), ("x" * 65, False),
])
def test_a_title_is_a_name_where_it_reads_as_one(title: str, is_one: bool) -> None:
    assert is_name(title) == is_one


@every_row(("name", "verb"), [
    ("mcp__fs__purge", "destroys"), ("mcp__delete__list", None), ("executeQuery", "destroys"), ("createIssue", "changes"),
    ("get_weather", None), ("shred", "destroys"),
])
def test_a_verb_in_an_unknown_name_counts(name: str, verb: str | None) -> None:
    assert verb_in(name) == verb
