"""Webhooks and pushes of a cluster: sent by one of its nodes, and by another where that one stopped."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import following, make_tables
from tests.server.delivery.receiver import Receiver, receiver
from tests.server.site import Site, site
from tests.tooling.nats import NatsServer
from tests.tooling.push_service import Browser, PushService
from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.tables.lease import Lease
from trunkline.cluster.tables.table import Table
from trunkline.errors import Conflict
from trunkline.server.delivery.once import LEASE, PUSH, WEBHOOKS, SentOnce
from trunkline.server.delivery.shared_records import SharedRecord, claim_key
from trunkline.server.delivery.webhooks.ledger import key_of, log
from trunkline.server.delivery.webhooks.notices import notice_of
from trunkline.server.delivery.webhooks.rules import Webhook
from trunkline.server.delivery.webhooks.sender import ROOM, id_of

TTL_S = 2.0
PUSH_TO = (ipaddress.ip_network("127.0.0.0/8"),)


class Sender:
    """One node that takes part in sending."""

    def __init__(self, hub: Site, source: Site, connection: Connection, table: Table) -> None:
        self.connection = connection
        self.subscriptions = hub.app.parts.subscriptions
        self._table = table
        self.lease = Lease(table, LEASE, connection.node.encode(), ttl_s=TTL_S)
        self.task = asyncio.create_task(SentOnce(hub.app.parts, source.hub, table, self.lease).run())

    async def begun(self, key: str = WEBHOOKS) -> None:
        """Somebody has written down from where on all is told."""
        await eventually(lambda: (row := self._table.get(key)) is not None and row.value)

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def die(self) -> None:
        """It gives nothing back, and writes nothing down any more."""
        await self.connection.close()
        await self.stop()


@asynccontextmanager
async def sender(nats: NatsServer, folder: Path, name: str, source: Site, hook: Webhook) -> AsyncIterator[Sender]:
    """A gateway that owns nothing: the sessions are the source's, and nobody watches them here."""
    async with connected(nats.url, node=name) as connection:
        await make_tables(connection)
        async with site(folder / name, webhooks=(hook,)) as hub, following(connection, subjects.STATE) as table:
            made = Sender(hub, source, connection, table)
            try:
                yield made
            finally:
                await made.stop()


async def told_of(hub: Site, hook: Webhook) -> list[str]:
    """The ids of all that is to be told, in order."""
    found = await hub.hub.everything.read(after=0, limit=100_000)
    return [id_of(key_of(hook), session_id, entry.seq) for session_id, entry in found
            if (notice := notice_of(session_id, entry)) is not None and notice.occasion in hook.events]


def arrived(there: Receiver) -> list[str]:
    return [there.arrived.get_nowait().headers["webhook-id"] for _ in range(there.arrived.qsize())]


def test_each_notice_is_sent_by_one_of_two(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with receiver() as there, site(tmp_path / "source") as hub:
            hook = there.hook(events=("finished",))
            async with sender(nats, tmp_path, "one", hub, hook) as one, sender(nats, tmp_path, "two", hub, hook) as two:
                await one.begun()
                session = await hub.session()
                for number in range(5):
                    await hub.turn(session, f"/echo {number}")
                await eventually(lambda: there.arrived.qsize() >= 5)
                assert sorted(arrived(there)) == sorted(await told_of(hub, hook))  # each is a connection of its own
                assert one.lease.is_held != two.lease.is_held
                assert there.arrived.empty()

    run(go())


def test_when_the_sender_dies_another_goes_on_and_nothing_is_lost(nats: NatsServer, tmp_path: Path) -> None:
    """What was answered and not written down comes twice, under one id; at most what one webhook has on its way."""
    async def go() -> None:
        async with receiver() as there, site(tmp_path / "source") as hub:
            hook = there.hook(events=("finished",))
            async with sender(nats, tmp_path, "one", hub, hook) as one:
                await one.begun()
                session = await hub.session()
                async with sender(nats, tmp_path, "two", hub, hook) as two:
                    for number in range(4):
                        await hub.turn(session, f"/echo {number}")
                    await eventually(lambda: there.arrived.qsize() >= 2)
                    await one.die()
                    for number in range(4):
                        await hub.turn(session, f"/echo nobody sends {number}")
                    await eventually(lambda: two.lease.is_held)
                    await hub.turn(session, "/echo last")
                    expected = await told_of(hub, hook)
                    got: list[str] = []
                    await eventually(lambda: got.extend(arrived(there)) or set(got) >= set(expected))  # type: ignore[func-returns-value]
                    assert len(expected) == 9 and set(got) == set(expected)
                    assert len(got) - len(expected) <= min(ROOM, 4)

    run(go())


def test_what_was_owed_when_the_sender_died_is_sent_under_the_same_id(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with receiver(503) as there, site(tmp_path / "source") as hub:
            hook = there.hook(events=("finished",))
            async with sender(nats, tmp_path, "one", hub, hook) as one:
                await one.begun()
                session = await hub.session()
                await hub.turn(session, "/echo once")
                first = await there.got()
                await one.die()
                async with sender(nats, tmp_path, "two", hub, hook):
                    second = await there.got()
                assert first.headers["webhook-id"] == second.headers["webhook-id"] and first.body == second.body
                assert there.arrived.empty()

    run(go())


def test_who_lost_the_lease_makes_no_further_try(nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        async with receiver() as there, site(tmp_path / "source") as hub:
            hook = there.hook(events=("finished",))
            async with sender(nats, tmp_path, "one", hub, hook) as one:
                await one.begun()
                session = await hub.session()
                monkeypatch.setattr(type(one.lease), "is_held", property(lambda self: False))  # as after a freeze
                await hub.turn(session, "/echo held back")
                await hub.turn(session, "/echo held back too")
                assert there.arrived.empty()
                monkeypatch.undo()
                await eventually(lambda: there.arrived.qsize() >= 2)  # it was owed all the time
                assert sorted(arrived(there)) == sorted(await told_of(hub, hook))

    run(go())


@asynccontextmanager
async def pusher(nats: NatsServer, folder: Path, name: str, source: Site) -> AsyncIterator[Sender]:
    """A gateway that pushes to devices of the cluster, whose tokens count."""
    async with (connected(nats.url, node=name) as connection, site(folder / name, push_allow=PUSH_TO) as hub,
                following(connection, subjects.STATE) as table, following(connection, subjects.PUSH) as devices):
        subscriptions = hub.app.parts.subscriptions
        subscriptions._is_live = lambda token_id: True
        subscriptions.join(devices)
        vars(hub.app.parts.tokens)["scope_of"] = lambda token_id: "approve"
        made = Sender(hub, source, connection, table)
        try:
            yield made
        finally:
            await made.stop()
            await subscriptions.leave()


def test_a_push_is_sent_by_one_of_two_and_by_the_other_when_that_one_dies(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with connected(nats.url) as maker:
            await make_tables(maker)
        with PushService() as service:
            phone = Browser(service, "phone")
            asked = phone.subscription()
            async with (site(tmp_path / "source") as hub, pusher(nats, tmp_path, "one", hub) as one,
                        pusher(nats, tmp_path, "two", hub) as two):
                session = await hub.session()
                one.subscriptions.keep("t1", asked["endpoint"], **asked["keys"], kinds=("finished",))
                key = (await one.subscriptions.key()).public
                await one.subscriptions.saved()
                await one.begun(PUSH)

                words, heard = [secrets.token_hex(4) for _ in range(5)], Counter[str]()

                async def until_told(word: str) -> None:
                    await hub.turn(session, f"/echo {word}")
                    while not heard[word]:
                        pushed = await asyncio.to_thread(service.next)
                        heard.update(each for each in words if each in phone.read(pushed, key)["body"])

                for word in words[:3]:
                    await until_told(word)
                assert set(heard.values()) == {1} and service.is_quiet()
                first, second = (one, two) if one.lease.is_held else (two, one)
                await first.die()
                for word in words[3:]:
                    await until_told(word)
                assert second.lease.is_held
                assert heard.total() <= 6, "what was not written down comes again, in its own place"

    run(go())


def test_a_record_that_another_claimed_can_be_written_no_more(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            async with following(connection, subjects.STATE) as table:
                state: dict[str, Any] = {"one": 1, "two": 0}
                one = SharedRecord(await claim_key(table, "record"), int, lambda: state["one"], log)
                assert one.load() is None
                one.save_soon()
                await one.saved()
                two = SharedRecord(await claim_key(table, "record"), int, lambda: state["two"], log)
                assert two.load() == 1
                state["one"] = 7
                one.save_soon()
                with pytest.raises(Conflict):
                    await one.saved()
                two.save_soon()
                await two.saved()
                assert SharedRecord(await claim_key(table, "record"), int, lambda: 0, log).load() == 0

    run(go())
