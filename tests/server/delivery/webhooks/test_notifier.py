"""Webhooks of a real hub with the demo agent: told when nobody watches, and never twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.delivery.receiver import HandClock, Receiver, receiver
from tests.server.site import Site, site
from trunkline.hub import Decision, Session
from trunkline.server.delivery.webhooks.notifier import LOOK_AGAIN_S, Notifier
from trunkline.server.delivery.webhooks.sender import WebhookSender
from trunkline.session.fold.caps import Caps

PAGE = "https://hub.example"


class Scene:
    """A served hub, a receiver, and the notifier between them."""

    def __init__(self, hub: Site, there: Receiver, clock: HandClock, sender: WebhookSender) -> None:
        self.hub = hub
        self.there = there
        self.clock = clock
        self.sender = sender

    async def prompt(self, session: Session, content: str) -> None:
        """Send a prompt, without staying to watch."""
        sent = await self.hub.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": content})
        assert sent.status == 202

    async def asked(self, session: Session) -> str:
        """The approval that the session waits for."""
        while not session.view().pending_approvals:
            await session.feed.wait(session.feed.last_seq)
        return session.view().pending_approvals[0].request_id

    async def idle(self, session: Session) -> None:
        """Wait for the end of the turn."""
        while session.busy or session.view().status not in ("idle", "error"):
            await session.feed.wait(session.feed.last_seq)


@asynccontextmanager
async def scene(folder: Path, *rules: dict[str, Any]) -> AsyncIterator[Scene]:
    async with site(folder) as hub, receiver() as there:
        clock = HandClock()
        sender = WebhookSender(clock=clock)
        hooks = tuple(there.hook(**rule) for rule in rules or ({},))
        notifier = Notifier(hub.hub, hub.app.parts.streams.watching, hooks, PAGE, clock=clock, sender=sender)
        following = asyncio.create_task(notifier.run())
        try:
            yield Scene(hub, there, clock, sender)
        finally:
            following.cancel()
            await asyncio.wait((following,))


def test_an_approval_that_nobody_watches_is_told_with_its_link(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path) as it:
            session = await it.hub.session()
            await it.prompt(session, "/ask")
            got = (await it.there.got()).json()
            request_id = await it.asked(session)
            assert (got["type"], got["data"]["requestId"], got["data"]["sessionId"]) == ("approval", request_id, session.id)
            assert got["data"]["link"] == f"{PAGE}/#/sessions/{session.id}/approvals/{request_id}"
            assert "token" not in got["data"]["link"] and "code=" not in got["data"]["link"]
            await session.approvals.decide(request_id, Decision(decision="allow"), by="test")
            assert (await it.there.got()).json()["type"] == "finished"
            await it.sender.settled()
            assert it.there.arrived.empty()

    run(check())


def test_a_turn_that_fails_is_told_as_an_error_and_not_as_finished(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path) as it:
            session = await it.hub.session()
            await it.prompt(session, "/crash")
            got = (await it.there.got()).json()
            assert (got["type"], got["data"]["code"]) == ("error", "agent_exited")
            await it.idle(session)
            await it.sender.settled()
            assert it.there.arrived.empty()

    run(check())


def test_who_streams_the_turn_has_seen_its_end(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path) as it:
            watched, alone = await it.hub.session(), await it.hub.session()
            for _ in range(5):
                await it.hub.turn(watched, "/echo hello")
            await it.prompt(alone, "/echo hello")
            assert (await it.there.got()).json()["data"]["sessionId"] == alone.id
            await it.sender.settled()
            assert it.there.arrived.empty()

    run(check())


def test_who_left_with_the_end_of_the_turn_has_seen_it_however_late_the_notifier_hears(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        async with scene(tmp_path) as it:
            watched, alone = await it.hub.session(), await it.hub.session()
            may_read, read = asyncio.Event(), it.hub.hub.everything.read

            async def late(after: int) -> Any:
                await may_read.wait()
                return await read(after=after)

            monkeypatch.setattr(it.hub.hub.everything, "read", late)
            await it.hub.turn(watched, "/echo hello")
            await it.idle(watched)
            assert not it.hub.app.parts.streams.watching(watched.id)
            await it.prompt(alone, "/echo hello")
            may_read.set()
            assert (await it.there.got()).json()["data"]["sessionId"] == alone.id
            await it.prompt(watched, "/echo after they left")
            assert (await it.there.got()).json()["data"]["sessionId"] == watched.id

    run(check())


def test_an_approval_is_told_only_after_it_has_waited_as_long_as_the_rule_says(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path, {"after_s": 30.0, "events": ("approval",)}) as it:
            session = await it.hub.session()
            await it.prompt(session, "/ask")
            await session.approvals.decide(await it.asked(session), Decision(decision="allow"), by="test")
            await it.idle(session)
            assert await it.clock.pass_one() == 30.0
            await it.prompt(session, "/ask")
            request_id = await it.asked(session)
            assert await it.clock.pass_one() == 30.0
            got = (await it.there.got()).json()
            assert got["data"]["requestId"] == request_id  # the first one was answered in time, and never told

    run(check())


def test_an_approval_that_somebody_watches_is_told_when_they_have_left_it_open(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path, {"events": ("approval",)}) as it:
            session = await it.hub.session()
            watcher = it.hub.open("GET", f"/sessions/{session.id}/packets")
            await watcher.start()
            await it.prompt(session, "/ask")
            request_id = await it.asked(session)
            for _ in range(3):
                assert await it.clock.pass_one() == LOOK_AGAIN_S
            assert it.there.arrived.empty()
            await watcher.leave()
            await it.clock.pass_one()
            assert (await it.there.got()).json()["data"]["requestId"] == request_id

    run(check())


@pytest.mark.parametrize(("types", "sees"), [("tool:", False), ("message:,tool:start", False), ("approval:", True), ("", True)])
@pytest.mark.parametrize("where", ["session", "hub"])
def test_a_reader_who_is_never_shown_an_approval_does_not_hold_it_back(
    tmp_path: Path, types: str, sees: bool, where: str,
) -> None:
    async def check() -> None:
        async with scene(tmp_path, {"events": ("approval",)}) as it:
            session = await it.hub.session()
            path = f"/sessions/{session.id}/events" if where == "session" else "/events"
            watcher = it.hub.open("GET", f"{path}?types={types}")
            await watcher.start()
            await it.prompt(session, "/ask")
            request_id = await it.asked(session)
            if sees:
                assert await it.clock.pass_one() == LOOK_AGAIN_S
                assert it.there.arrived.empty()
            else:
                assert (await it.there.got()).json()["data"]["requestId"] == request_id
            await watcher.leave()

    run(check())


def test_a_rule_narrows_to_its_agents_and_events_and_each_rule_is_told_once(tmp_path: Path) -> None:
    async def check() -> None:
        rules = ({"agents": ("other",)}, {"events": ("error", "cap")}, {"events": ("finished",), "agents": ("demo",)})
        async with scene(tmp_path, *rules) as it:
            session = await it.hub.session()
            await it.prompt(session, "/echo one")
            assert (await it.there.got()).json()["type"] == "finished"
            await it.prompt(session, "/echo two")
            await it.there.got()
            await it.sender.settled()
            assert it.there.arrived.empty()

    run(check())


def test_a_cap_that_is_reached_is_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path, {"events": ("cap",)}) as it:
            session = await it.hub.session()
            await it.hub.turn(session, "/echo one")
            await session.settings.set_limits(Caps(turns=1), None, by="test")
            got = (await it.there.got()).json()
            assert (got["type"], got["data"]["cap"], got["data"]["share"], got["data"]["limit"]) == ("cap", "turns", 1.0, 1)

    run(check())


def test_a_receiver_that_hangs_holds_no_session_up(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path) as it:
            it.there.silent = True
            session = await it.hub.session()
            for number in range(3):
                await it.prompt(session, f"/echo {number}")
                await it.there.got()
                await it.idle(session)
            assert session.fold.turns == 3

    run(check())


def test_what_belongs_to_a_deleted_session_is_not_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with scene(tmp_path, {"after_s": 9.0, "events": ("approval",)}) as it:
            gone, kept = await it.hub.session(), await it.hub.session()
            for session in (gone, kept):
                await it.prompt(session, "/ask")
                await it.asked(session)
            await it.hub.hub.delete(gone.id)
            assert [await it.clock.pass_one(), await it.clock.pass_one()] == [9.0, 9.0]
            assert (await it.there.got()).json()["data"]["sessionId"] == kept.id
            await it.sender.settled()
            assert it.there.arrived.empty()

    run(check())


def test_the_notifier_ends_with_its_hub(tmp_path: Path) -> None:
    async def check() -> None:
        async with site(tmp_path) as hub, receiver() as there:
            notifier = Notifier(hub.hub, hub.app.parts.streams.watching, (there.hook(),), PAGE)
            following = asyncio.create_task(notifier.run())
        await following

    run(check())
