"""A small table of the cluster as rows of bytes, for who keeps one row per key and writes without waiting for others.

Rule 1: the copy is ``tables/table.py``'s: heard at once, held against the leader, read anew where it differs.
Rule 2: a row that expired or was deleted is gone. Whoever watches is told of each write once, also of one that changes nothing: a
        lease that is renewed is one.
Rule 3: writing goes to the stream, and comes back as everybody else's writes do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from nats.aio.subscription import Subscription

from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.tables import table
from trunkline.cluster.tables.keys import OPERATION, TTL, Row

log = logging.getLogger("trunkline.cluster")

COMPARE_S: Final = 5.0

OnChange = Callable[[str, bytes | None], None]
"""A key and its value; None: it is gone."""


class Table:
    """One bucket."""

    def __init__(self, connection: Connection, bucket: str, on_change: OnChange = lambda key, value: None) -> None:
        self.bucket = bucket
        self.rows: dict[str, bytes] = {}
        self.revisions: dict[str, int] = {}
        """The number of each row's message: the fence for whoever changes it."""
        self.loaded = asyncio.Event()
        self._connection = connection
        self._watchers = [on_change]
        self._stream = subjects.bucket_stream(bucket)
        self.copy = self._copy = table.Table(connection, bucket, every_s=COMPARE_S)
        self._copy.watch(self._on_row)
        self._copy.on_checked(self._on_checked)

    def start(self) -> None:
        """Begin to follow the bucket; ``loaded`` says when all of it is here. It may be started while the cluster is away."""
        self._copy.start()

    async def close(self) -> None:
        """Follow it no more."""
        await self._copy.close()

    def watch(self, watcher: OnChange) -> Callable[[], None]:
        """Have each change told; the result ends that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    async def put(self, key: str, value: bytes, *, fence: int | None = None, ttl_s: int | None = None) -> Ack | Refusal:
        """Write a row; with a fence only where its last message has that number (0: there is none)."""
        headers = {jetstream.EXPECTED_STREAM: self._stream}
        if fence is not None:
            headers[jetstream.FENCE] = str(fence)
        if ttl_s is not None:
            headers[TTL] = f"{ttl_s}s"
        return await jetstream.publish(self._connection, subjects.key(self.bucket, key), value, headers)

    async def write(self, key: str, value: bytes) -> int:
        """Write a row, however often that has to be tried; the copy has it when this returns. Its number."""
        return await self._copy.put(key, value)

    async def erase(self, key: str) -> None:
        """The same for a row that is to go."""
        await self._copy.drop(key)

    async def delete(self, key: str, *, fence: int | None = None) -> Ack | Refusal:
        """Take a row out. What marks it as deleted goes by itself."""
        headers = {OPERATION: "DEL", TTL: "60s"}
        if fence is not None:
            headers[jetstream.FENCE] = str(fence)
        return await jetstream.publish(self._connection, subjects.key(self.bucket, key), b"", headers)

    @property
    def _subscription(self) -> Subscription | None:
        return self._copy.subscription

    def _on_checked(self) -> None:
        if self._copy.ready:
            self.loaded.set()

    def _on_row(self, key: str, before: Row | None, row: Row | None) -> None:
        if row is None:
            del self.rows[key], self.revisions[key]
        else:
            self.rows[key], self.revisions[key] = row.value, row.revision
        try:
            for watcher in list(self._watchers):
                watcher(key, None if row is None else row.value)
        except Exception:  # one row that cannot be understood must not hide the others
            log.exception("row %s of %s", key, self.bucket)
