"""What is owed to webhooks is kept over a stop, is told once, and is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.aio import run
from tests.server.delivery.receiver import HandClock, Receiver, receiver
from tests.server.site import Site, site
from trunkline.server.delivery.webhooks import ledger
from trunkline.server.delivery.webhooks.ledger import Ledger, Owed, key_of
from trunkline.server.delivery.webhooks.notifier import Notifier
from trunkline.server.delivery.webhooks.sender import WebhookSender
from trunkline.server.sse import Streams

FINISHED = {"events": ("finished",)}


def owed(number: int = 1) -> Owed:
    return Owed(id=f"msg_{number}", hook="h", session_id="s", pos=number)


class Patient(HandClock):
    """Says when somebody waits for the next try."""

    def __init__(self) -> None:
        super().__init__()
        self._asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self._asleep.set()
        await super().sleep(seconds)

    async def slept(self) -> None:
        await self._asleep.wait()


class Watched(Ledger):
    """Says when something is owed no more."""

    def __init__(self, path: Path, settled: asyncio.Event) -> None:
        super().__init__(path)
        self._settled = settled

    def settle(self, delivery_id: str) -> None:
        super().settle(delivery_id)
        self._settled.set()


@asynccontextmanager
async def following(hub: Site, there: Receiver, path: Path, clock: HandClock, settled: asyncio.Event | None = None,
                    **rule: Any) -> AsyncIterator[WebhookSender]:
    """A notifier that follows the hub for a while, as one run of the hub would."""
    sender = WebhookSender(clock=clock)
    hook = there.hook(**{**FINISHED, **rule})
    notifier = Notifier(hub.hub, Streams().watching, (hook,), "https://hub.example", clock=clock, sender=sender,
                        ledger=Watched(path, settled or asyncio.Event()))
    task = asyncio.create_task(notifier.run())
    await asyncio.sleep(0)
    try:
        yield sender
    finally:
        task.cancel()
        await asyncio.wait([task])


def stored(path: Path) -> list[Any]:
    return list(msgspec.json.decode(path.read_bytes())["owed"])


def test_a_delivery_that_was_between_two_tries_goes_on_under_its_id_and_is_not_repeated(tmp_path: Path) -> None:
    async def check() -> None:
        path = tmp_path / "webhooks.json"
        async with site(tmp_path) as hub, receiver(503) as there:
            session = await hub.session()
            clock = Patient()
            async with following(hub, there, path, clock):
                await hub.turn(session, "/echo one")
                first = await there.got()
                await clock.slept()
            assert [one["session_id"] for one in stored(path)] == [session.id]
            async with following(hub, there, path, HandClock()) as sender:
                second = await there.got()
                await sender.settled()
            assert first.headers["webhook-id"] == second.headers["webhook-id"]
            assert (first.body, stored(path)) == (second.body, [])
            async with following(hub, there, path, HandClock()):
                await hub.turn(session, "/echo two")
                assert (await there.got()).headers["webhook-id"] != first.headers["webhook-id"]
            assert there.arrived.empty()

    run(check())


def test_what_happened_while_nobody_followed_is_heard_afterwards(tmp_path: Path) -> None:
    async def check() -> None:
        path = tmp_path / "webhooks.json"
        async with site(tmp_path) as hub, receiver() as there:
            session = await hub.session()
            await hub.turn(session, "/echo before there was a file")
            async with following(hub, there, path, HandClock()) as sender:
                await hub.turn(session, "/echo one")
                await there.got()
                await sender.settled()
            await hub.turn(session, "/echo two")
            async with following(hub, there, path, HandClock()) as sender:
                await there.got()
                await sender.settled()
            assert there.arrived.empty()

    run(check())


def test_what_is_older_than_a_day_or_of_a_webhook_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    async def check() -> None:
        path = tmp_path / "webhooks.json"
        async with site(tmp_path) as hub, receiver(503, 503) as there:
            session = await hub.session()
            for rule, late in (({}, 2 * ledger.AGE_MOST_S), ({"agents": ("other",)}, 0.0)):
                async with following(hub, there, path, HandClock()):
                    await hub.turn(session, "/echo one")
                    await there.got()
                assert len(stored(path)) == 1
                clock = HandClock()
                clock.time = session.fold.updated_at / 1e6 + late
                settled = asyncio.Event()
                async with following(hub, there, path, clock, settled, **rule):
                    await settled.wait()
                assert stored(path) == []
            assert there.arrived.empty()

    run(check())


def test_a_file_of_another_journal_or_a_broken_one_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "webhooks.json"
    path.write_bytes(b"{")
    assert Ledger(path).open(7) == (7, [])
    path.write_bytes(msgspec.json.encode({"position": 9, "owed": [owed(3)]}))
    assert Ledger(path).open(7) == (7, [])
    path.write_bytes(msgspec.json.encode({"position": 5, "owed": [owed(3), owed(8)]}))
    assert Ledger(path).open(7) == (5, [owed(3)])


def test_it_is_bounded_private_and_shows_nothing_of_the_webhook(tmp_path: Path) -> None:
    async def check() -> None:
        path = tmp_path / "webhooks.json"
        book = Ledger(path)
        taken = [book.owe(owed(number)) for number in range(ledger.OWED_MOST + 1)]
        assert taken == [True] * ledger.OWED_MOST + [False]
        await book.saved()
        assert (len(stored(path)), path.stat().st_mode & 0o777) == (ledger.OWED_MOST, 0o600)
        book.settle("msg_0")
        await book.saved()
        assert len(stored(path)) == ledger.OWED_MOST - 1

    run(check())
    hook = Receiver().hook(url="https://hooks.example/secret-path")
    assert "secret" not in key_of(hook)
    assert key_of(hook) != key_of(Receiver().hook(url="https://hooks.example/secret-path", events=("cap",)))
