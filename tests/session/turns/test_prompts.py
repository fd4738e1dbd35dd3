"""Prompts: taken once, played or queued, changed and taken back while they wait."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Invalid, NotFound, TooManyRequests, TurnInProgress
from trunkline.session.turns import prompts


def test_a_prompt_is_in_the_journal_before_the_agent_hears_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        accepted = await stage.send("hello")
        assert stage.session.feed.last_seq > accepted.seq
        stored = await stage.journal.read("ses-1", after=accepted.seq)
        assert any(b"hello" in entry.event for entry in stored)
        await asyncio.sleep(0)
        assert stage.driver.known_call("prompt") == [("prompt", [b'{"type":"text","text":"hello"}'])]

    run(scenario())


def test_a_busy_session_refuses_or_queues(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("one")
        with pytest.raises(TurnInProgress):
            await stage.send("two")
        queued = await stage.send("two", when_busy="queue")
        dropped = await stage.send("three", when_busy="queue")
        assert queued.queued and [waiting.turn_id for waiting in session.view().queue] == [queued.turn_id, dropped.turn_id]
        await session.turns.edit_queued(queued.turn_id, [TextContent(text="two, better")], by="test")
        await session.turns.drop_queued(dropped.turn_id, by="test")
        with pytest.raises(NotFound):
            await session.turns.drop_queued(dropped.turn_id, by="test")
        stage.driver.end()
        await stage.until(lambda: len(stage.driver.known_call("prompt")) == 2)
        assert b"two, better" in stage.driver.known_call("prompt")[1][1][0]
        assert session.view().queue == []

    run(scenario())


def test_the_same_idempotency_key_sends_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        first = await stage.send("x", idempotency_key="k")
        again = await stage.send("x", idempotency_key="k")
        assert (again.turn_id, again.seq) == (first.turn_id, first.seq)
        await asyncio.sleep(0)
        assert len(stage.driver.known_call("prompt")) == 1

    run(scenario())


def test_the_queue_has_room_for_so_many_prompts_and_a_changed_one_takes_its_own_place(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(prompts, "QUEUED_PROMPTS", 2)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("runs")
        first = await stage.send("one", when_busy="queue")
        await stage.send("two", when_busy="queue")
        with pytest.raises(TooManyRequests):
            await stage.send("three", when_busy="queue")
        await session.turns.edit_queued(first.turn_id, [TextContent(text="one, changed")], by="ann")
        assert [len(session.fold.queue), session.fold.queue[0].turn_id] == [2, first.turn_id]

    run(scenario())


def test_a_prompt_without_content_and_one_that_does_not_wait_are_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        with pytest.raises(Invalid, match="empty"):
            await session.turns.send([], by="ann")
        running = await stage.send()
        for act in (session.turns.drop_queued(running.turn_id, by="ann"),
                    session.turns.edit_queued(running.turn_id, [TextContent(text="x")], by="ann")):
            with pytest.raises(NotFound, match="waits in the queue"):
                await act

    run(scenario())


def test_a_prompt_that_may_wait_goes_behind_a_queue_that_a_failure_held_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("fails")
        held = await stage.send("held back", when_busy="queue")
        stage.driver.die()
        await stage.until(lambda: session.fold.turn is None)
        assert [waiting.turn_id for waiting in session.fold.queue] == [held.turn_id], "after a failure it waits for a person"
        behind = await stage.send("behind", when_busy="queue")
        assert behind.queued and session.fold.turn is not None and session.fold.turn.turn_id == held.turn_id
        assert [waiting.turn_id for waiting in session.fold.queue] == [behind.turn_id]

    run(scenario())



def test_the_queue_takes_only_so_many_prompts_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        monkeypatch.setattr(prompts, "QUEUED_PROMPTS", 3)
        monkeypatch.setattr(prompts, "QUEUED_BYTES", 1000)
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        for number in range(3):
            await stage.send(f"later {number}", when_busy="queue")
        with pytest.raises(TooManyRequests, match="3 prompts wait"):
            await stage.send("one too many", when_busy="queue")
        await session.turns.drop_queued(session.fold.queue[0].turn_id, by="test")
        with pytest.raises(TooManyRequests, match="would hold more"):
            await stage.send("x" * 1000, when_busy="queue")
        assert len(session.fold.queue) == 2

    run(play())
