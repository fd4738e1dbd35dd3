"""A lease: one has it, the holder knows when it has it no more, and another goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.aio import eventually, loop_turns, run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import Clock, following, make_tables, two_nodes
from tests.tooling.nats import NatsServer
from trunkline.cluster import subjects
from trunkline.cluster.tables.lease import Lease
from trunkline.cluster.tables.table import Table

KEY = "notices"


class Worker:
    """Does nothing, whenever it may."""

    def __init__(self, table: Table, name: str, *, ttl_s: float = 2.0, clock: Clock | None = None) -> None:
        self.lease = Lease(table, KEY, name.encode(), ttl_s=ttl_s) if clock is None else Lease(
            table, KEY, name.encode(), ttl_s=ttl_s, clock=clock)
        self.working = False
        self.begun = 0

    async def work(self) -> None:
        self.working = True
        self.begun += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.working = False

    @asynccontextmanager
    async def taking_part(self) -> AsyncIterator[asyncio.Task[None]]:
        task = asyncio.create_task(self.lease.hold(self.work))
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait([task])


def test_one_of_two_has_it_and_when_it_stops_the_other_goes_on_at_once(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            first, second = Worker(one, "one", ttl_s=3600), Worker(two, "two", ttl_s=3600)
            async with second.taking_part():
                async with first.taking_part():
                    await eventually(lambda: first.working or second.working)
                    assert first.working != second.working
                    had = first if first.working else second
                    if had is second:
                        return  # it came first, and nothing is left to be seen
                await eventually(lambda: second.working)  # an hour before the lease would have ended
                assert second.lease.is_held and not first.lease.is_held

    run(go())


def test_one_that_somebody_wrote_to_last_for_ever_is_taken(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (thief, two):
            await thief.put(KEY, b"mine for ever")
            worker = Worker(two, "two", ttl_s=0.5)
            async with worker.taking_part():
                await eventually(lambda: worker.working)

    run(go())


def test_when_the_holder_dies_another_has_it_after_its_time(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url, node="two") as theirs:
            await make_tables(theirs)
            async with following(theirs, subjects.STATE) as two:
                second = Worker(two, "two")
                async with connected(nats.url, node="one") as ours, following(ours, subjects.STATE) as one:
                    first = Worker(one, "one")
                    async with first.taking_part():
                        await eventually(lambda: first.working)
                        async with second.taking_part():
                            await loop_turns()
                            assert not second.working
                            await ours.close()  # what it holds it cannot give back
                            await eventually(lambda: second.working)
                            assert not first.working and not first.lease.is_held

    run(go())


def test_a_holder_that_cannot_renew_stops_before_the_servers_would_give_it_away(nats: NatsServer) -> None:
    clock = Clock()

    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            async with following(connection, subjects.STATE) as table:
                worker = Worker(table, "one", ttl_s=10, clock=clock)
                async with worker.taking_part():
                    await eventually(lambda: worker.working)
                    await asyncio.wait_for(worker.lease.held(), 1)
                    clock.now += 7.9
                    assert worker.lease.is_held
                    clock.now += 0.2  # as after a freeze: nothing ran meanwhile
                    waiting = asyncio.create_task(worker.lease.held())
                    await loop_turns()
                    assert not waiting.done()
                    waiting.cancel()

    run(go())


def test_a_holder_whose_lease_is_anothers_stops_and_tries_again(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            worker = Worker(one, "one", ttl_s=1)
            async with worker.taking_part():
                await eventually(lambda: worker.working)
                await two.drop(KEY)
                await two.create(KEY, b"two", ttl_s=1)
                await eventually(lambda: not worker.working)
                await eventually(lambda: worker.working and worker.begun == 2)

    run(go())
