"""What is written is stored in order; the session's row is written seldom, and what it has not yet is in the entries' steps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage, text, update
from trunkline.journal.base import RowFilter
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.session import recorder
from trunkline.session.fold import checkpoint, restore
from trunkline.session.intake import intake
from trunkline.session.recorder import Backpressure
from trunkline.session.restore.reload import refold


class Counted(MemoryJournal):
    """Counts the rows that are written."""

    written = 0

    def append_now(self, group: object) -> bool:
        self.written += len(group.rows)  # type: ignore[attr-defined]
        return super().append_now(group)  # type: ignore[arg-type]


def call(number: int) -> object:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look")


def test_many_changes_within_a_moment_write_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 60.0)

    async def play() -> None:
        journal = Counted()
        stage = Stage(tmp_path, journal=journal)
        await stage.open()
        await stage.send()
        before = journal.written
        for number in range(200):
            stage.driver.say(call(number))  # type: ignore[arg-type]
            await stage.until(lambda seen=number + 1: len(stage.session.fold.calls) == seen)  # type: ignore[misc]
            await stage.session.snapshot()
        assert journal.written == before
        row = await stage.row()
        assert row.checkpoint_seq < row.last_seq
        fold = await refold(journal, row)
        assert len(fold.calls) == 200
        assert fold == restore(checkpoint(stage.session.fold))

    run(play())


def test_a_row_that_is_due_follows_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 0.05)

    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(call(1))  # type: ignore[arg-type]
        journal = stage.journal
        while (row := (await journal.rows(RowFilter(id="ses-1")))[0]).checkpoint_seq < stage.session.fold.seq:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert "c1" in restore(row.checkpoint).calls

    run(play())


def test_the_row_says_at_once_that_a_session_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 60.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.session.lifecycle.store_row()
        assert (await stage.row()).status == "idle"
        await stage.send()
        assert (await stage.row()).status == "running", "a restart looks for it there"

    run(play())


def test_a_list_has_the_row_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 60.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.ask()
        assert (await stage.row()).status != "waiting_for_approval"
        await stage.session.lifecycle.store_row()
        assert (await stage.row()).status == "waiting_for_approval"

    run(play())


def test_a_large_row_is_written_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "ROW_GAP_S", 0.0)
    monkeypatch.setattr(recorder, "ROW_BYTES_PER_S", 10)

    async def play() -> None:
        journal = Counted()
        stage = Stage(tmp_path, journal=journal)
        await stage.open()
        await stage.send()
        before = journal.written
        stage.driver.say(call(1), call(2))  # type: ignore[arg-type]
        stage.driver.say(call(3))  # type: ignore[arg-type]
        await stage.session.snapshot()
        assert journal.written == before

    run(play())


def test_what_is_said_at_once_is_heard_in_pieces_and_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "HOLD_S", 0.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(text(f"{number} ") for number in range(intake.TEXT_PIECE + 100)))
        stage.driver.say(text("last"))
        assert session.agent._intake.waits and stage.driver.paused, "others have their turn, and the agent waits"
        stage.driver.end()
        packets = await stage.packets("prompt_response")
        said = "".join(packet["content"]["text"] for packet in packets if packet["type"] == "agent_message_chunk")
        assert said == "".join(f"{number} " for number in range(intake.TEXT_PIECE + 100)) + "last"
        assert not stage.driver.paused

    run(play())


class Pipe:
    """Somebody who reads an agent."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def pause_reading(self) -> None:
        self.calls.append("pause")

    def resume_reading(self) -> None:
        self.calls.append("resume")


def test_the_agents_output_is_taken_again_when_nobody_has_a_reason_any_more() -> None:
    pressure, pipe = Backpressure(), Pipe()
    pressure.hold("journal")
    pressure.attach(pipe)
    assert pipe.calls == [], "who begins to read meanwhile is stopped with the next reason"
    pressure.hold("turn")
    pressure.let_go("turn")
    assert pipe.calls == ["pause"], "the journal is still behind"
    pressure.let_go("journal")
    assert pipe.calls == ["pause", "resume"]
    pressure.detach()
    pressure.hold("journal")
    assert pipe.calls == ["pause", "resume"], "nobody reads the agent any more"


def test_a_note_is_stored_with_who_made_it_when_it_returns(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        recorder = stage.session._recorder
        await recorder.note("looked_at", {"what": "it"}, by="ann")
        assert recorder.all_stored
        last = (await stage.journal.read("ses-1", after=0))[-1]
        event = msgspec.json.decode(last.event)
        assert (event["eventName"], event["data"], event["_meta"]["by"]) == ("looked_at", {"what": "it"}, "ann")

    run(scenario())
