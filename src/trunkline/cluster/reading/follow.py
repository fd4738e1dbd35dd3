"""One session of another node, live: what is stored is said again, and a gap is filled from the stream.

Rule 1: subscribe first, then read up, then join: a message that goes on from what is known is taken, another one starts a read.
Rule 2: every COMPARE_S, and after each reconnect, the end is compared with the stream's: a lost last message shows no gap.
Rule 3: entries are handed on in order, each once, whatever way they came.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from trunkline.cluster import subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.wire import Mark
from trunkline.errors import ClusterUnavailable, Invalid, NodeAway, NodeSilent
from trunkline.journal.base import Entry

log = logging.getLogger("trunkline.cluster")

COMPARE_S: Final = 5.0
RETRY_S: Final = 0.02
LONGEST_RETRY_S: Final = 1.0
_PASSING: Final = (ClusterUnavailable, NodeAway, NodeSilent)

OnEntries = Callable[[list[Entry]], None]
OnMark = Callable[[Mark], None]


class SessionFollower:
    """Follows one session from behind ``last_seq``; ``on_mark`` is told of claims and ends."""

    def __init__(self, connection: Connection, reader: StreamReader, pool: str, session_id: str, last_seq: int, *,
                 on_entries: OnEntries, on_mark: OnMark = lambda mark: None) -> None:
        self.session_id = session_id
        self.last_seq = last_seq
        self.reads = 0
        """How often the stream was read to fill a gap."""
        self._connection, self._reader, self._pool = connection, reader, pool
        self._on_entries, self._on_mark = on_entries, on_mark
        self._heard = last_seq
        """The newest seq that is known to be in the stream."""
        self._reading: asyncio.Task[None] | None = None
        self._comparing: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        self._unwatch: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Listen, and read up what is there already."""
        self._subscription = await self._connection.subscribe(subjects.live(self._pool, self.session_id), self._on_message)
        self._unwatch = self._connection.watch(lambda up: self._compare_soon() if up else None)
        self._comparing = asyncio.create_task(self._compare_always())
        self._compare_soon()

    async def close(self) -> None:
        """Hear no more."""
        self._unwatch()
        for task in (self._comparing, self._reading):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._subscription is not None:
            await self._connection.unsubscribe(self._subscription)

    def is_at(self, seq: int) -> None:
        """Somebody says that the session has entries up to ``seq``."""
        self._heard = max(self._heard, seq)
        if self._heard > self.last_seq:
            self._read_on()

    async def _on_message(self, message: Msg) -> None:
        headers = message.headers or {}
        try:
            mark = wire.read_mark(headers)
            first, last = wire.read_range(headers)
        except Invalid as error:
            log.error("a live message of session %s cannot be read: %s", self.session_id, error.message)
            return
        if not last:
            self._on_mark(mark)
            return
        self._heard = max(self._heard, last)
        if last <= self.last_seq:
            return
        if self._reading is not None or first > self.last_seq + 1 or wire.PARTS in headers:
            self._read_on()
            return
        stored = Stored(headers["Nats-Subject"], int(headers["Nats-Sequence"]), message.data, headers)
        self._hand_on(await self._reader.entries_of(self.session_id, stored))

    def _hand_on(self, entries: list[Entry]) -> None:
        fresh = [entry for entry in entries if entry.seq > self.last_seq]
        if fresh:
            self.last_seq = fresh[-1].seq
            self._on_entries(fresh)

    def _read_on(self) -> None:
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_up())

    async def _read_up(self) -> None:
        """Read until all that is known to be there is handed on; a replica may need a moment to have it."""
        wait_s = RETRY_S
        try:
            while self.last_seq < self._heard:
                self.reads += 1
                found = await self._read_page()
                if found:
                    self._hand_on(found)
                    wait_s = RETRY_S
                else:
                    await asyncio.sleep(wait_s)
                    wait_s = min(2 * wait_s, LONGEST_RETRY_S)
        finally:
            self._reading = None

    async def _read_page(self) -> list[Entry]:
        try:
            return await self._reader.read(self.session_id, after=self.last_seq)
        except _PASSING:
            await self._connection.wait_until_up()
            return []

    async def _compare_always(self) -> None:
        while True:
            await asyncio.sleep(COMPARE_S)
            self._compare_soon()

    def _compare_soon(self) -> None:
        task = asyncio.create_task(self._compare())
        _KEPT.add(task)
        task.add_done_callback(_KEPT.discard)

    async def _compare(self) -> None:
        with suppress(*_PASSING, Invalid):
            found = await self._reader.last(self.session_id)
            if found is not None and found[0].kind == wire.END:
                self._on_mark(found[0])
            elif found is not None:
                self.is_at(found[0].last)


_KEPT: set[asyncio.Task[None]] = set()
"""Comparisons under way: the loop itself holds no task."""
