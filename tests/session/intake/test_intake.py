"""What the agent says is taken in order, also where an ask waits for the disk; and a disk that hangs holds up nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects.signals import (
    AskWithdrawn,
    PermissionAsk,
    TurnEnd,
)
from trunkline.errors import HubStopping
from trunkline.session.commands.requests import Decision
from trunkline.session.intake import disk_reader, intake
from trunkline.session.intake.read_ahead import ReadAhead
from trunkline.session.policy.decide import Rule
from trunkline.session.workspace import look as looking
from trunkline.session.workspace.files import Workspace

EDIT: dict[str, Any] = {"kind": "edit", "title": "Edit a.txt", "rawInput": {"path": "a.txt"}, "locations": [{"path": "a.txt"}],
                        "content": [{"type": "diff", "path": "a.txt", "oldText": "old", "newText": "new"}]}
ALLOW = Rule(action="allow", risk=["low", "medium", "high"])


class Disk:
    """A disk that does not answer until it is told to."""

    def __init__(self) -> None:
        self.asked, self.answers = threading.Event(), threading.Event()

    def glance(self, path: str, most: int = 0) -> str | None:
        self.asked.set()
        self.answers.wait(60)
        return None


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    disk = Disk()
    monkeypatch.setattr(Workspace, "glance", lambda space, path, most=0: disk.glance(path, most))
    yield disk
    disk.answers.set()


def say(text: str) -> Any:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def ask(request_id: str, **call: Any) -> PermissionAsk:
    return PermissionAsk(request_id, msgspec.json.encode({"toolCallId": f"call-{request_id}", **EDIT, **call}), OPTIONS)


def test_an_ask_is_shown_with_the_file_that_it_changes_read_off_the_loop(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "a.txt").write_text("before\nold\nafter\n")
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(**EDIT)
        assert not session.fold.approvals, "the disk is asked first"
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        diff = view.preview.diff  # type: ignore[union-attr]
        assert " before" in diff and "-old" in diff and "+new" in diff and " after" in diff

    run(scenario())


def test_what_stands_behind_an_ask_is_written_behind_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(say("one"), ask("a"), say("two"), ask("b"))
        stage.driver.say(say("three"))
        stage.driver.say(AskWithdrawn("a"), TurnEnd(stop="end_turn"))
        await stage.packets("prompt_response")
        told = [packet for packet in await stage.packets() if packet["type"] in (
            "agent_message_chunk", "approval_requested", "approval_resolved", "prompt_response")]
        assert [packet.get("requestId") or packet.get("content", {}).get("text") for packet in told] == [
            "one", "a", "two", "b", "three", "a", "b", None]
        assert not session.fold.approvals and not stage.driver.paused

    run(scenario())


def long_call(call_id: str) -> Any:
    line = f"cat > {call_id}.txt <<'END'\n" + "text\n" * 1500 + "END"
    return update(sessionUpdate="tool_call", toolCallId=call_id, title="Run", kind="execute", rawInput={"command": line})


def test_what_stands_behind_a_long_command_waits_until_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, threads = threading.Event(), list[str]()

    def read(reading: ReadAhead, signals: Any) -> None:
        threads.append(threading.current_thread().name)
        assert go.wait(60)

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        monkeypatch.setattr(ReadAhead, "read", read)
        stage.driver.say(say("one"))
        stage.driver.say(long_call("a"))
        stage.driver.say(say("two"))
        stage.driver.say(TurnEnd(stop="end_turn"))
        assert stage.driver.paused
        go.set()
        packets = await stage.packets("prompt_response")
        told = [packet["type"] for packet in packets]
        assert told.index("tool_call_start") < max(at for at, kind in enumerate(told) if kind == "agent_message_chunk")
        assert threads and "MainThread" not in threads
        await stage.until(lambda: not stage.driver.paused)

    run(scenario())


def test_a_command_that_cannot_be_read_is_told_of_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                              caplog: pytest.LogCaptureFixture) -> None:
    def broken(reading: ReadAhead, signals: Any) -> None:
        raise RuntimeError("a bug")

    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        monkeypatch.setattr(ReadAhead, "read", broken)
        stage.driver.say(long_call("a"), say("after"), TurnEnd(stop="end_turn"))
        told = [packet["type"] for packet in await stage.packets("prompt_response")]
        assert "tool_call_start" in told and "agent_message_chunk" in told

    run(scenario())
    assert "could not be read ahead" in caplog.text


def test_an_agents_pipe_waits_with_it(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask(**EDIT)
        assert stage.driver.paused
        disk.answers.set()
        await stage.packets("approval_requested")
        assert not stage.driver.paused

    run(scenario())


def test_a_journal_that_caught_up_lets_no_pipe_go_that_waits_for_the_disk(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(**EDIT)
        session.lifecycle.drained()
        assert stage.driver.paused
        disk.answers.set()
        await stage.packets("approval_requested")
        assert not stage.driver.paused

    run(scenario())


def test_an_agent_that_dies_while_the_disk_hangs_ends_its_turn_at_once(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(ALLOW)
        await stage.send()
        stage.driver.say(ask("a"), ask("b"), say("last words"))
        stage.driver.die()
        packets = await stage.packets("error")
        types = [packet["type"] for packet in packets]
        assert types.count("approval_requested") == 1 and "agent_message_chunk" in types
        entries = await stage.session.feed.read(after=0)
        assert sum(b'"permission_refused"' in entry.event for entry in entries) == 1, "what nobody can be told is not judged"
        assert all(not packet["approved"] for packet in packets if packet["type"] == "approval_resolved")
        assert not session.fold.approvals

    run(scenario())


def test_a_turn_is_cancelled_while_the_disk_hangs_and_its_ask_ends_with_it(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(ALLOW)
        await stage.send()
        stage.driver.ask(**EDIT)
        await session.turns.cancel(by="ann")
        assert stage.driver.known_call("cancel")
        disk.answers.set()
        (resolved,) = [each for each in await stage.packets("approval_resolved") if each["type"] == "approval_resolved"]
        assert (resolved["approved"], resolved["reason"]) == (False, "the work was cancelled")

    run(scenario())


def test_a_disk_that_does_not_answer_allows_nothing_by_rule(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_S", 0.02)

    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(ALLOW)
        await stage.send()
        stage.driver.ask(**EDIT)
        await stage.packets("approval_requested")
        assert list(session.fold.approvals) == ["req-1"], "a person decides"
        await session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes")]

    run(scenario())


def test_a_session_is_closed_while_the_disk_hangs(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(**EDIT)
        await session.lifecycle.close(HubStopping("the hub is stopping"))
        assert not session.fold.approvals and session.fold.turn is None

    run(scenario())


def test_calls_with_long_inputs_are_taken_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(intake, "HOLD_S", 0.0)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        calls = [update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look", kind="other", status="pending",
                        rawInput={"text": "x" * (intake.PIECE_BYTES // 2)}) for number in range(10)]
        stage.driver.say(*calls)
        known = [0]
        while len(session.fold.calls) < 10:
            await asyncio.sleep(0)
            known.append(len(session.fold.calls))
        assert max(later - before for before, later in pairwise(known)) == 2, "with the second there are more bytes than at once"
        assert list(session.fold.calls) == [f"c{number}" for number in range(10)], "in order"

    run(scenario())


WRITE: dict[str, Any] = {"toolCallId": "w", "title": "Write a.txt", "kind": "edit", "name": "Write",
                         "rawInput": {"path": "a.txt", "content": "new\n"}}


async def overwrite(stage: Stage, before: bytes | None, after: str = "new\n", **result: Any) -> Any:
    """A write that nobody was asked about, from its announcement to what is told of it."""
    file = Path(stage.session.fold.cwd) / "a.txt"
    if before is not None:
        file.write_bytes(before)
    await stage.open()
    await stage.send()
    stage.driver.say(update(sessionUpdate="tool_call", status="in_progress", **WRITE))
    await stage.until(lambda: has_found(stage, "w"))
    file.write_text(after)
    stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="w", status="completed", **result))
    stage.driver.end()
    await stage.packets("prompt_response")
    (change,) = [event for event in await stage.events() if event.type == "file:change"]
    return change


def has_found(stage: Stage, call_id: str) -> bool:
    evidence = stage.session.fold.calls[call_id].evidence
    return evidence is not None and bool(evidence.found)


@pytest.mark.parametrize("result", [{}, {"rawOutput": {"success": True}}, {"content": [
    {"type": "diff", "path": "a.txt", "oldText": None, "newText": "new\n"}]}], ids=["bare", "confirmed", "shown"])
def test_an_overwrite_that_nobody_was_asked_about_is_told_with_the_text_before(tmp_path: Path, result: dict[str, Any]) -> None:
    async def scenario() -> None:
        change = await overwrite(Stage(tmp_path), b"old\n", **result)
        assert change.change_type == "modified" and (change.lines_added, change.lines_removed) == (1, 1)
        assert "-old" in change.diff and "+new" in change.diff and "/dev/null" not in change.diff

    run(scenario())


def test_a_file_that_was_not_there_is_told_as_created_and_that_is_not_assumed(tmp_path: Path) -> None:
    async def scenario() -> None:
        change = await overwrite(Stage(tmp_path), None)
        assert change.change_type == "created" and "assumed" not in change.meta

    run(scenario())


def test_a_file_of_which_no_text_can_be_kept_is_told_as_modified_without_a_diff(tmp_path: Path) -> None:
    async def scenario() -> None:
        change = await overwrite(Stage(tmp_path), b"long\n" * 100_000)
        assert change.change_type == "modified" and change.diff is msgspec.UNSET and change.meta["abridged"] is True

    run(scenario())


def test_a_file_that_has_the_new_text_already_at_the_look_tells_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        change = await overwrite(Stage(tmp_path), b"new\n")
        assert change.change_type == "created" and change.meta["assumed"] == ["changeType"]

    run(scenario())


def test_what_was_found_beforehand_is_written_down_with_the_change(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        change = await overwrite(stage, b"old\n")
        assert change.meta["found"] == {"exists": True, "size": 4} and change.meta["seen"]["asSaid"] is True

    run(scenario())


def test_text_does_not_wait_for_the_look_beforehand_and_the_result_does(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        (tmp_path / "a.txt").write_text("old\n")
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", status="in_progress", **WRITE))
        stage.driver.say(say("on and on"))
        await stage.packets("agent_message_chunk")
        paused = [stage.driver.paused]
        stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="w", status="completed"))
        assert [*paused, stage.driver.paused] == [False, True]
        disk.answers.set()
        stage.driver.end()
        await stage.packets("prompt_response")

    run(scenario())


def test_a_history_that_is_told_again_is_not_held_against_the_disk_of_today(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "a.txt").write_text("later\n")
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        interpret = session._recorder.at()
        interpret.replaying = True
        interpret.on_signals([update(sessionUpdate="tool_call", status="in_progress", **WRITE)], looks=True)
        assert interpret.tools.disk.take_foreseen() == {}

    run(scenario())


def test_only_so_many_files_are_looked_at_beforehand_at_once(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        (tmp_path / "a.txt").write_text("old\n")
        calls = [{**WRITE, "toolCallId": f"w{number}"} for number in range(disk_reader.FORESEEN + 3)]
        stage.driver.say(*[update(sessionUpdate="tool_call", status="in_progress", **call) for call in calls])
        assert len(session.agent._intake._disk._foreseen) == disk_reader.FORESEEN
        disk.answers.set()
        await stage.until(lambda: not session.agent._intake._disk._foreseen)

    run(scenario())


def test_an_agent_that_dies_while_the_disk_hangs_beforehand_ends_its_turn_at_once(tmp_path: Path, disk: Disk) -> None:
    async def scenario() -> None:
        (tmp_path / "a.txt").write_text("old\n")
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", status="in_progress", **WRITE))
        stage.driver.say(update(sessionUpdate="tool_call_update", toolCallId="w", status="completed"))
        stage.driver.die()
        await stage.packets("error")
        assert not session.agent._intake._disk._foreseen

    run(scenario())



def test_asks_in_a_row_give_way_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(intake, "HOLD_S", 0.0)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        plain = [PermissionAsk(f"req-{number}", b'{"toolCallId":"p%d","kind":"think"}' % number, OPTIONS) for number in range(9)]
        await session.agent._intake._reading.prepare([*plain])
        stage.driver.say(*plain)
        assert len(session.fold.approvals) < 9, "the rest is taken when others had their turn"
        await session.agent._intake.settled()
        assert list(session.fold.approvals) == [f"req-{number}" for number in range(9)], "in order"

    run(play())
