"""What happens in all sessions of the cluster, in the stream's own order, while somebody follows it.

Rule 1: the stream's numbers are consecutive, so that whatever was not heard shows; it is read then. Every COMPARE_S, and after
        each reconnect, the stream is asked how far it is: a lost last message shows no gap.
Rule 2: while nobody waits nothing is heard. Who comes then begins at the end, and who was here before reads from the stream.
Rule 3: places are of one generation of the stream. With the next one this feed ends, and its readers begin anew.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from trunkline.cluster import subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.streams import info
from trunkline.errors import ClusterUnavailable, Invalid, NodeAway, NodeSilent
from trunkline.feeds.hub import PAGE_BYTES, HubFeed, HubFollower, Placed

log = logging.getLogger("trunkline.cluster")

COMPARE_S: Final = 5.0
BEHIND_S: Final = 2.0
"""How long a reader waits for a place that it knows of and this node has not heard of yet."""
LINGER_S: Final = 30.0
"""How long it is heard after the last who waited: a page that is loaded again comes back within a moment."""
RETRY_S: Final = 0.02
RETRIES: Final = 30
"""Some seconds: a replica may need a moment to have what the leader has. What is not there then was deleted."""
LONGEST_RETRY_S: Final = 0.2
_PASSING: Final = (ClusterUnavailable, NodeAway, NodeSilent)


class Everything(HubFeed):
    """The entries of the whole cluster, in one generation of its stream."""

    def __init__(self, connection: Connection, reader: StreamReader, generation: int) -> None:
        super().__init__(reader)
        self.generation = generation
        self._base = wire.base_of(generation)
        self._connection, self._reader = connection, reader
        self._ready = asyncio.Event()
        self._seen = self._heard = 0
        """The stream's message that was dealt with last, and the newest that is known to be there."""
        self._early = 0
        """The newest that was heard before it was known where to begin."""
        self._used_at = 0.0
        self._running: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def ready(self, within_s: float) -> None:
        """Know where the stream ends; ClusterUnavailable where that cannot be found out."""
        self._use()
        try:
            async with asyncio.timeout(within_s):
                await self._ready.wait()
        except TimeoutError:
            raise ClusterUnavailable("the cluster does not say how far its stream is") from None

    def continues(self, after: int) -> bool:
        """Whether a place is of this generation, and no further than what is known; 0 is the beginning of each."""
        return not after or (wire.is_same_base(after, self._base) and after <= self.last_pos)

    async def reaches(self, after: int) -> bool:
        """``continues``; what another node has shown may be on its way here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(BEHIND_S):
                while wire.is_same_base(after, self._base) and after > self.last_pos and not self.closed:
                    await self.watch(self.last_pos)
        return self.continues(after)

    def follow(self, follower: HubFollower, sessions: tuple[str, ...] | None = None) -> None:
        """As ``HubFeed.follow``."""
        self._use()
        super().follow(follower, sessions)

    def watch(self, after: int) -> asyncio.Future[None]:
        """As ``HubFeed.watch``."""
        self._use()
        return super().watch(after)

    async def read(self, *, after: int, limit: int = 1_000, max_bytes: int = PAGE_BYTES) -> list[Placed]:
        """As ``HubFeed.read``; what a replica does not have yet is waited for."""
        wait_s = RETRY_S
        for _ in range(RETRIES):
            found = await super().read(after=after, limit=limit, max_bytes=max_bytes)
            if found or after >= self.last_pos or self.closed:
                return found
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_RETRY_S)
        return []

    async def end(self) -> None:
        """No more will come: readers end."""
        self.close()
        for task in (self._running, self._reading):
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))

    def _use(self) -> None:
        """Somebody waits for more."""
        self._used_at = asyncio.get_running_loop().time()
        if not self.closed and (self._running is None or self._running.done()):
            self._ready.clear()
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        """Listen until nobody has waited for LINGER_S."""
        subscription: Subscription | None = None
        looked = asyncio.Event()
        unwatch = self._connection.watch(lambda up: looked.set())
        loop = asyncio.get_running_loop()
        try:
            await self._connection.wait_until_up()
            subscription = await self._connection.subscribe(subjects.ALL_LIVE, self._on_message)
            while not self._ready.is_set() or self.waiting or loop.time() - self._used_at < LINGER_S:
                looked.clear()
                await self._compare()
                with suppress(TimeoutError):
                    async with asyncio.timeout(COMPARE_S if self._ready.is_set() else LONGEST_RETRY_S):
                        await looked.wait()
        except _PASSING as error:
            log.warning("what happens in the cluster cannot be followed: %s", error.message)
        finally:
            unwatch()
            self._ready.clear()
            self._drop_tail()
            if subscription is not None:
                await self._connection.unsubscribe(subscription)

    async def _compare(self) -> None:
        with suppress(*_PASSING):
            last: int = (await info(self._connection, subjects.JOURNAL))["state"]["last_seq"]
            if self._ready.is_set():
                self._is_at(last)
                return
            self._seen = self._heard = last  # who was here before reads from the stream what came meanwhile
            self.last_pos = max(self.last_pos, self._base + wire.pos_of(last + 1, 0) - 1)
            self._ready.set()
            self._wake()
            self._is_at(self._early)

    def _is_at(self, seq: int) -> None:
        self._heard = max(self._heard, seq)
        if self._heard > self._seen and self._reading is None:
            self._reading = asyncio.create_task(self._read_up())

    async def _on_message(self, message: Msg) -> None:
        headers = message.headers or {}
        seq = int(headers["Nats-Sequence"])
        if not self._ready.is_set():
            self._early = max(self._early, seq)
            return  # where it begins is being asked
        if seq <= self._seen:
            return
        if self._reading is not None or seq != self._seen + 1 or wire.PARTS in headers:
            self._is_at(seq)
            return
        stored = Stored(headers["Nats-Subject"], seq, message.data, headers)
        await self._take(stored)

    async def _take(self, message: Stored) -> None:
        _, session_id = subjects.session_of(message.subject)
        entries = await self._reader.entries_of(session_id, message)
        if message.seq > self._seen:
            self._seen = message.seq
            if entries:
                self.committed({session_id: entries})

    async def _read_up(self) -> None:
        """Read until all that is known to be there is handed on; what was deleted meanwhile is passed over."""
        wait_s, tries = RETRY_S, 0
        try:
            while self._seen < self._heard:
                page = await self._page()
                for message in page:
                    await self._take(message)
                if page:
                    wait_s, tries = RETRY_S, 0
                elif tries < RETRIES:
                    tries += 1
                    await asyncio.sleep(wait_s)
                    wait_s = min(2 * wait_s, LONGEST_RETRY_S)
                else:
                    self._seen = self._heard
        finally:
            self._reading = None

    async def _page(self) -> list[Stored]:
        try:
            return await self._reader.messages_from(self._seen + 1)
        except _PASSING:
            await self._connection.wait_until_up()
        except Invalid as error:
            log.error("the cluster's stream cannot be read behind message %d: %s", self._seen, error.message)
        return []
