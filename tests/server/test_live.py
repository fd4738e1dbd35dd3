"""A reader at the end of a feed: written to on the spot, a cursor again when it stalls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.aio import run
from tests.journal.samples import entries
from trunkline.errors import StorageError
from trunkline.feeds.session import Feed, TailBudget, Write
from trunkline.journal.base import Entry
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.live import follow_live
from trunkline.server.sse import Outlet, follow


class Body:
    """A connection that can be told to take no more."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.is_full = False

    def write(self, piece: bytes) -> bool:
        if not self.is_full:
            self.taken.append(piece)
        return not self.is_full


def numbers(found: Iterator[Entry], after: int) -> Write:
    """An encoder that writes each entry's number."""
    seqs = [entry.seq for entry in found]
    return b"".join(b"%d " % seq for seq in seqs), seqs[-1] if seqs else after


def commit(feed: Feed, first: int, last: int) -> None:
    found = entries(first, last)
    feed.committed(found, sum(entry.size() for entry in found))


class Stream:
    """A stream that follows a feed: its direct way out, and what went through ASGI."""

    def __init__(self) -> None:
        self.feed = Feed("s", MemoryJournal(), 0, TailBudget())
        self.body = Body()
        self.sent: list[bytes] = []
        self.free = asyncio.Event()
        self.free.set()
        self.outlet = Outlet(self._send, asyncio.get_running_loop().time, self.body)  # type: ignore[arg-type]
        self.task = asyncio.create_task(follow(self.feed, 0, numbers, self.outlet))

    async def _send(self, message: object) -> None:
        await self.free.wait()
        assert isinstance(message, dict)
        self.sent.append(message["body"])

    async def settled(self) -> None:
        """The stream stands at the end, or in a write."""
        for _ in range(5):
            await asyncio.sleep(0)


def test_what_is_committed_is_on_its_way_when_the_commit_returns() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 2)
        assert stream.body.taken == [b"1 2 "] and stream.outlet.position == 2
        commit(stream.feed, 3, 3)
        assert stream.body.taken == [b"1 2 ", b"3 "] and stream.sent == []
        stream.feed.close()
        await stream.task

    run(scenario())


def test_a_reader_that_takes_no_more_goes_on_as_a_cursor_and_comes_back() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 1)
        stream.body.is_full = True
        stream.free.clear()
        commit(stream.feed, 2, 2)
        await stream.settled()
        commit(stream.feed, 3, 3)
        assert stream.body.taken == [b"1 "] and stream.sent == []
        stream.body.is_full = False
        stream.free.set()
        await stream.settled()
        commit(stream.feed, 4, 4)
        assert stream.sent == [b"2 ", b"3 "] and stream.body.taken == [b"1 ", b"4 "]
        stream.feed.close()
        await stream.task

    run(scenario())


def test_a_reader_that_fails_fails_alone() -> None:
    def broken(found: Iterator[Entry], after: int) -> Write:
        raise StorageError("the entry cannot be read")

    async def scenario() -> None:
        stream = Stream()
        failing = asyncio.create_task(follow_live(stream.feed, broken, Outlet(stream._send, lambda: 0.0), shares=False))
        await stream.settled()
        commit(stream.feed, 1, 1)
        with pytest.raises(StorageError):
            await failing
        assert stream.body.taken == [b"1 "] and stream.feed.waiting == 1
        stream.feed.close()
        await stream.task

    run(scenario())


def test_who_leaves_is_called_no_more() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        assert stream.feed.waiting == 1
        stream.task.cancel()
        await stream.settled()
        assert stream.feed.waiting == 0
        commit(stream.feed, 1, 1)
        assert stream.body.taken == []

    run(scenario())


def test_the_end_of_the_feed_ends_the_stream_behind_what_it_brought() -> None:
    async def scenario() -> None:
        stream = Stream()
        await stream.settled()
        commit(stream.feed, 1, 3)
        stream.feed.close()
        await asyncio.wait_for(stream.task, 5)
        assert stream.body.taken == [b"1 2 3 "]

    run(scenario())
