"""A bucket in this node's memory: read when the connection comes, kept up by what is said again, held against the leader.

Rule 1: what changes is heard within milliseconds (``republish``). Nobody promises that: so every second the leader is asked how
        far the bucket is, and where that is not how far the copy is, the bucket is read anew, whole.
Rule 2: ``silent_s`` says for how long the leader has not confirmed the copy. Who must not trust an old one looks at that.
Rule 3: a copy is for looking. What has to be true is decided by a fence (``keys.py``), and read from the leader before.
Rule 4: watchers are called for each change, in order, on the loop; they do not wait and do not raise.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal
from trunkline.cluster.streams import info
from trunkline.cluster.tables.keys import Keys, Row, is_mark
from trunkline.errors import ClusterUnavailable, TrunklineError

log = logging.getLogger("trunkline.cluster")

CHECK_EVERY_S: Final = 1.0
PAGE: Final = 500
PAGE_BYTES: Final = 1 << 20

Watcher = Callable[[str, Row | None, Row | None], None]
"""Called with a key, what it was and what it is now."""


class Table:
    """The copy of one bucket."""

    def __init__(self, connection: Connection, bucket: str, *, clock: Callable[[], float] = time.monotonic,
                 every_s: float = CHECK_EVERY_S) -> None:
        self.keys = Keys(connection, bucket)
        self._connection = connection
        self._bucket = bucket
        self._clock = clock
        self._every_s = every_s
        self._rows: dict[str, Row] = {}
        self._known = 0
        """The bucket's number up to which the copy has everything."""
        self._looked = (0, 0)
        """The bucket's number and how many messages it had, at the last look."""
        self._confirmed_at = -math.inf
        self._watchers: list[Watcher] = []
        self._checked: list[Callable[[], None]] = []
        self._look = asyncio.Event()
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._unwatch: Callable[[], None] = lambda: None
        self.subscription: Subscription | None = None
        """By which changes are heard."""

    def start(self) -> None:
        """Begin to follow the bucket. It may be started while the cluster is away."""
        self._unwatch = self._connection.watch(lambda up: self._look.set())
        self._task = asyncio.create_task(self._run())

    async def wait_ready(self, within_s: float) -> None:
        """Wait until the copy is whole; ClusterUnavailable where that takes too long."""
        try:
            async with asyncio.timeout(within_s):
                await self._ready.wait()
        except TimeoutError:
            raise ClusterUnavailable(f"the cluster's table {self._bucket} could not be read in {within_s:g} s") from None

    async def close(self) -> None:
        """Follow it no more."""
        self._unwatch()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self.subscription is not None:
            await self._connection.unsubscribe(self.subscription)

    @property
    def ready(self) -> bool:
        """Whether the copy was whole once."""
        return self._ready.is_set()

    @property
    def up(self) -> bool:
        """Whether the cluster can be asked at this moment, as far as that is known."""
        return self._connection.up

    def silent_s(self) -> float:
        """For how long the leader has not confirmed that the copy is what the bucket has."""
        return self._clock() - self._confirmed_at

    def get(self, key: str) -> Row | None:
        """What the copy has under a key."""
        return self._rows.get(key)

    def rows(self) -> dict[str, Row]:
        """All of it."""
        return dict(self._rows)

    def watch(self, watcher: Watcher) -> None:
        """Have each change told."""
        self._watchers.append(watcher)

    def on_checked(self, callback: Callable[[], None]) -> None:
        """Have it called after each look at the leader, whatever came of it."""
        self._checked.append(callback)

    async def create(self, key: str, value: bytes, *, ttl_s: float | None = None) -> int:
        """As ``Keys.create``; the copy has it when this returns."""
        return self._wrote(key, value, await self.keys.create(key, value, ttl_s=ttl_s))

    async def put(self, key: str, value: bytes, *, revision: int | None = None, ttl_s: float | None = None) -> int:
        """As ``Keys.put``; the copy has it when this returns."""
        return self._wrote(key, value, await self.keys.put(key, value, revision=revision, ttl_s=ttl_s))

    async def take(self, key: str, revision: int) -> None:
        """As ``Keys.take``; the copy has it no more when this returns."""
        await self.keys.take(key, revision)
        self._forget(key, revision)

    async def drop(self, key: str) -> None:
        """As ``Keys.drop``; the copy has it no more when this returns."""
        found = self._rows.get(key)
        await self.keys.drop(key)
        if found is not None:
            self._forget(key, found.revision)

    def _wrote(self, key: str, value: bytes, revision: int) -> int:
        self._apply(key, Row(value, revision), revision)
        return revision

    def _forget(self, key: str, revision: int) -> None:
        """What it had up to this revision; the mark itself is heard like any change."""
        found = self._rows.get(key)
        if found is not None and found.revision <= revision:
            self._set(key, None)

    async def _run(self) -> None:
        await self._connection.wait_until_up()
        self.subscription = await self._connection.subscribe(subjects.live_keys(self._bucket), self._on_message)
        while True:
            self._look.clear()
            try:
                await self._check()
            except TrunklineError as error:  # the task's boundary: the next look may find more
                log.debug("the table %s cannot be looked at: %s", self._bucket, error.message)
            for callback in self._checked:
                callback()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_s):
                    await self._look.wait()

    async def _check(self) -> None:
        asked_at = self._clock()
        state = (await info(self._connection, self.keys.stream))["state"]
        last, before = state["last_seq"], self._looked
        self._looked = last, state["messages"]
        has_ended = last == before[0] and state["messages"] < before[1]  # what expires may leave no mark
        is_whole = last == self._known or (last < self._known and await self._is_heard(last))
        if (is_whole and not has_ended) or await self._reload(last):
            self._confirmed_at = asked_at
            self._ready.set()

    async def _is_heard(self, last: int) -> bool:
        """Whether the copy is ahead because something was said while the leader was asked. Else the bucket went back."""
        state = (await info(self._connection, self.keys.stream))["state"]
        return bool(last <= self._known <= state["last_seq"])

    async def _reload(self, last: int) -> bool:
        """Read the whole bucket, which is at ``last``; False where a replica was read that is not so far yet."""
        found, seen = await self._scan()
        if seen < last and await self._has_more(seen):
            return False
        upto = max(seen, last)
        for key in [key for key, row in self._rows.items() if key not in found and (row.revision <= upto or upto < self._known)]:
            self._set(key, None)
        for key, row in found.items():
            before = self._rows.get(key)
            if before is None or before.revision < row.revision or upto < self._known:
                self._set(key, row)
        self._known = upto
        return True

    async def _scan(self) -> tuple[dict[str, Row], int]:
        """Every key that a replica has, and its last message's number."""
        found: dict[str, Row] = {}
        seen, more = 0, True
        while more:
            page = await jetstream.read_page(self._connection, self.keys.stream, subjects.key(self._bucket, ">"),
                                             from_seq=seen + 1, batch=PAGE, max_bytes=PAGE_BYTES)
            for message in page.messages:
                seen = message.seq
                key = subjects.key_of(self._bucket, message.subject)
                found.pop(key, None)
                if not is_mark(message.headers):
                    found[key] = Row(message.data, seen)
            more = bool(page.messages) and page.more > 0
        return found, seen

    async def _has_more(self, seen: int) -> bool:
        """Whether the leader has a message behind this one: what expired leaves numbers without any."""
        asked = {"seq": seen + 1, "next_by_subj": subjects.key(self._bucket, ">")}
        return not isinstance(await jetstream.ask(self._connection, f"STREAM.MSG.GET.{self.keys.stream}", asked), Refusal)

    async def _on_message(self, message: Msg) -> None:
        headers = message.headers or {}
        key, seq = subjects.key_of(self._bucket, headers["Nats-Subject"]), int(headers["Nats-Sequence"])
        self._apply(key, None if is_mark(headers) else Row(message.data, seq), seq)

    def _apply(self, key: str, row: Row | None, seq: int) -> None:
        if seq <= self._known:
            return  # the copy has that, and what came behind it
        before = self._rows.get(key)
        if before is None or before.revision < seq:
            self._set(key, row)
        if seq == self._known + 1:
            self._known = seq
        else:
            self._look.set()  # something before it was not heard

    def _set(self, key: str, row: Row | None) -> None:
        before = self._rows.pop(key, None)
        if row is not None:
            self._rows[key] = row
        if before is None and row is None:
            return
        for watcher in self._watchers:
            watcher(key, before, row)
