"""What happens in all sessions: in the stream's order, each once, whatever was not heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner
from tests.journal.samples import entries, entry
from tests.tooling.nats import NatsServer
from trunkline.cluster import wire
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.showing import everything
from trunkline.cluster.showing.everything import Everything


class Reader:
    """One who follows all sessions from a place on."""

    def __init__(self, feed: Everything, after: int) -> None:
        self.feed, self.position = feed, after
        self.seen: list[tuple[str, int]] = []

    async def until(self, count: int) -> list[tuple[str, int]]:
        """Read until so many entries came."""
        while len(self.seen) < count:
            found = await self.feed.read(after=self.position)
            if found:
                self.seen += [(session_id, each.seq) for session_id, each in found]
                assert found[0][1].pos > self.position
                self.position = found[-1][1].pos
            else:
                await self.feed.wait(self.position)
        return self.seen


@asynccontextmanager
async def followed(url: str, generation: int = 0) -> AsyncIterator[Everything]:
    async with connected(url, node="web") as connection:
        reader = StreamReader(connection, lambda _: "box", lambda: wire.base_of(generation))
        feed = Everything(connection, reader, generation)
        await feed.ready(10)
        try:
            yield feed
        finally:
            await feed.end()


def test_every_entry_comes_once_in_the_streams_order(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, followed(stream.url) as feed:
            reader = Reader(feed, feed.last_pos)
            for seq in range(1, 21):
                await box.ship("a", [entry(seq)])
                await box.ship("b", [entry(seq)])
            assert await reader.until(40) == [(name, seq) for seq in range(1, 21) for name in "ab"]

    run(go())


def test_any_gateway_continues_any_place(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, followed(stream.url) as one:
            first = Reader(one, one.last_pos)
            await box.ship("c", entries(1, 3))
            await first.until(3)
            await box.ship("d", entries(1, 3))
            async with followed(stream.url) as other:
                assert other.continues(first.position)
                assert await Reader(other, first.position).until(3) == [("d", 1), ("d", 2), ("d", 3)]

    run(go())


def test_messages_that_were_lost_on_the_way_are_read(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        heard: list[Msg] = []
        hear = Everything._on_message

        async def lossy(self: Everything, message: Msg) -> None:
            heard.append(message)
            if len(heard) not in (2, 3, 5):
                await hear(self, message)

        monkeypatch.setattr(Everything, "_on_message", lossy)
        async with owner(stream.url) as box, followed(stream.url) as feed:
            reader = Reader(feed, feed.last_pos)
            for seq in range(1, 9):
                await box.ship("e", [entry(seq)])
            assert await reader.until(8) == [("e", seq) for seq in range(1, 9)]

    run(go())


def test_a_lost_last_message_is_found_by_comparing(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(self: Everything, message: Msg) -> None: ...

    async def go() -> None:
        monkeypatch.setattr(everything, "COMPARE_S", 0.05)
        monkeypatch.setattr(Everything, "_on_message", deaf)
        async with owner(stream.url) as box, followed(stream.url) as feed:
            reader = Reader(feed, feed.last_pos)
            await box.ship("f", entries(1, 2))
            assert await reader.until(2) == [("f", 1), ("f", 2)]

    run(go())


def test_nothing_is_heard_for_nobody_and_who_was_there_goes_on(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        monkeypatch.setattr(everything, "COMPARE_S", 0.02)
        monkeypatch.setattr(everything, "LINGER_S", 0.0)
        async with owner(stream.url) as box, followed(stream.url) as feed:
            reader = Reader(feed, feed.last_pos)
            await eventually(lambda: feed._running is not None and feed._running.done())
            await box.ship("g", entries(1, 4))
            monkeypatch.setattr(everything, "LINGER_S", 30.0)
            assert await reader.until(4) == [("g", seq) for seq in range(1, 5)]

    run(go())


def test_a_place_says_of_which_generation_it_is(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, followed(stream.url, 0) as before, followed(stream.url, 1) as behind:
            reader = Reader(before, before.last_pos)
            await box.ship("h", entries(1, 2))
            await reader.until(2)
            assert before.continues(reader.position) and not behind.continues(reader.position)
            assert behind.continues(0), "the beginning is of every generation"
            assert not before.continues(17), "a place of a hub's own journal is none of the stream's"
            assert reader.position < 1 << 53

    run(go())


def test_a_place_that_another_node_has_shown_is_waited_for(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, followed(stream.url) as feed:
            ahead = feed.last_pos + 1
            coming = asyncio.create_task(feed.reaches(ahead))
            await box.ship("ses_coming", entries(1, 3))
            assert await coming and feed.last_pos >= ahead
            monkeypatch.setattr(everything, "BEHIND_S", 0.05)
            assert not await feed.reaches(feed.last_pos + 1)
            assert await feed.reaches(ahead) and await feed.reaches(0)

    run(go())
