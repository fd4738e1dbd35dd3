"""The nodes of a cluster, how many sessions each has, and when one was last heard of."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.directory import Directory
from trunkline.cluster.jetstream import Refusal, ask
from trunkline.cluster.nodes import NodeRow, Nodes
from trunkline.cluster.survey.server import seconds_of
from trunkline.errors import ClusterUnavailable

WITHIN_S: Final = 10.0


async def read_nodes(connection: Connection) -> dict[str, NodeRow]:
    """Those that are there, by name."""
    found = Nodes(connection)
    found.start()
    try:
        await _loaded(found.loaded)
        return dict(sorted(found.rows.items()))
    finally:
        await found.close()


async def read_owners(connection: Connection) -> dict[str, int]:
    """How many sessions each node has, also of nodes that are away."""
    found = Directory(connection, pool="none", owner=connection.node)
    found.start()
    try:
        await _loaded(found.loaded)
        return dict(found.by_owner())
    finally:
        await found.close()


async def heard_ago_s(connection: Connection, node: str, ahead_s: float = 0.0) -> float | None:
    """For how long a node has not renewed its lease, by the server's clock, which is ``ahead_s`` before ours; None: no lease."""
    asked = {"last_by_subj": subjects.key(subjects.NODES, subjects.lease_key("*", node))}
    answer = await ask(connection, f"STREAM.MSG.GET.{subjects.bucket_stream(subjects.NODES)}", asked)
    if isinstance(answer, Refusal):
        return None
    return max(time.time() + ahead_s - seconds_of(answer["message"]["time"]), 0.0)


async def _loaded(event: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(WITHIN_S):
            await event.wait()
    except TimeoutError:
        raise ClusterUnavailable("the cluster's tables cannot be read; was it set up with trunkline cluster init?") from None
