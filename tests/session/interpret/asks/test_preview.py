"""What people are shown of a call before they decide: every act of it, and whether that is all."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.tooling.rows import every_row
from tests.tooling.story import Player
from tests.tooling.transcripts import Prompt
from trunkline.dialects.calls.beside import members_beside
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.session.interpret.asks.preview import FILES_MOST, NO_TEXT, NOT_ALL, TEXT_MOST

OPTIONS = (PermissionOption("y", "Yes", "allow_once"), PermissionOption("n", "No", "reject_once"))
GO = Prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])


def asked(*calls: dict[str, Any], **ask: Any) -> dict[str, Any]:
    """The event of an ask, after these calls were announced."""
    player = Player()
    player.play(GO)
    for number, call in enumerate(calls):
        player.play(Update(msgspec.json.encode({"sessionUpdate": "tool_call", "toolCallId": f"c{number}", "title": "", **call})))
    player.play(PermissionAsk("r", msgspec.json.encode({"toolCallId": "c", **ask}), OPTIONS))
    events = [json.loads(entry.event) for entry in player.entries if b'"approval:requested"' in entry.event]
    found: dict[str, Any] = events[-1]
    return found


def previews(event: dict[str, Any]) -> list[dict[str, Any]]:
    return [event["preview"], *event["_meta"].get("acts", [])]


def doubts(event: dict[str, Any]) -> list[str]:
    found: list[str] = event["_meta"]["risk"].get("doubts", [])
    return found


def diff(path: str, new: str, old: str | None = None) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def test_everything_that_is_deleted_is_shown() -> None:
    event = asked(title="Tidy up", kind="delete", rawInput={"paths": ["tmp.txt", "src/main.py", ".git"]})
    assert event["preview"] == {"type": "description", "text": "Deletes:\n  tmp.txt\n  src/main.py\n  .git"}
    assert "inWords" not in event["_meta"]


def test_a_move_is_shown_from_where_to_where() -> None:
    event = asked(title="Rename a file", kind="move", rawInput={"source": "notes.txt", "destination": "src/config.py"})
    assert event["preview"]["text"] == "Moves notes.txt to src/config.py"


def test_a_file_of_the_input_that_no_change_shows_is_named_and_doubted() -> None:
    event = asked(title="Write", kind="edit", rawInput={"path": "real.txt", "content": "evil\n"},
                  content=[diff("shown.txt", "nice\n")])
    assert [act["type"] for act in previews(event)] == ["diff", "description"]
    assert previews(event)[1]["text"] == "Names:\n  real.txt"
    assert any("real.txt" in doubt for doubt in doubts(event)) and any("a text" in doubt for doubt in doubts(event))


def test_a_call_that_shows_what_its_input_says_is_not_doubted() -> None:
    event = asked(title="Write", kind="edit", rawInput={"path": "a.txt", "content": "a\n"}, content=[diff("a.txt", "a\n")])
    assert doubts(event) == [] and len(previews(event)) == 1


@every_row(("given", "old", "new"), [
    ({"content": "keep\n"}, "keep\nother\n", "keep\nother\nmore\n"),
    ({"content": "two\none\n"}, "keep\n", "one\ntwo\n"),
    ({"content": ""}, "keep\n", "keep\nmore\n"),
    ({"old_string": "keep", "new_string": "gone"}, "gone\nother\n", "keep\nother\n"),
    ({"old_string": "keep", "new_string": "gone"}, "keep\ngone\n", "keep\ngone\nmore\n"),
])
def test_an_input_that_makes_something_else_of_a_file_than_is_shown_is_doubted_and_told(
        given: dict[str, Any], old: str, new: str) -> None:
    event = asked(title="Write", kind="edit", rawInput={"path": "a.txt", **given}, content=[diff("a.txt", new, old)])
    assert doubts(event) == ["its input writes a text that its changes do not show"]
    assert members_beside(event["toolInput"], previews(event), event["description"]) == given


@every_row(("given", "old", "new"), [
    ({"content": "keep\nmore"}, "keep\n", "keep\nmore\n"),
    ({"old_string": "keep", "new_string": "gone"}, "keep\nother\n", "gone\nother\n"),
    ({"old_string": "keep", "new_string": ""}, "keep\nother\n", "\nother\n"),
    ({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]}, "a\nc\n", "b\nd\n"),
    ({"old_string": "keep", "new_string": "gone"}, None, "gone\nother\n"),
])
def test_an_input_that_makes_of_a_file_what_is_shown_is_not_doubted(given: dict[str, Any], old: str | None, new: str) -> None:
    event = asked(title="Write", kind="edit", rawInput={"path": "a.txt", **given}, content=[diff("a.txt", new, old)])
    assert doubts(event) == []


def test_a_patch_is_shown_as_it_was_given() -> None:
    patch = "*** Begin Patch\n*** Add File: x\n+a\n*** End Patch"
    event = asked(name="apply_patch", kind="edit", rawInput={"patch": patch})
    assert patch in [act.get("text") for act in previews(event)]


def test_what_a_patch_deletes_and_moves_is_said_before_the_patch_is_read() -> None:
    patch = ("*** Begin Patch\n*** Delete File: src/x.py\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n"
             "*** Update File: c.py\n@@\n-x\n+y\n*** End Patch")
    event = asked(name="apply_patch", kind="edit", rawInput={"patch": patch})
    said = "\n".join(act.get("text", "") for act in previews(event)).replace(patch, "").split("\n")
    assert "Deletes src/x.py" in said and "Moves a.py to b.py" in said and "Deletes:" not in said
    assert (event["_meta"]["risk"]["reason"], doubts(event)) == ("deletes files: src/x.py", [])


@pytest.mark.parametrize("content", [
    [diff(f"{number}.txt", "x\n") for number in range(FILES_MOST + 1)],
    [diff("a.txt", "x" * (TEXT_MOST - 500)), diff("b.txt", "y" * 1000)],
    [diff("a.txt", "x\n" * 401)],
], ids=["too many files", "too long together", "too many lines"])
def test_where_there_is_no_room_for_all_that_is_said(content: list[dict[str, Any]]) -> None:
    assert NOT_ALL in doubts(asked(title="Edit", kind="edit", rawInput={}, content=content))


def test_that_no_text_is_shown_is_said() -> None:
    assert doubts(asked(title="Edit", kind="edit", rawInput={"path": "a.txt"})) == [NO_TEXT]


def test_only_the_agents_own_words_are_told_as_such() -> None:
    words = [{"type": "content", "content": {"type": "text", "text": "# My plan"}}]
    event = asked(name="ExitPlanMode", kind="switch_mode", rawInput={"plan": "x"}, content=words)
    assert event["preview"]["text"] == "# My plan" and event["_meta"]["inWords"] is True
    runs = [{"kind": "execute", "title": "Bash", "rawInput": {"command": line}} for line in ("ls *a* *b*", "make")]
    several = asked(*runs, kind="other", title="Confirm")
    assert "ls *a* *b*" in several["preview"]["text"] and "inWords" not in several["_meta"]


def test_after_an_edited_approval_the_call_is_told_with_what_will_run() -> None:
    player = Player()
    player.play(GO)
    call = {"toolCallId": "c", "title": "Bash", "kind": "execute", "rawInput": {"command": "ls"}}
    player.play(PermissionAsk("r", msgspec.json.encode(call), OPTIONS, editable=True))
    player.act(lambda now: now.asks.resolve("r", approved=True, resolved_by="user", who="ann", option_id="y",
                                            updated_input=msgspec.Raw(b'{"command":"git push"}')))
    told = [json.loads(entry.event) for entry in player.entries if b'"tool:executing"' in entry.event]
    assert [(event["input"]["command"], event["requiresApproval"]) for event in told] == [("ls", True), ("git push", False)]
    assert told[0]["riskLevel"] == "low" and told[1]["riskLevel"] != "low"
