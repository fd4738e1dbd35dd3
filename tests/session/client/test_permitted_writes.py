"""Which writes an approval covers: the content that was shown, in the place that it was shown for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.client.acting import approved, changing, execute, refused, write, writing
from tests.session.script import Stage, update
from trunkline.dialects.context.unions import CommandPreview, DiffPreview
from trunkline.errors import Invalid
from trunkline.session.commands.requests import Decision


@pytest.mark.parametrize("call", [
    {"title": "mcp__files__put", "kind": "other", "rawInput": {"file_path": "a.txt", "content": "new\n"}},
    {"title": "Whatever it is", "kind": "other", "rawInput": {"path": "a.txt", "content": "new\n"}},
    {"title": "Write", "kind": "edit", "rawInput": {"path": "a.txt", "content": "new\n"}},
    {"title": "Write", "kind": "edit", "rawInput": {"tool": "write_file", "arguments": {"path": "a.txt", "content": "new\n"}}},
    {"title": "Edit", "kind": "edit", "rawInput": {"path": "a.txt", "old_string": "old", "new_string": "new"}},
    {"title": "Edit", "kind": "edit", "rawInput": {"path": "a.txt", "edits": [
        {"old_string": "o", "new_string": "n"}, {"old_string": "ld", "new_string": "ew"}]}},
])
def test_an_approved_write_of_any_kind_covers_the_content_that_was_shown(tmp_path: Path, call: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await approved(stage, call)
        await refused(stage, write(stage, "a.txt", "other\n"))
        assert await write(stage, "a.txt", "new\n") == "written"
        await refused(stage, write(stage, "a.txt", "new\n"))

    run(scenario())


@pytest.mark.parametrize("call", [
    {"kind": "edit", "rawInput": {}, "locations": [{"path": "a.txt"}]},
    {"kind": "edit", "rawInput": {"path": "a.txt", "bytes": 4}},
    {"kind": "read", "rawInput": {"path": "a.txt"}, "locations": [{"path": "a.txt"}]},
    {"kind": "execute", "rawInput": {"command": "make", "path": "a.txt", "content": "new\n"}},
    {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": "a.txt", "oldText": "l", "newText": "new\n"}]},
], ids=["only the place", "only the length", "a read", "a command", "a piece of it"])
def test_an_approval_that_did_not_show_the_content_covers_no_write(tmp_path: Path, call: dict[str, Any]) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await approved(stage, call)
        await refused(stage, write(stage, "a.txt", "new\n"))

    run(scenario())


def test_every_file_of_an_ask_is_shown_and_may_be_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, changing(("a.txt", None, "one\n"), ("package.json", None, "two\n")))
        assert [(act.path, act.diff.splitlines()[-1]) for act in asked.previews if isinstance(act, DiffPreview)] == [
            ("a.txt", "+one"), ("package.json", "+two")]
        assert await write(stage, "package.json", "two\n") == "written"
        assert await write(stage, "a.txt", "one\n") == "written"

    run(scenario())


def test_one_file_under_two_spellings_is_shown_with_both_changes(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("one\ntwo\n")
        asked = await approved(stage, changing((f"{tmp_path}/a.txt", "one\n", "ONE\n"),
                                               (f"{tmp_path}/./a.txt", "two\n", "TWO\n")))
        [shown] = asked.previews
        assert isinstance(shown, DiffPreview) and "+ONE" in shown.diff and "+TWO" in shown.diff
        assert await write(stage, "a.txt", "ONE\nTWO\n") == "written"

    run(scenario())


def test_pieces_that_do_not_fit_the_file_are_all_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text("one\n")
        asked = await approved(stage, changing(("a.txt", "one\n", "ONE\n"), ("a.txt", "later\n", "EVIL\n")))
        assert [act.diff.splitlines()[-1] for act in asked.previews if isinstance(act, DiffPreview)] == ["+ONE", "+EVIL"]

    run(scenario())


@pytest.mark.parametrize("every", [True, False])
def test_only_the_places_of_a_piece_that_were_shown_may_be_replaced(tmp_path: Path, every: bool) -> None:
    between = "y\n" * 20

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "a.txt").write_text(f"x=1\n{between}x=1\n")
        asked = await approved(stage, {"kind": "edit", "rawInput": {
            "path": "a.txt", "old_string": "x=1", "new_string": "x=2", "replace_all": every}})
        assert isinstance(asked.preview, DiffPreview) and asked.preview.diff.count("+x=2") == (2 if every else 1)
        whole = write(stage, "a.txt", f"x=2\n{between}x=2\n")
        if every:
            assert await whole == "written"
        else:
            await refused(stage, whole)

    run(scenario())


def test_a_command_beside_a_change_is_shown_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        given = {"command": "touch it", "path": "README.md"}
        asked = await approved(stage, changing(("README.md", None, "hello\n"), rawInput=given))
        assert isinstance(asked.preview, CommandPreview) and asked.preview.command == "touch it"
        assert [act.path for act in asked.acts if isinstance(act, DiffPreview)] == ["README.md"]
        assert await execute(stage, "touch", "it") == "ran"

    run(scenario())


def test_an_approved_write_is_about_the_place_that_it_led_to(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        (tmp_path / "link").symlink_to("one")
        await approved(stage, writing("link/a.txt"))
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("two")
        await refused(stage, write(stage, "link/a.txt"))
        assert await write(stage, "one/a.txt") == "written", "by whatever name"

    run(scenario())


def test_a_call_that_a_write_belongs_to_is_found_by_its_input_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="looks", title="Read", kind="read", status="in_progress",
                                rawInput={"path": "a.txt"}))
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="mine", title="Edit", kind="edit", status="in_progress",
                                rawInput={"path": "a.txt"}))
        doing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "mine"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await doing == "written"

    run(scenario())


def test_other_content_than_the_one_that_was_shown_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        (tmp_path / "b.txt").write_text("one\ntwo\nthree\n")
        whole = {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": "a.txt", "newText": "good"}]}
        piece = {"kind": "edit", "rawInput": {},
                 "content": [{"type": "diff", "path": "b.txt", "oldText": "two", "newText": "2"}]}
        await approved(stage, whole, piece)
        await refused(stage, write(stage, "a.txt", "EVIL"))
        await refused(stage, write(stage, "b.txt", "one\nevil\nthree\n"))
        assert await write(stage, "a.txt", "good") == "written"
        assert await write(stage, "b.txt", "one\n2\nthree\n") == "written"

    run(scenario())


def test_two_writes_of_one_file_take_one_grant(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, writing("a.txt"))
        both = [asyncio.create_task(write(stage)) for _ in range(2)]
        await stage.until(lambda: bool(stage.session.view().pending_approvals))
        assert [task.done() for task in both] == [True, False], "the first one takes it, the second is asked about"
        (view,) = stage.session.view().pending_approvals
        await stage.session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asyncio.gather(*both) == ["written"] * 2

    run(scenario())


def test_what_may_be_written_is_the_place_that_was_looked_at(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path / "root")
        (tmp_path / "root" / "sub").mkdir(parents=True)
        session = await stage.open()
        await approved(stage, writing("sub/a.txt"))
        async with session.agent.permits.write("sub/a.txt", "new\n") as real:
            (tmp_path / "root" / "sub").rmdir()
            (tmp_path / "root" / "sub").symlink_to(tmp_path)
            with pytest.raises(Invalid):
                await session.workspace.lane.run(session.workspace.write_text, "sub/a.txt", "new\n", real=real)
        assert not (tmp_path / "a.txt").exists()

    run(scenario())
