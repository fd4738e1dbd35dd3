"""What people do with the turns of a session: prompts that wait are changed and taken back, what runs is cancelled and held."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import NotFound


def test_nothing_is_cancelled_where_nothing_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        assert not await session.turns.cancel(by="ann")
        await stage.send()
        assert await session.turns.cancel(by="ann") and stage.driver.known_call("cancel")

    run(scenario())


def test_a_prompt_that_waits_is_sent_as_it_was_changed_last(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        waits = await stage.send("later", when_busy="queue")
        assert waits.queued
        await session.turns.edit_queued(waits.turn_id, [TextContent(text="another")], by="ann")
        stage.driver.end()
        await stage.until(lambda: len(stage.driver.known_call("prompt")) == 2)
        (block,) = stage.driver.known_call("prompt")[1][1]
        assert msgspec.json.decode(block)["text"] == "another"

    run(scenario())


def test_a_prompt_that_was_taken_back_is_never_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        waits = await stage.send("later", when_busy="queue")
        await session.turns.drop_queued(waits.turn_id, by="ann")
        with pytest.raises(NotFound):
            await session.turns.drop_queued(waits.turn_id, by="ann")
        stage.driver.end()
        await stage.packets("prompt_response")
        assert len(stage.driver.known_call("prompt")) == 1 and session.view().queue == []

    run(scenario())


def test_a_held_session_goes_on_when_it_is_let_go_and_only_then(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        assert not await session.turns.resume(by="ann"), "nothing is held"
        await session.turns.pause(by="ann", reason="lunch")
        paused = session.view().paused
        assert paused is not None and paused.reason == "lunch"
        assert await session.turns.resume(by="ann") and session.view().paused is None

    run(scenario())
