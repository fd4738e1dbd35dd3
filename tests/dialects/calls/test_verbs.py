"""What an editor is told to do with a file."""

from __future__ import annotations

from typing import Any

from tests.dialects.calls.announced import read
from tests.tooling.rows import every_row
from trunkline.dialects.calls import read_call
from trunkline.dialects.calls.verbs import is_verb, verb_of
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.dialects.risk import Places, judge
from trunkline.session.policy.asks import Where, policy_ask_of
from trunkline.session.policy.decide import Policy

ROOT = "/w/p"
PLACES = Places.of(ROOT, [ROOT], "/h")
ALL = PermissionPolicy(auto_approve=AutoApprove(reads=True, searches=True, writes=True, commands=True))
EDITORS = ["str_replace_based_edit_tool", "Edit", "Write", "editor"]


def action(call: dict[str, Any]) -> str:
    """What the most generous permission policy says of a call."""
    reading = read(call)
    risk = judge(reading, PLACES)
    ask = policy_ask_of(reading, risk.level, risk.reason, Where(agent="a", cwd=ROOT, roots=(ROOT,)))
    return Policy().decide(ask, session_policy=ALL, now_us=0).action


@every_row("editor", EDITORS)
@every_row("kind", ["edit", "other", "read"])
@every_row("member", ["command", "action", "operation"])
@every_row("verb", ["delete", "Delete", "remove", "delete_file", "deleteFile", "unlink"])
def test_an_editor_that_is_told_to_delete_deletes(editor: str, kind: str, member: str, verb: str) -> None:
    call = {"name": editor, "kind": kind, "rawInput": {member: verb, "path": "src/a.py", "content": ""}}
    reading = read(call)
    risk = judge(reading, PLACES)
    assert (reading.role, reading.judged_as, reading.command) == ("delete", "file_write", None)
    assert (risk.level, risk.reason) == ("high", "deletes files")
    assert reading.description == f"{reading.tool}, which deletes: src/a.py"
    assert action(call) == "ask"


@every_row("editor", EDITORS)
@every_row("verb", ["rename", "move", "rename_file"])
def test_an_editor_that_is_told_to_rename_moves_from_one_path_to_the_other(editor: str, verb: str) -> None:
    reading = read({"name": editor, "kind": "edit", "rawInput": {"command": verb, "path": "src/a.py", "new_path": "src/b.py"}})
    assert (reading.role, reading.judged_as, reading.doubts) == ("move", "file_write", ())
    assert reading.moved == (("src/a.py", "src/b.py"),) and {"src/a.py", "src/b.py"} <= set(reading.paths)
    assert reading.description == f"{reading.tool}, which moves: src/a.py to src/b.py"
    assert judge(reading, PLACES).reason == "moves a file: src/a.py to src/b.py"


def test_a_rename_that_does_not_say_where_to_is_a_doubt() -> None:
    for given in ({"command": "rename", "path": "src/a.py"}, {"command": "rename", "path": "src/a.py", "new_name": "b.py"}):
        assert "where it moves something to is not known" in read({"name": "Edit", "kind": "edit", "rawInput": given}).doubts


@every_row("verb", ["obliterate", "chmod", "symlink", "exec"])
@every_row("editor", EDITORS)
def test_a_word_that_nobody_knows_is_a_doubt(editor: str, verb: str) -> None:
    call = {"name": editor, "kind": "edit", "rawInput": {"command": verb, "path": "src/a.py"}}
    assert f"what it is told to do with a file is not known: {verb}" in read(call).doubts
    assert action(call) == "ask"


@every_row("verb", ["create", "str_replace", "insert", "undo_edit"])
def test_what_writes_is_an_edit_as_before(verb: str) -> None:
    reading = read({"name": "editor", "kind": "edit", "rawInput": {"command": verb, "path": "src/a.py", "file_text": "x"}})
    assert (reading.role, sorted(reading.acts), reading.doubts, reading.command) == ("edit", ["write"], (), None)


def test_what_only_views_is_a_read_and_no_more() -> None:
    reading = read({"name": "editor", "rawInput": {"command": "view", "path": "src/a.py"}})
    assert (reading.role, sorted(reading.acts), reading.doubts) == ("read", ["read"], ())
    both = read_call("edit", "other", {"command": "view", "path": "a", "edits": [{"command": "delete", "path": "b"}]})
    assert "delete" in both.acts and both.deleted == ("b",) and both.description == "edit, which deletes: b"


def test_a_word_within_the_input_counts_for_the_file_beside_it() -> None:
    steps = [{"command": "create", "path": "a"}, {"command": "delete", "path": "b"},
             {"command": "rename", "path": "c", "to": "d"}]
    reading = read_call("edit", "edit", {"edits": steps})
    assert (reading.deleted, reading.moved) == (("b",), (("c", "d"),)) and {"delete", "move", "write"} <= reading.acts
    assert judge(reading, PLACES).level == "high"
    assert "what it deletes is not known" in read_call("edit", "edit", {"path": "a", "edits": [{"command": "delete"}]}).doubts


@every_row("tool", ["Read", "Grep"])
@every_row("verb", ["delete", "rename", "create"])
def test_a_look_that_is_told_to_do_something_is_no_look(tool: str, verb: str) -> None:
    reading = read_call(tool, "read", {"command": verb, "path": "a.py", "to": "b.py"})
    assert not reading.only_looks and any("which its name does not say" in doubt for doubt in reading.doubts)


def test_what_runs_commands_has_no_words_of_an_editor() -> None:
    assert not is_verb("delete", "execute") and verb_of({"command": "delete"}, "execute") is None
    assert read_call("bash", "execute", {"command": "delete x"}).command == "delete x"
