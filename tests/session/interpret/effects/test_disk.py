"""A result that leaves open what it changed: told by what is on the disk."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call
from tests.session.interpret.told import Told, events
from tests.tooling.rows import every_row
from trunkline.session.fold import SeenFile
from trunkline.session.interpret.asks.joined import NEAR_CALLS
from trunkline.session.interpret.calls.evidence import BEFORE_CHARS, evidence_of, keep_before
from trunkline.session.interpret.calls.outcome import LINE_CHARS
from trunkline.session.interpret.effects.disk import SEEN_FILES

WRITE = {"name": "Write", "kind": "edit", "rawInput": {"path": "a.py", "content": "new\n"}}
EDIT = {"name": "Edit", "kind": "edit", "rawInput": {"path": "a.py", "old_string": "old", "new_string": "new"}}
PATH = "/w/a.py"


def ended(said: dict[str, Any], **more: Any) -> Told:
    """A call that has ended, as a session that looks at the disk takes it."""
    told = Told().turn()
    told.hear(call(status="in_progress", **said))
    done = call(**{"status": "completed", **said, **more})
    assert told.interpret.on_signals([done], looks=True) == []
    return told


def changes(told: Told, **seen: SeenFile) -> list[dict[str, Any]]:
    assert told.interpret.tools.disk.wanted is not None
    told.interpret.tools.seen({f"/w/{name.replace('_', '.')}": file for name, file in seen.items()})
    return [event for event in events(told.interpret.take()) if event["type"].startswith("file:")]


@every_row(("said", "seen", "told"), [
    (WRITE, SeenFile(True, 4, "new\n"), {"exists": True, "size": 4, "asSaid": True}),
    (WRITE, SeenFile(True, 4, "formatted"), {"exists": True, "size": 4, "asSaid": False}),
    (WRITE, SeenFile(True, 10**6), {"exists": True}),
    (WRITE, SeenFile(False), None),
    (EDIT, SeenFile(True, 3, "a new b"), {"exists": True, "size": 3, "asSaid": True}),
    (EDIT, SeenFile(True, 3, "an old one"), None),
    (EDIT, SeenFile(True, 3, "neither"), {"exists": True, "size": 3, "asSaid": False}),
    ({"name": "delete", "kind": "delete", "rawInput": {"path": "a.py"}}, SeenFile(False), {"exists": False}),
    ({"name": "delete", "kind": "delete", "rawInput": {"path": "a.py"}}, SeenFile(True, 1, "x"), None),
])
def test_a_change_that_nobody_showed_is_told_as_the_disk_has_it(said: Any, seen: SeenFile, told: dict[str, Any] | None) -> None:
    found = changes(ended(said), a_py=seen)
    assert [change["_meta"]["seen"] for change in found] == ([told] if told is not None else [])


def test_an_overwrite_that_left_the_text_before_is_none() -> None:
    told = ended(WRITE)
    wanted = told.interpret.tools.disk.wanted
    assert wanted is not None and wanted.paths == [PATH]
    evidence_of(wanted.call).before[PATH] = "old\n"
    assert changes(told, a_py=SeenFile(True, 4, "old\n")) == []


def test_the_result_says_nothing_of_a_change_that_is_not_there() -> None:
    told = ended(WRITE)
    told.interpret.tools.seen({PATH: SeenFile(False)})
    result = next(event for event in events(told.interpret.take()) if event["type"] == "tool:result")
    assert "structured" not in result


def test_what_was_not_seen_in_time_is_told_as_it_was_said() -> None:
    found = changes(ended(WRITE))
    assert [change["path"] for change in found] == [PATH] and "seen" not in found[0].get("_meta", {})


@every_row("more", [
    {"content": [{"type": "diff", "path": "a.py", "oldText": "old", "newText": "new"}]}, {"rawOutput": {"success": True}},
    {"rawOutput": {"success": False}}, {"rawOutput": "Error: no"}, {"status": "failed"},
])
def test_what_the_agent_shows_or_denies_itself_is_not_looked_for(more: dict[str, Any]) -> None:
    assert ended(EDIT, **more).interpret.tools.disk.wanted is None


def test_very_many_files_are_not_looked_at() -> None:
    many = {"name": "delete", "kind": "delete", "rawInput": {"paths": [f"{number}.py" for number in range(SEEN_FILES + 1)]}}
    assert ended(many).interpret.tools.disk.wanted is None


def test_what_stands_behind_a_result_waits_for_the_look_and_comes_in_its_order() -> None:
    told = Told().turn()
    told.hear(call(status="in_progress", **WRITE))
    behind = call(toolCallId="next", title="next")
    left = told.interpret.on_signals([call(status="completed", **WRITE), behind], looks=True)
    assert len(left) == 1
    told.interpret.tools.seen({PATH: SeenFile(True, 4, "new\n")})
    told.interpret.on_signals(left)
    kinds = [event["type"] for event in events(told.interpret.take())]
    assert kinds.index("tool:result") < kinds.index("file:change") < kinds.index("tool:start")


def test_the_text_before_is_kept_up_to_a_bound() -> None:
    told = Told().turn()
    told.hear(call(**WRITE))
    open_call = told.fold.calls["c"]
    for text, kept in (("x" * BEFORE_CHARS, {PATH}), ("x" * (BEFORE_CHARS + 1), set())):
        evidence_of(open_call).before.clear()
        keep_before(open_call, {PATH: text})
        assert set(evidence_of(open_call).before) == kept


def test_a_failure_is_sought_at_the_beginning_of_a_text() -> None:
    told = Told().turn()
    told.hear(call(status="in_progress", **WRITE))
    late = " " * 10 + "x" * LINE_CHARS + " Error: no"
    assert any(event["type"] == "file:change" for event in events(told.hear(call(status="completed", **WRITE, rawOutput=late))))


def test_only_so_many_calls_are_looked_back_through_for_the_one_that_was_asked_about() -> None:
    for between, joined in ((NEAR_CALLS - 2, True), (NEAR_CALLS + 1, False)):
        told = Told().turn()
        told.hear(call(toolCallId="real", status="completed", **EDIT))
        told.hear(*[call(toolCallId=f"n{number}", title=f"n{number}", status="completed") for number in range(between)])
        told.hear(ask("r", toolCallId="own", **EDIT))
        told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
        told.at().turns.end("end_turn", None)
        ended = [event for event in events(told.take()) if event.get("toolCallId") == "own" and event["type"] == "tool:result"]
        assert [("joinedTo" in event["_meta"]["ask"]) for event in ended] == [joined]


@pytest.mark.parametrize("shown", [{}, {"content": [{"type": "diff", "path": PATH, "newText": "new\n"}]}])
def test_an_empty_file_that_is_overwritten_is_changed_and_not_created(shown: dict[str, Any]) -> None:
    told = Told().turn()
    told.hear(call(status="in_progress", **WRITE, **shown))
    told.interpret.tools.disk.found("c", {PATH: SeenFile(True, 0, "")})
    told.hear(call(status="completed", **WRITE, **shown))
    (change,) = [event for event in events(told.entries) if event["type"] == "file:change"]
    assert (change["changeType"], change["linesAdded"], change["linesRemoved"]) == ("modified", 1, 0)
    assert change["diff"].startswith("--- a/")


def _diff(path: str, old: str | None = None) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": "new\n"}


SHOWN = {"name": "Write", "kind": "edit", "rawInput": {"path": "a.py"}, "content": [_diff("a.py")]}


@every_row("said", [
    SHOWN, {**SHOWN, "content": [_diff("a.py", "")]}, {**SHOWN, "name": "Edit"},
    {"title": "does something", "content": [_diff("a.py")]},
    {**SHOWN, "rawInput": {"path": "a.py", "content": "new\n"}},
])
def test_a_file_that_was_shown_as_new_is_told_where_the_disk_has_it(said: dict[str, Any]) -> None:
    assert changes(ended(said), a_py=SeenFile(False)) == []
    (change,) = changes(ended(said), a_py=SeenFile(True, 4, "new\n"))
    assert (change["changeType"], change["path"], change["_meta"]["seen"]) == ("created", PATH, {"exists": True})


def test_of_two_files_that_were_shown_as_new_the_one_that_is_there_is_told() -> None:
    told = ended({**SHOWN, "content": [_diff("a.py"), _diff("b.py")]})
    assert [change["path"] for change in changes(told, a_py=SeenFile(True, 4, "new\n"), b_py=SeenFile(False))] == [PATH]


@pytest.mark.parametrize("more", [{"rawOutput": {"success": True}}, {"rawOutput": {"success": False}}, {"status": "failed"},
                                  {"content": [_diff("a.py", "old")]}])
def test_a_new_file_that_the_agent_confirms_or_takes_back_is_not_looked_for(more: dict[str, Any]) -> None:
    said = {**SHOWN, "content": more["content"]} if "content" in more else SHOWN
    assert ended(said, **more).interpret.tools.disk.wanted is None


def test_a_new_file_that_nobody_saw_in_time_is_told_as_it_was_shown() -> None:
    (change,) = changes(ended(SHOWN))
    assert change["changeType"] == "created"
