"""Files that calls changed, from whatever the agent shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.session.interpret.call_builders import ask, call, change, diff, listening, made, more, of_type, only, text
from tests.session.interpret.told import events
from trunkline.session.fold import KEPT_FILES, Changes, view_of
from trunkline.session.interpret.effects.diff import DIFF_LINES


def test_a_diff_without_old_text_is_a_new_file() -> None:
    found = change(content=[diff("/w/a.py", "x\ny\n")])
    assert (found["path"], found["changeType"], found["language"], found["toolCallId"]) == ("/w/a.py", "created", "python", "c")
    assert (found["linesAdded"], found["linesRemoved"]) == (2, 0)
    assert found["diff"] == "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+x\n+y\n"


@pytest.mark.parametrize("old", ["", None])
def test_an_empty_old_text_is_a_new_file_too(old: str | None) -> None:
    item = {"type": "diff", "path": "/w/a", "newText": "x", "oldText": old}
    assert change(content=[item])["changeType"] == "created"


def test_a_diff_with_old_text_is_a_change_with_its_context() -> None:
    found = change(content=[diff("/w/a", "1\n2\nthree\n4\n", "1\n2\n3\n4\n")])
    assert (found["changeType"], found["linesAdded"], found["linesRemoved"]) == ("modified", 1, 1)
    assert found["diff"] == "--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n 1\n 2\n-3\n+three\n 4\n"


def test_the_result_carries_the_same_diff() -> None:
    found = made("edit", content=[diff("/w/a", "new\n", "old\n")])
    shown = only(found, "file:change")["diff"]
    assert only(found, "tool:result")["structured"] == {
        "type": "file_diff", "path": "/w/a", "changeType": "modified", "diff": shown}


def test_a_change_is_told_after_the_result_on_an_entry_of_its_own() -> None:
    told = listening()
    told.hear(call(kind="edit", status="in_progress"))
    entries = told.hear(more(status="completed", content=[diff("/w/a", "x")]))
    assert [event["type"] for event in events(entries)] == ["tool:result", "file:change"]
    assert (entries[1].update, entries[1].packet) == (None, None)


def test_a_diff_that_only_the_permission_showed_counts() -> None:
    told = listening()
    told.hear(call(kind="edit", status="pending"), ask(kind="edit", content=[diff("/w/a", "x", "y")]))
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    found = events(told.hear(more(status="completed", content=text("Done"))))
    assert only(found, "file:change")["changeType"] == "modified"
    assert only(found, "tool:result")["output"] == "Done"


def test_several_diffs_are_one_batch() -> None:
    found = made("edit", title="Rename", content=[diff("/w/a", "x"), diff("/w/b", "1\n2\n", "1\n")])
    batch = only(found, "file:batch")
    assert [(each["path"], each["changeType"], each["linesAdded"]) for each in batch["changes"]] == [
        ("/w/a", "created", 1), ("/w/b", "modified", 1)]
    assert (batch["toolCallId"], batch["description"]) == ("c", "Rename")
    assert not of_type(found, "file:change") and "structured" not in only(found, "tool:result")


def test_several_pieces_of_one_file_are_one_change() -> None:
    found = change(content=[diff("/w/a", "x\n", "y\n"), diff("/w/a", "1\n", "2\n")])
    assert (found["linesAdded"], found["linesRemoved"]) == (2, 2)
    assert found["diff"].count("--- a/a") == 1


def test_a_failed_or_denied_call_changed_nothing() -> None:
    assert not of_type(made("edit", status="failed", content=[diff("/w/a", "x")]), "file:change")
    told = listening()
    told.hear(call(kind="edit"), ask(kind="edit", content=[diff("/w/a", "x")]))
    told.at().asks.resolve("r", approved=False, resolved_by="user", who="ann")
    assert not of_type(events(told.hear(more(status="completed"))), "file:change"), "it says completed, but nobody let it"


@pytest.mark.parametrize("where", [
    {"rawInput": {"path": "/w/a", "content": "a\nc\n", "previousContent": "a\nb\n"}},
    {"rawInput": {"path": "/w/a", "content": "a\nc\n"}, "rawOutput": {"previousContent": "a\nb\n"}},
    {"rawInput": {"path": "/w/a", "content": "a\nc\n"}, "rawOutput": {"metadata": {"previous_content": "a\nb\n"}}},
])
def test_an_overwrite_is_told_with_the_text_that_the_agent_has(where: dict[str, Any]) -> None:
    found = change(**where)
    assert (found["changeType"], found["linesAdded"], found["linesRemoved"]) == ("modified", 1, 1)
    assert found["diff"].startswith("--- a/a\n")


def test_an_overwrite_is_told_with_the_text_that_its_ask_was_shown_with() -> None:
    told = listening()
    given = {"file_path": "/w/a", "content": "a\nc\n"}
    told.hear(call(kind="edit", status="pending", rawInput=given))
    told.at().request(told.at().asks.announce(ask(kind="edit", rawInput=given)), {"/w/a": "a\nb\n"})
    told.at().asks.resolve("r", approved=True, resolved_by="user", who="ann")
    found = only(events(told.hear(more(status="completed"))), "file:change")
    assert (found["changeType"], found["diff"]) == ("modified", "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")


def test_a_write_is_taken_from_its_input_where_no_diff_is_shown() -> None:
    found = change(rawInput={"file_path": "a.py", "content": "x\n"})
    assert (found["path"], found["changeType"], found["linesAdded"]) == ("/w/a.py", "created", 1)
    assert found["_meta"] == {"assumed": ["changeType"]}, "whether it was there before, nobody said"


def test_what_the_agent_records_says_whether_a_write_made_the_file() -> None:
    found = change(rawInput={"filePath": "/w/a", "content": "x"}, rawOutput={"output": "ok", "metadata": {"exists": True}})
    assert found["changeType"] == "modified" and "_meta" not in found


def test_the_text_before_may_stand_in_the_agents_own_record() -> None:
    record = {"vendor": {"toolName": "Write", "toolResponse": {"type": "update", "originalFile": "a\nb\n"}}}
    found = change(rawInput={"file_path": "/w/a", "content": "a\nc\n"}, content=[diff("/w/a", "a\nc\n")], _meta=record)
    assert (found["changeType"], found["linesAdded"], found["linesRemoved"]) == ("modified", 1, 1)


def test_an_edit_is_taken_from_its_input() -> None:
    found = change(rawInput={"path": "/w/a", "old_string": "one\ntwo", "new_string": "one\n2"})
    assert (found["changeType"], found["linesAdded"], found["linesRemoved"]) == ("modified", 1, 1)
    assert found["_meta"] == {"fragment": True}, "where in the file it is, the agent did not say"


def test_a_list_of_edits_is_one_change() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    assert change(rawInput={"file_path": "/w/a", "edits": edits})["linesAdded"] == 2


def test_changes_listed_by_path_are_read() -> None:
    changes = {"/w/a": {"type": "add", "content": "x\n"}, "/w/b": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"},
               "/w/c": {"type": "delete", "content": "gone\n"}}
    batch = only(made("edit", rawInput={"changes": changes}), "file:batch")
    assert [(each["path"], each["changeType"], each["linesAdded"], each["linesRemoved"]) for each in batch["changes"]] == [
        ("/w/a", "created", 1, 0), ("/w/b", "modified", 1, 1), ("/w/c", "deleted", 0, 1)]


def test_files_listed_in_the_outputs_metadata_are_read() -> None:
    files = [{"filePath": "/w/a", "type": "update", "before": "1\n", "after": "2\n", "additions": 1, "deletions": 1}]
    output = {"output": "Success", "metadata": {"files": files}}
    found = change("other", rawInput={"patchText": "*** Begin Patch"}, rawOutput=output)
    assert (found["changeType"], found["linesAdded"], found["linesRemoved"]) == ("modified", 1, 1)


def test_what_an_editor_was_told_to_delete_or_rename_is_told_as_such() -> None:
    deleted = change(name="Edit", rawInput={"command": "delete", "path": "/w/a.txt"})
    assert (deleted["path"], deleted["changeType"]) == ("/w/a.txt", "deleted")
    moved = only(made("edit", name="Edit", rawInput={"command": "rename", "path": "/w/a", "new_path": "/w/b"}), "file:batch")
    assert [(each["path"], each["changeType"]) for each in moved["changes"]] == [("/w/a", "deleted"), ("/w/b", "created")]


def test_a_delete_names_its_file() -> None:
    assert change("delete", rawInput={"path": "/w/a.txt"})["changeType"] == "deleted"
    assert change("delete", locations=[{"path": "/w/b"}])["path"] == "/w/b"


def test_a_move_is_a_file_gone_and_a_file_made() -> None:
    batch = only(made("move", rawInput={"source": "a", "destination": "b"}), "file:batch")
    assert [(each["path"], each["changeType"]) for each in batch["changes"]] == [("/w/a", "deleted"), ("/w/b", "created")]


def test_a_long_diff_is_counted_and_can_be_fetched() -> None:
    lines = "".join(f"{n}\n" for n in range(DIFF_LINES + 1))
    found = made("edit", content=[diff("/w/a", lines)])
    changed, result = only(found, "file:change"), only(found, "tool:result")
    assert "diff" not in changed and changed["linesAdded"] == DIFF_LINES + 1
    assert changed["_meta"]["diff"] == {"lines": DIFF_LINES + 1, "url": f"/sessions/s/diff?entry={result['seq']}"}
    assert (result["structured"]["diff"], result["_meta"]["structured"]) == ("", {"diff": changed["_meta"]["diff"]})
    assert result["structured"]["diff"] == ""


def test_the_session_counts_its_files() -> None:
    told = listening()
    for number, (path, old, new) in enumerate([("/w/a", None, "1\n2\n"), ("/w/a", "1\n2\n", "1\n3\n"), ("/w/b", "x\n", "")]):
        told.hear(call(toolCallId=str(number), kind="edit", status="completed", content=[diff(path, new, old)]))
    tally = told.fold.files["/w/a"]
    assert (tally.change_type, tally.lines_added, tally.lines_removed) == ("created", 2, 0), "as its diff has"
    assert told.fold.files["/w/b"].lines_removed == 1
    view = view_of(told.fold)
    assert view.changes == Changes(files=2, lines_added=2, lines_removed=1)
    told.hear(call(toolCallId="d", kind="delete", status="completed", rawInput={"path": "/w/a"}))
    assert told.fold.files["/w/a"].change_type == "deleted"
    assert told.fold.tool_calls == 4


def test_the_count_of_files_is_bounded() -> None:
    told = listening()
    for number in range(KEPT_FILES // 400 + 2):
        content = [diff(f"/w/{number}-{each}", "x") for each in range(400)]
        told.hear(call(toolCallId=str(number), kind="edit", status="completed", content=content))
    assert len(told.fold.files) == KEPT_FILES
