"""Work that waits for its time: bounded, and what becomes of it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tests.aio import run
from tests.server.delivery.receiver import HandClock
from trunkline.errors import StorageError
from trunkline.feeds.hub import HubFeed, Placed
from trunkline.journal.base import Entry
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.delivery.following import STORAGE_PAUSE_S, Tasks, read_next

log = logging.getLogger("trunkline.notify")


def test_work_that_fails_or_finds_no_room_is_dropped_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async def fail() -> None:
            raise ValueError("broken")

        async def stay() -> None:
            await asyncio.Event().wait()

        dropped: list[str] = []
        failed = asyncio.Event()
        tasks = Tasks(2, log, "things")
        tasks.start(fail(), failed.set)
        tasks.start(stay(), lambda: dropped.append("stopped"), owner="me")
        tasks.start(stay(), lambda: dropped.append("no room"))
        assert (len(tasks), tasks.count("me"), dropped) == (2, 1, ["no room"])
        await failed.wait()
        await tasks.close()
        await tasks.settled()
        assert (len(tasks), dropped) == (0, ["no room"])

    with caplog.at_level(logging.WARNING):
        run(check())
    assert "2 things wait already" in caplog.text and "broken" in caplog.text


class BrokenFeed(HubFeed):
    """A feed whose journal cannot be read."""

    async def read(self, *, after: int, limit: int = 1_000, max_bytes: int = 0) -> list[Placed]:
        raise StorageError("the disk is gone")


def test_the_next_entries_come_with_the_position_behind_them_and_a_journal_that_fails_is_waited_for() -> None:
    async def check() -> None:
        feed = HubFeed(MemoryJournal())
        feed.keep_tail()
        feed.committed({"s": [Entry(1, 1, b"{}", pos=7)]})
        found, position = await read_next(feed, 6, HandClock(), log)
        assert ([entry.pos for _, entry in found], position) == ([7], 7)
        broken, clock = BrokenFeed(MemoryJournal()), HandClock()
        broken.last_pos = 9
        reading = asyncio.create_task(read_next(broken, 6, clock, log))
        assert await clock.pass_one() == STORAGE_PAUSE_S
        assert await reading == ([], 6)

    run(check())
