"""The line to a session's agent: started when it is needed, kept while it is used, stopped when it is not.

Rule 1: at most one agent process per session; one that is being stopped is waited for, and nobody can call the stopping off.
Rule 2: starting is done once; whoever needs the agent meanwhile waits for the same start.
Rule 3: an agent comes back to its session only if no other program has it: looked at right before it is started.
Rule 4: how the agent came (new, resumed, loaded) is written down before anything it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from trunkline.agents.pid_files import PidFiles
from trunkline.errors import AgentError, AgentNotRunning, AgentStartFailed, HubStopping, Invalid
from trunkline.session.driver.base import Driver, Started
from trunkline.session.interpret.lifecycle import environment_of
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.project import Surroundings, look_around

STOP_AGAIN_S = 0.2


class AgentLink:
    """Holds the driver of one session."""

    def __init__(self, recorder: Recorder, make_driver: Callable[[], Driver], pids: PidFiles, workspace: Workspace,
                 check_free: Callable[[], Awaitable[None]]) -> None:
        """``check_free`` raises where another program has the session that the agent is to come back to."""
        self._recorder = recorder
        self._workspace = workspace
        self._make_driver = make_driver
        self._pids = pids
        self._check_free = check_free
        self._driver: Driver | None = None
        self._half_started: Driver | None = None
        self._starting: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._stopping_late: asyncio.Task[None] | None = None
        self._died_early = False
        self._closed = False
        self._around: Surroundings | None = None

    @property
    def running(self) -> bool:
        """Whether the agent is up and has its session open."""
        return self._driver is not None and self._stopping is None

    @property
    def driver(self) -> Driver:
        """The running agent's driver."""
        if self._driver is None or self._stopping is not None:
            raise AgentNotRunning("the agent is not running; it starts with the next prompt")
        return self._driver

    def refuse(self, request_id: str, reason: str) -> None:
        """Answer whoever just asked that nobody can be; it may still be opening its session."""
        driver = self._driver or self._half_started
        if driver is not None:
            driver.refuse(request_id, reason)

    async def ensure(self, *, adopt: bool = False) -> None:
        """The agent runs, or is started now: with its old session where it can; with ``adopt`` with that one or not at all."""
        if self._closed:
            raise HubStopping("the session is being closed")
        while self._stopping is not None:
            # Two agents on one store corrupt it: the old one is gone before the new one comes.
            await asyncio.shield(self._stopping)
        if self._driver is not None:
            return
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(adopt))
            self._starting.add_done_callback(_noted)
        await asyncio.shield(self._starting)

    async def read_to_end(self) -> None:
        """Follow a file no more, once all that it holds now is read: as after a restart, from where it was stored to be."""
        await self.stop()
        if self._closed:
            raise HubStopping("the session is being closed")
        driver = self._make_driver()
        self._recorder.backpressure.attach(driver)
        try:
            await driver.start(self._recorder.fold.agent_session_id)
        finally:
            self._recorder.backpressure.detach()
            await driver.stop()

    async def stop(self) -> None:
        """Stop the agent, also one that is still starting."""
        await asyncio.shield(self.stop_soon())

    def stop_soon(self, *, at_once: bool = False) -> asyncio.Task[None]:
        """Begin to stop the agent: from now on it counts as not running. ``at_once``: it had its time already."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(at_once))
        return self._stopping

    async def close(self) -> None:
        """Stop the agent for good."""
        self._closed = True
        await self.stop()

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """The process runs: put it on record before anything is sent to it."""
        await asyncio.to_thread(self._pids.record_agent, self._recorder.fold.session_id, pid, start_time, marker)
        if self._stopping is not None and self._half_started is not None:
            # It was to be stopped before there was a process.
            self._stopping_late = asyncio.create_task(self._half_started.stop())

    def lost(self) -> bool:
        """The process ended; returns whether it was at work (and not being started or stopped)."""
        if self._half_started is not None:
            self._died_early = True
        if self._driver is None:
            return False
        self.stop_soon()  # what it started, and its terminals, have to go too
        return True

    async def _stop(self, at_once: bool) -> None:
        try:
            while True:
                driver = self._driver or self._half_started
                self._forget_driver()
                if driver is not None:
                    await driver.stop(at_once=at_once)
                if self._starting is None:
                    break
                # A start that had no process yet when it was stopped may have one now.
                await asyncio.wait([self._starting], timeout=STOP_AGAIN_S)
            await asyncio.to_thread(self._pids.forget, self._recorder.fold.session_id)
        finally:
            self._stopping = None

    async def _start(self, adopt: bool) -> None:
        try:
            await self._check_free()
        except BaseException:
            self._starting = None
            raise
        driver = self._half_started = self._make_driver()
        self._recorder.backpressure.attach(driver)
        self._died_early = False
        try:
            await self._workspace.lane.run(self._workspace.settle)
            looking = self._begin_to_look()
            started = await driver.start(self._recorder.fold.agent_session_id, adopt=adopt)
            if looking is not None:
                self._around = await looking
            if self._died_early:
                raise AgentStartFailed("the agent ended as soon as it had started")
            self._driver = driver
            wanted_mode = self._recorder.fold.mode
            came_back = self._opened(started)
            if came_back:
                await self._restore_settings(driver, wanted_mode)
        except BaseException:
            self._forget_driver()
            await driver.stop()
            await asyncio.to_thread(self._pids.forget, self._recorder.fold.session_id)
            raise
        finally:
            self._starting = self._half_started = None
            if self._driver is None:
                self._recorder.backpressure.detach()

    def _begin_to_look(self) -> asyncio.Task[Surroundings] | None:
        """Look at the project while the agent starts; once in a session's life."""
        if self._recorder.fold.environment is not None:
            return None
        looking = asyncio.create_task(self._workspace.lane.run(look_around, self._recorder.fold.cwd))
        looking.add_done_callback(_noted)  # where the agent does not start, nobody asks
        return looking

    async def _restore_settings(self, driver: Driver, wanted_mode: str | None) -> None:
        """Give an agent that came back the mode and options it was given before; what it refuses is reported."""
        fold = self._recorder.fold
        try:
            if wanted_mode is not None and wanted_mode != fold.mode:
                await driver.set_mode(wanted_mode)
                self._recorder.at().conditions.keep_mode(wanted_mode)
            for config_id, value in fold.chosen_options.items():
                options = await driver.set_config(config_id, value)
                self._recorder.at().conditions.keep_options(options)
        except (AgentError, Invalid) as error:
            self._recorder.at().lifecycle.notify("warning", "The agent came back with other settings", error.message)
            if fold.mode is not None:
                self._recorder.at().conditions.mode(fold.mode, None)
        self._recorder.write()

    def _opened(self, started: Started) -> bool:
        """Write down that the agent is there, and how; returns whether it came back to a session that it had before."""
        previous = self._recorder.at().conditions.agent_opened(
            started.how, started.agent_session_id, agent_info=started.agent_info, capabilities=started.capabilities,
            modes=started.modes, config_options=started.config_options, models=started.models)
        self._write_opened(previous, started)
        self._recorder.write()
        return previous is not None

    def _write_opened(self, previous: str | None, started: Started) -> None:
        fold, interpret = self._recorder.fold, self._recorder.at()
        environment = environment_of(fold, self._around.project, self._around.runtime) if self._around else fold.environment
        if previous is None:
            interpret.lifecycle.started(fold.agent, fold.model.id if fold.model else None, fold.cwd, environment)
        else:
            interpret.lifecycle.resumed(previous, started.how, agentSessionId=started.agent_session_id)
        if environment is not None:
            interpret.lifecycle.environment(environment_of(fold, environment.project, environment.runtime))
        interpret.conditions.settle()

    def _forget_driver(self) -> None:
        """It counts as not running; one that is still starting is read on until its start is over."""
        self._driver = None
        if self._half_started is None:
            self._recorder.backpressure.detach()


def _noted(task: asyncio.Task[Any]) -> None:
    """Whoever waits for it has its error; where nobody waits any more, it is nobody's fault."""
    if not task.cancelled():
        task.exception()
