"""The line to an agent: one at a time, started once for all who wait, given its settings again, stopped when unused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import ScriptedDriver, Stage
from trunkline.errors import AgentNotRunning, AgentStartFailed, HubStopping
from trunkline.session.services import Limits


def test_an_agent_that_comes_back_gets_its_mode_and_options_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_mode("plan", by="ann")
        await session.settings.set_config("model", "large", by="ann")
        ScriptedDriver.modes_of_new = msgspec.Raw(b'{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}')
        stage.driver.die()
        await stage.send()
        await stage.until(lambda: len(stage.drivers) == 2 and bool(stage.driver.known_call("prompt")))
        told = [what[0] for what in stage.driver.told]
        assert told == ["start", "mode", "config", "prompt"], "before the prompt, so that nothing runs in the wrong mode"
        assert session.view().mode == "plan"

    try:
        run(scenario())
    finally:
        ScriptedDriver.modes_of_new = None


def test_an_agent_started_for_a_mode_is_stopped_when_nobody_uses_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(agent_idle_stop=0.05))
        session = await stage.open()
        await stage.until(lambda: not session.agent.running)
        await session.settings.set_mode("plan", by="ann")
        assert session.agent.running
        await stage.until(lambda: not session.agent.running)

    run(scenario())


def test_whoever_needs_the_agent_waits_for_the_same_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        link = stage.session.agent._link
        await asyncio.gather(link.ensure(), link.ensure(), link.ensure())
        assert len(stage.drivers) == 1 and link.running

    run(scenario())


def test_an_agent_that_is_being_stopped_is_waited_for_before_the_next_one_comes(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        link, first = stage.session.agent._link, stage.driver
        stopping = link.stop_soon()
        assert not link.running
        with pytest.raises(AgentNotRunning):
            _ = link.driver
        await link.ensure()
        assert stopping.done() and first.known_call("stop") and stage.driver is not first and link.running

    run(scenario())


def test_a_start_that_fails_leaves_no_agent_behind_and_the_next_one_may_succeed(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        link = stage.session.agent._link

        def broken() -> ScriptedDriver:
            driver = stage._make_driver(stage.session)
            driver.refuses_to_start = AgentStartFailed("no such program")
            return driver

        works, link._make_driver = link._make_driver, broken
        with pytest.raises(AgentStartFailed, match="no such program"):
            await link.ensure()
        assert not link.running and stage.driver.known_call("stop")
        link._make_driver = works
        await link.ensure()
        assert link.running

    run(scenario())


def test_a_closed_line_starts_no_agent(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        link = stage.session.agent._link
        await link.close()
        with pytest.raises(HubStopping):
            await link.ensure()
        assert stage.drivers == []

    run(scenario())


def test_the_agent_is_read_no_more_while_there_is_a_reason_and_an_old_one_is_left_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        pressure = session._recorder.backpressure
        pressure.hold("journal")
        assert _paused(stage) == [True]
        pressure.let_go("journal")
        await session.agent._link.stop()
        pressure.hold("journal")
        assert _paused(stage) == [False], "nobody reads it any more"
        await session.agent._link.ensure()
        pressure.hold("turn")
        assert _paused(stage) == [False, True]

    run(scenario())


def _paused(stage: Stage) -> list[bool]:
    return [driver.paused for driver in stage.drivers]
