"""A session that is held or ended while other things happen to it."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import ScriptedDriver, Stage
from trunkline.agents.process import Exit
from trunkline.errors import AgentNotRunning, AgentStartFailed, Invalid
from trunkline.session.session import Session


class SlowDriver(ScriptedDriver):
    """An agent that is never done with starting, until it is stopped or ``may_start`` is set."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.may_start = asyncio.Event()
        self.stopped = False

    async def start(self, previous: str | None, *, adopt: bool = False) -> Any:
        self.told.append(("starting",))
        await self.may_start.wait()
        if self.stopped:
            raise AgentStartFailed("it was stopped")
        return await super().start(previous, adopt=adopt)

    async def stop(self, *, at_once: bool = False) -> None:
        await super().stop()
        self.stopped = True
        for _ in range(10):  # a process takes its time to end
            await asyncio.sleep(0)
        self.may_start.set()


class SlowStage(Stage):
    """Every agent but the first is slow to start."""

    def _make_driver(self, session: Session) -> ScriptedDriver:
        self.drivers.append(SlowDriver(session) if self.drivers else ScriptedDriver(session))
        return self.drivers[-1]


async def changes(session: Session) -> list[tuple[str, str, str | None]]:
    events = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
    return [(event["from"], event["to"], event.get("reason")) for event in events if event["type"] == "session:status_changed"]


def assert_over(session: Session) -> None:
    view = session.view()
    assert (view.status, view.turn, view.queue, view.paused) == ("completed", None, [], None)
    assert not session.agent.running


def test_a_prompt_that_comes_while_a_session_is_ended_begins_afresh(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("first")
        ending = asyncio.create_task(session.turns.terminate(by="ann"))
        await asyncio.sleep(0)
        accepted = await stage.send("second", when_busy="queue")
        assert ending.done() and not accepted.queued
        await stage.until(lambda: len(stage.drivers) == 2 and bool(stage.driver.known_call("prompt")))
        assert session.view().status == "running"
        types = await stage.types()
        assert types.count("session:completed") == 1
        assert types.index("session:completed") < [index for index, kind in enumerate(types) if kind == "message:start"][-1]

    run(scenario())


def test_whatever_comes_with_an_end_the_last_end_is_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        for _ in range(5):
            await asyncio.gather(
                stage.send("one"), session.turns.terminate(by="ann"), session.turns.resume(by="bob"),
                session.turns.terminate(by="bob"),
                stage.send("two", when_busy="queue"), session.turns.pause(by="ann", interrupt=True), return_exceptions=True)
            await session.turns.terminate(by="ann")
            assert_over(session)

    run(scenario())


def test_ending_a_session_does_not_wait_for_its_agent_to_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        stage = SlowStage(tmp_path)
        session = await stage.open()
        await session.turns.terminate(by="ann")
        await stage.send("again")
        await stage.until(lambda: bool(stage.driver.known_call("starting")))
        await session.turns.terminate(by="ann")
        assert_over(session)
        gc.collect()
        assert faults == [], "that the start was cut off is nobody's fault"
        ends = [packet for packet in await stage.packets() if packet["type"] in ("prompt_response", "error")]
        assert [packet.get("stopReason") for packet in ends] == ["cancelled"]
        assert len(stage.drivers) == 2, "no agent is started for a turn that is over"

    run(scenario())


def test_a_turn_that_waits_for_the_old_agent_to_go_starts_no_new_one_once_it_is_over(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        gone = asyncio.Event()

        async def stop_slowly(*, at_once: bool = False) -> None:
            await gone.wait()

        stage.driver.stop = stop_slowly  # type: ignore[method-assign]
        stage.driver.die()
        await stage.send("while the old one goes")
        ending = asyncio.create_task(session.turns.terminate(by="ann"))
        await stage.until(lambda: session.view().turn is None)
        gone.set()
        await ending
        assert_over(session)
        assert len(stage.drivers) == 1

    run(scenario())


def test_a_resume_that_is_overtaken_by_the_end_leaves_the_session_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = SlowStage(tmp_path)
        session = await stage.open()
        await session.turns.terminate(by="ann")
        resuming = asyncio.create_task(session.turns.resume(by="bob"))
        await stage.until(lambda: len(stage.drivers) == 2)
        await session.turns.terminate(by="ann")
        with pytest.raises((AgentStartFailed, AgentNotRunning)):
            await resuming
        assert_over(session)

    run(scenario())


def test_a_prompt_that_comes_while_the_agent_comes_back_is_not_called_idle(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = SlowStage(tmp_path)
        session = await stage.open()
        await session.turns.terminate(by="ann")
        resuming = asyncio.create_task(session.turns.resume(by="bob"))
        await stage.until(lambda: len(stage.drivers) == 2)
        await stage.send("at work")
        stage.driver.may_start.set()  # type: ignore[attr-defined]
        assert await resuming
        assert session.view().status == "running"

    run(scenario())


def test_what_is_over_cannot_be_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.turns.terminate(by="ann")
        with pytest.raises(Invalid, match="the session is over"):
            await stage.execute("pause")
        assert_over(session)

    run(scenario())


def test_an_agent_that_leaves_a_held_session_leaves_it_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.turns.pause(by="ann")
        session.agent.exited(Exit(code=0), "")
        assert session.view().status == "paused"

    run(scenario())


def test_an_end_that_is_not_waited_for_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        asked = asyncio.create_task(session.turns.terminate(by="ann"))
        await asyncio.sleep(0)
        asked.cancel()
        await stage.until(lambda: session.view().status == "completed")
        assert_over(session)

    run(scenario())


def test_a_held_session_is_not_told_to_become_held_when_its_turn_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        await session.turns.pause(by="ann", interrupt=True)
        stage.driver.end("cancelled")
        packets = await stage.packets("prompt_response")
        assert [packet["type"] for packet in packets].count("prompt_response") == 1
        assert all(before != after for before, after, _ in await changes(session))
        events = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
        (ended,) = [event for event in events if event.get("eventName") == "turn_ended"]
        assert ended["data"]["stopReason"] == "cancelled" == ended["_meta"]["stopReason"]

    run(scenario())


def test_a_turn_that_ends_with_asks_open_moves_the_status_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        stage.driver.ask("req-2", toolCallId="call-2")
        await stage.packets("approval_requested", 2)
        stage.driver.end()
        await stage.packets("prompt_response")
        assert [change[:2] for change in await changes(session)][-2:] == [
            ("running", "waiting_for_approval"), ("waiting_for_approval", "idle")]

    run(scenario())
