"""What an agent has the hub do passes the same rules as its own tools."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.client.acting import approved, changing, execute, refused, until, write, writing
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects.signals import PermissionAsk
from trunkline.errors import Forbidden, Invalid
from trunkline.session.approvals import grants
from trunkline.session.client import permits
from trunkline.session.commands.requests import Decision
from trunkline.session.interpret.asks import preview
from trunkline.session.interpret.effects.diff import DIFF_LINES
from trunkline.session.policy.decide import Rule

MANY = 400
"""Open calls: to take all of them apart takes most of a second."""


def test_a_write_that_nobody_asked_about_is_asked_about_with_a_diff_and_told_as_a_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.preview is not None and "-old" in view.preview.diff and "+new" in view.preview.diff  # type: ignore[union-attr]
        assert not writing.done()
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        await session.snapshot()
        types = await stage.types()
        assert types.index("tool:start") < types.index("approval:requested") < types.index("tool:result")
        assert stage.driver.known_call("permission") == [], "the agent did not ask"

    run(scenario())


def test_a_denied_write_is_forbidden_and_its_call_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        await session.approvals.decide(view.request_id, Decision(decision="deny", reason="use b.txt"), by="ann")
        with pytest.raises(Forbidden, match=r"not approved: use b\.txt") as told:
            await writing
        assert told.value.details == {"reason": "use b.txt"}
        stage.driver.end()
        await stage.packets("prompt_response")
        assert "tool:error" in await stage.types()

    run(scenario())


def test_what_the_hub_asked_about_is_asked_about_again_when_it_is_wanted_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for _ in range(2):
            for act in (execute(stage, "make", "all"), write(stage)):
                doing = asyncio.create_task(act)
                await stage.until(lambda: bool(session.view().pending_approvals))
                request_id = session.view().pending_approvals[0].request_id
                await session.approvals.decide(request_id, Decision(decision="allow"), by="ann")
                assert await doing in ("ran", "written")

    run(scenario())


@pytest.mark.parametrize(("text", "is_covered"), [
    ("x\n" * DIFF_LINES, False), ("x\n" * (DIFF_LINES - 1), True), ("x" * (preview.TEXT_MOST - 200), True),
    ("x" * preview.TEXT_MOST, False),
], ids=["too many lines", "as many lines as are shown", "a long line", "too long a line"])
def test_content_that_is_too_long_to_be_shown_is_not_approved_with_its_ask(tmp_path: Path, text: str, is_covered: bool) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, writing("a.txt", text))
        assert (preview.NOT_ALL in asked.doubts) is not is_covered
        if is_covered:
            assert await write(stage, "a.txt", text) == "written"
        else:
            await refused(stage, write(stage, "a.txt", text))

    run(scenario())


def test_an_old_text_too_long_to_be_compared_shows_and_grants_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        asked = await approved(stage, changing(("a.txt", "x" * (preview.COMPARED_MOST + 1), "evil\n"), ("b.txt", None, "b\n")))
        assert preview.NOT_ALL in asked.doubts
        await refused(stage, write(stage, "a.txt", "evil\n"))

    run(scenario())


def test_an_approval_with_another_input_allows_nothing_of_the_one_that_was_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        call = {"toolCallId": "call-1", "title": "Bash", "kind": "execute", "rawInput": {"command": "make all"}}
        stage.driver.say(PermissionAsk("req-1", msgspec.json.encode(call), OPTIONS, editable=True))
        await stage.packets("approval_requested", 1)
        await stage.session.approvals.decide("req-1", Decision(decision="allow", updated_input={"command": "ls"}), by="ann")
        await refused(stage, execute(stage, "make", "all"))

    run(scenario())


def test_what_was_approved_is_over_with_its_turn(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, writing("b.txt"), {"rawInput": {"command": "make all"}})
        stage.driver.end()
        await stage.packets("prompt_response")
        await stage.send()
        await refused(stage, write(stage, "b.txt"))
        await refused(stage, execute(stage, "make", "all", CI="1"))

    run(scenario())


def test_an_agent_that_changes_ids_is_allowed_what_was_asked_and_not_what_stands_under_another_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        announced = {"title": "make all", "kind": "execute", "status": "pending"}
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="real-1", rawInput={"command": "make other"}, **announced))
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="real-2", title="Write a.txt", **writing("a.txt", "evil")))
        stage.driver.ask("req-a0", toolCallId="perm-1", title="make all", kind="execute", rawInput={"command": "make all"})
        stage.driver.ask("req-a1", toolCallId="perm-2", title="Write a.txt", kind="edit", rawInput={"path": "a.txt"})
        await stage.packets("approval_requested", 2)
        for number in range(2):
            await stage.session.approvals.decide(f"req-a{number}", Decision(decision="allow"), by="ann")
        await refused(stage, execute(stage, "make", "other"))
        await refused(stage, write(stage, "a.txt", "evil"))
        assert await execute(stage, "make", "all") == "ran", "what was asked is allowed, by whatever id"
        await refused(stage, execute(stage, "make", "all"))

    run(scenario())


def test_an_approved_call_that_turns_into_another_covers_only_what_was_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        read = {"kind": "read", "rawInput": {"path": "a.txt"}, "locations": [{"path": "a.txt"}]}
        await approved(stage, read, writing("b.txt", rawInput={"path": "b.txt"}), {"rawInput": {"command": "ls"}})
        changes: list[dict[str, Any]] = [{"locations": [{"path": "a.txt"}]}, {"locations": [{"path": ".env"}]},
                                         {"rawInput": {"command": "rm x"}}]
        for number, change in enumerate(changes):
            stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId=f"call-{number}", **change))
        await refused(stage, write(stage, "a.txt"))
        await refused(stage, write(stage, ".env"))
        await refused(stage, execute(stage, "rm", "x"))
        assert await write(stage, "b.txt") == "written"

    run(scenario())


def test_a_rule_that_denies_counts_also_for_what_was_approved_and_for_reading(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await approved(stage, writing(".env"))
        session.fold.rules.append(Rule(action="deny", path=[".env"], reason="secret"))
        with pytest.raises(Forbidden):
            await write(stage, ".env")
        with pytest.raises(Forbidden, match="secret"):
            await session.agent.permits.read(".env")
        await session.agent.permits.read("a.txt")

    run(scenario())


@pytest.mark.parametrize(("action", "outcome"), [("allow", "written"), ("deny", None)])
def test_a_rule_decides_without_asking(tmp_path: Path, action: Any, outcome: str | None) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(Rule(action=action, path=["*.txt"], reason="because"))
        await stage.send()
        if outcome is not None:
            assert await write(stage) == outcome
        else:
            with pytest.raises(Forbidden):
                await write(stage)
        (resolved,) = [p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved"]
        assert (resolved["approved"], resolved["resolvedBy"]) == (outcome is not None, "policy")
        assert "because" in resolved["reason"], "what a rule decided is in the journal"

    run(scenario())


def test_a_write_outside_the_roots_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        with pytest.raises(Forbidden, match="outside"):
            await write(stage, "../elsewhere.txt")
        assert "approval:requested" not in await stage.types()

    run(scenario())


def test_an_open_call_of_the_agent_is_the_one_that_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="mine", title="Edit", kind="edit", status="in_progress",
                                locations=[{"path": "a.txt"}], rawInput={"path": "a.txt"}))
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "mine"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        assert (await stage.types()).count("tool:start") == 1

    run(scenario())


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_write_over_what_is_no_plain_file_is_refused_and_nobody_is_asked(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        (tmp_path / "device").symlink_to("/dev/zero")
        await stage.send()
        with pytest.raises((Invalid, Forbidden), match=r"not a plain file|is a folder|outside"):
            await write(stage, kind)
        assert not session.fold.approvals

    run(scenario())


def test_writes_are_asked_about_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        (tmp_path / "0.txt").write_text("x" * (60 << 10))
        writing = [asyncio.create_task(write(stage, f"{number}.txt")) for number in range(8)]
        await stage.packets("approval_requested", 8)
        titles = [view.title for view in session.view().pending_approvals]
        assert titles == [f"Write {number}.txt" for number in range(8)]
        for view in session.view().pending_approvals:
            await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asyncio.gather(*writing) == ["written"] * 8

    run(scenario())


@pytest.mark.parametrize("line", ["echo " + "a" * 4000, "e'c'h'o' " + "'x' " * 900 + "x", "'" + "echo x" * 600])
def test_a_command_is_found_among_many_open_calls_without_taking_each_apart(tmp_path: Path, line: str) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for number in range(MANY):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Run", kind="execute",
                                    status="pending", rawInput={"command": line}))
        await session.snapshot()
        await until(lambda: len(session.fold.calls) == MANY)
        began = time.process_time()
        running = asyncio.create_task(execute(stage, "echo", *["x"] * 900, "y" if "'x'" not in line else "x x"))
        await until(lambda: bool(session.view().pending_approvals))
        assert time.process_time() - began < MANY * 0.0005, "of our own time: taking one apart takes 2 ms"
        await session.approvals.decide(session.view().pending_approvals[0].request_id, Decision(decision="allow"), by="ann")
        assert await running == "ran"

    run(scenario())


@pytest.mark.parametrize("acts", ["written", "ran"])
@pytest.mark.parametrize(("others", "belongs"), [(1, True), (2, False)])
def test_what_belongs_to_a_call_is_looked_for_in_the_newest_ones(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, belongs: bool, acts: str) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(permits, "CALLS_LOOKED_UP", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        kind, done = ("edit", write(stage)) if acts == "written" else ("execute", execute(stage, "make", "a.txt"))
        names = ["a.txt", *(f"other-{number}" for number in range(others))]
        for name in names:
            told = {"rawInput": {"command": f"make {name}"}} if acts == "ran" else {}
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=name, title="Do", kind=kind, status="in_progress",
                                    locations=[{"path": name}], **told))
        await until(lambda: len(session.fold.calls) == len(names))
        asking = asyncio.create_task(done)
        await until(lambda: bool(session.view().pending_approvals))
        (view,) = session.view().pending_approvals
        assert (view.tool_call_id == "a.txt") is belongs
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await asking == acts

    run(scenario())


def test_of_two_calls_for_one_file_the_one_that_is_still_looked_for_is_asked_about(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(permits, "CALLS_LOOKED_UP", 1)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for name in ("old", "new"):
            stage.driver.say(update(sessionUpdate="tool_call", toolCallId=name, title="Edit", kind="edit", status="in_progress",
                                    locations=[{"path": "a.txt"}], rawInput={"path": "a.txt"}))
        await until(lambda: len(session.fold.calls) == 2)
        writing = asyncio.create_task(write(stage))
        await until(lambda: bool(session.view().pending_approvals))
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "new"
        await session.approvals.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"

    run(scenario())


def test_of_very_many_approved_calls_the_newest_still_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(grants, "KEPT_GRANTS", 2)
        stage = Stage(tmp_path)
        await stage.open()
        await approved(stage, *({"rawInput": {"command": f"make part{number}"}} for number in range(3)))
        assert await execute(stage, "make", "part1") == "ran"
        assert await execute(stage, "make", "part2") == "ran"
        await refused(stage, execute(stage, "make", "part0"))

    run(scenario())
