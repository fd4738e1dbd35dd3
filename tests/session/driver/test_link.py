"""The line to an agent: one at a time, started once for all who wait, given its settings again, stopped when unused."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session import script
from tests.session.script import ScriptedDriver, Stage
from trunkline.errors import AgentNotRunning, AgentStartFailed, HubStopping
from trunkline.session.driver import link as driver_link
from trunkline.session.driver.base import Started
from trunkline.session.services import Limits
from trunkline.session.workspace import project


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


def test_the_project_is_looked_at_while_the_agent_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = threading.Event()

    def look(cwd: str) -> project.Surroundings:
        assert began.wait(20), "the agent is started meanwhile"
        return project.look_around(cwd)

    class Starting(ScriptedDriver):
        async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
            began.set()
            return await super().start(previous, adopt=adopt)

    async def scenario() -> None:
        stage = Stage(tmp_path)
        (tmp_path / "go.mod").write_text("module x")
        monkeypatch.setattr(driver_link, "look_around", look)
        monkeypatch.setattr(script, "ScriptedDriver", Starting)
        session = await stage.open()
        environment = session.fold.environment
        assert environment is not None and environment.project.path == session.fold.cwd

    run(scenario())


def test_a_start_that_fails_does_not_wait_for_the_look_at_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def look(cwd: str) -> project.Surroundings:
        over.wait(20)
        raise OSError("the disk is gone")

    class Failing(ScriptedDriver):
        async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
            raise AgentStartFailed("it could not be started")

    async def scenario() -> None:
        stage = Stage(tmp_path)
        monkeypatch.setattr(driver_link, "look_around", look)
        monkeypatch.setattr(script, "ScriptedDriver", Failing)
        with pytest.raises(AgentStartFailed):
            await stage.open()
        over.set()

    run(scenario())
