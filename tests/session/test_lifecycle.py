"""How a session begins, comes back after a crash, and ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import ScriptedDriver, Stage, text
from trunkline.errors import HubRestarted, HubStopping, TrunklineError
from trunkline.session.driver.base import Started
from trunkline.session.fold import Fold, checkpoint, restore
from trunkline.session.session import Session


def test_a_crash_ends_the_turn_and_its_asks_without_a_word_of_running(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        error: TrunklineError = HubRestarted("the hub was restarted")
        again = Session(restore(checkpoint(session.fold)), stage.services, lambda _: stage.driver)
        again.lifecycle.recover(error)
        await again.snapshot()
        told = [msgspec.json.decode(entry.event) for entry in await again.feed.read(after=session.fold.seq)]
        moves = [(event["to"], event["reason"]) for event in told if event["type"] == "session:status_changed"]
        assert moves == [("error", "hub_restarted")]
        (resolved,) = [event for event in told if event["type"] == "approval:resolved"]
        assert resolved["reason"] == "hub_restarted"

    run(scenario())


def test_closing_ends_the_turn_with_an_error_and_every_reader(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        waiting = asyncio.create_task(session.feed.wait(10_000))
        await asyncio.sleep(0)
        await session.lifecycle.close(HubStopping("the hub was stopped"))
        await waiting
        assert session.feed.closed
        stored = await stage.journal.read("ses-1", after=0)
        errors = [msgspec.json.decode(entry.packet) for entry in stored if entry.packet and b'"type":"error"' in entry.packet]
        assert [error["details"]["code"] for error in errors] == ["hub_stopping"]

    run(scenario())


def test_a_new_session_begins_with_its_title_and_mode_and_then_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.session.lifecycle.open(env={"A": "b"}, mode="plan", title="A title", by="ann")
        view = stage.session.view()
        assert (view.status, view.title, view.mode) == ("idle", "A title", "plan")
        assert stage.session.env == {"A": "b"}
        assert stage.driver.told == [("start", None), ("mode", "plan")]

    run(scenario())


def test_what_an_agent_sends_of_a_session_that_it_had_is_history_and_no_turn(tmp_path: Path) -> None:
    class Remembering(ScriptedDriver):
        async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
            self.say(text("hello", "user_message_chunk"), text("good day"))
            return await super().start(previous, adopt=adopt)

    async def scenario() -> None:
        stage = Stage(tmp_path)
        fold = Fold(session_id="ses-1", agent="scripted", cwd=str(tmp_path), created_at=1, updated_at=1)
        fold.agent_session_id = "theirs"
        drivers: list[ScriptedDriver] = []

        def driver(session: Session) -> ScriptedDriver:
            drivers.append(Remembering(session))
            return drivers[-1]

        session = Session(fold, stage.services, driver)
        await session.lifecycle.adopt(by="ann")
        assert drivers[0].told == [("adopt", "theirs")]
        told = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
        attached = [event for event in told if event["type"] == "custom" and event["eventName"] == "session_attached"]
        assert [event["data"] for event in attached] == [{"agentSessionId": "theirs"}]
        assert (session.view().status, session.view().turn) == ("idle", None)
        assert session.fold.text is None, "what was replayed is closed"

    run(scenario())


def test_the_words_of_a_message_that_was_open_are_read_again_after_a_restart(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(text("good "), text("day"))
        await session.snapshot()
        again = Session(restore(checkpoint(session.fold)), stage.services, lambda _: stage.driver)
        assert again.fold.text is not None and again.fold.text.parts == []
        await again.lifecycle.reread_open_text(stage.journal)
        assert b"".join(again.fold.text.parts) == b"good day"

    run(scenario())


def test_whatever_is_wanted_of_a_closed_session_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.lifecycle.close(HubStopping("the hub was stopped"))
        assert not session.agent.running and stage.driver.known_call("stop")
        with pytest.raises(HubStopping):
            session.turns  # noqa: B018 - to look at it is to ask for it

    run(scenario())
