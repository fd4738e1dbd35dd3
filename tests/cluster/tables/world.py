"""Buckets for the tests of what nodes share: a server with all of a cluster's tables, and nodes that follow one of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.cluster.connecting import WITHIN_S, connected
from trunkline.cluster.connection import Connection
from trunkline.cluster.streams import Sizes, configs, make_all
from trunkline.cluster.tables.table import Table

SMALL = Sizes(journal=64 << 20, parts=64 << 20, checkpoints=16 << 20, tables=8 << 20)


async def make_tables(connection: Connection, replicas: int = 1) -> None:
    """The buckets of a cluster, without its journals."""
    await make_all(connection, [config for config in configs(replicas, SMALL) if config["name"].startswith("KV_")])


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def following(connection: Connection, bucket: str, clock: Callable[[], float] = time.monotonic, every_s: float = 0.2
                    ) -> AsyncIterator[Table]:
    """A node's copy of a bucket, whole."""
    table = Table(connection, bucket, clock=clock, every_s=every_s)
    table.start()
    try:
        await table.wait_ready(WITHIN_S)
        yield table
    finally:
        await table.close()


@asynccontextmanager
async def two_nodes(url: str, bucket: str, clock: Callable[[], float] = time.monotonic) -> AsyncIterator[tuple[Table, Table]]:
    """Two nodes that follow one bucket."""
    async with connected(url, node="one") as one, connected(url, node="two") as two:
        await make_tables(one)
        async with following(one, bucket, clock) as first, following(two, bucket, clock) as second:
            yield first, second
