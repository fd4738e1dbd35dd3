"""Faults at random under load: three servers that die and freeze, an owner that ships, a gateway that follows.

Rule: what goes wrong depends on a seed, which a failure names. ``CLUSTER_ROUNDS`` makes it longer.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import Owner, owner, set_up, shipped_seqs
from tests.journal.samples import entries
from tests.tooling.nats import NatsCluster
from trunkline.cluster.reading.follow import SessionFollower
from trunkline.cluster.reading.reader import StreamReader

ROUNDS = int(os.environ.get("CLUSTER_ROUNDS", "6"))
SESSIONS = [f"ses_{number}" for number in range(10)]
WITHIN_S = 60.0


class Writers:
    """Sessions that say something all the time."""

    def __init__(self, box: Owner) -> None:
        self.box = box
        self.last = dict.fromkeys(SESSIONS, 0)
        self.stopped = False

    async def run(self) -> None:
        while not self.stopped:
            for name in SESSIONS:
                first = self.last[name] + 1
                self.last[name] = first + 1
                await self.box.commit(name, entries(first, first + 1, size=200))
            await asyncio.sleep(0.01)


@asynccontextmanager
async def followed(urls: tuple[str, ...]) -> AsyncIterator[dict[str, list[int]]]:
    """What readers at another node get of each session."""
    got: dict[str, list[int]] = {name: [] for name in SESSIONS}
    async with connected(*urls, node="web") as web, AsyncExitStack() as stack:
        reader = StreamReader(web, lambda _: "box")
        for name in SESSIONS:
            follower = SessionFollower(web, reader, "box", name, 0,
                                       on_entries=lambda found, name=name: got[name].extend(each.seq for each in found))  # type: ignore[misc]
            await follower.start()
            stack.push_async_callback(follower.close)
        yield got


async def hurt(servers: NatsCluster, dice: random.Random) -> str:
    """Do something to the servers, and mend it."""
    what = dice.choice(["kill one", "kill one", "end one", "kill two", "freeze one"])
    some = dice.sample(servers.servers, 2 if what == "kill two" else 1)
    for server in some:
        if what == "freeze one":
            server.freeze()
        else:
            server.kill(signal.SIGTERM if what == "end one" else signal.SIGKILL)
    await asyncio.sleep(dice.uniform(0.5, 3.0))
    for server in some:
        if what == "freeze one":
            server.thaw()
        else:
            server.start()
    for server in some:
        await asyncio.to_thread(server.wait_ready)
    return what


async def all_shipped(box: Owner, name: str, last: int) -> list[int]:
    """What the stream has of a session; a replica that was away may need a moment to have the end."""
    async with asyncio.timeout(WITHIN_S):
        while not (found := await shipped_seqs(box.connection, name)) or found[-1] < last:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.1)
    return found


@pytest.mark.slow
def test_nothing_is_lost_nothing_comes_twice_and_all_is_in_order(three: NatsCluster) -> None:
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)

    async def go() -> None:
        await set_up(*three.urls)
        async with owner(*three.urls) as box, followed(three.urls) as got:
            writers = Writers(box)
            writing = asyncio.create_task(writers.run())
            done = []
            for _ in range(ROUNDS):
                await asyncio.sleep(0.5)
                done.append(await hurt(three, dice))
            writers.stopped = True
            await writing
            for name, last in writers.last.items():
                await box.shipper.shipped(name, last)
                assert await all_shipped(box, name, last) == list(range(1, last + 1)), (seed, done, name)
            async with asyncio.timeout(WITHIN_S):
                while any(len(got[name]) < last for name, last in writers.last.items()):  # noqa: ASYNC110 - nobody tells of it
                    await asyncio.sleep(0.05)
            assert got == {name: list(range(1, last + 1)) for name, last in writers.last.items()}, (seed, done)

    run(go(), timeout_s=60 + 25 * ROUNDS)
