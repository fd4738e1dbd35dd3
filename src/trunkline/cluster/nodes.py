"""Who is in the cluster: a row per node that lasts LEASE_S and is renewed while the node is there.

Rule 1: a name is one hub's. Another one that wants it is refused until the row is gone; the same hub, started again, has it at
        once. Where nobody renews it the name is free when a lease would be over: a row may have been written to last for ever.
Rule 2: a row says of which pool a node is, and so does its key, by which servers decide who may write it. One that says another
        pool than its key, or another node, is none.
Rule 3: a node that is not renewed is away after LEASE_S, by the stream's clock or by our own, whichever is first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack
from trunkline.cluster.table import Table
from trunkline.dialects.outside import BROKEN, Count
from trunkline.errors import ClusterDenied, ClusterUnavailable, Conflict, NodeAway, NodeSilent

log = logging.getLogger("trunkline.cluster")

LEASE_S: Final = 30
"""An election of 5 to 7 s must not end it."""
RENEW_S: Final = 5.0
LOOK_S: Final = 0.1
LATELY_S: Final = RENEW_S + 1.0
"""What a node said of itself counts for so long: until it says it again."""


class NodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node as others see it."""

    node: str
    home: str
    """Which data folder: a hub that starts again on it is the same hub."""
    incarnation: str
    """Which start of it."""
    role: str
    pool: str
    labels: dict[str, str]
    version: str
    sessions: Count = 0
    """In memory."""
    running: Count = 0
    """Agents that run."""
    lag: dict[str, float] = {}
    """Sessions whose readers elsewhere are behind, and for how many seconds."""
    behind: Count = 0
    """Entries of all its sessions that the stream does not have."""
    taken: Count = 0
    """Sessions that others took over from it since it was started."""
    aside: dict[str, Count] = {}
    """Of these and of earlier ones: what it had that the stream has not, and has put aside. Sessions, with their epoch
    (``<session>:<epoch>``), and how many entries each."""
    draining: bool = False
    """Whether it takes no new sessions."""
    shared: bool = False
    """Whether its folders and its agents' stores are those of its whole pool."""
    speaks: Count = 1
    """The version of all messages between nodes."""


_row = decoders.of(NodeRow)


class Nodes:
    """All nodes, and this node's own lease."""

    def __init__(self, connection: Connection, own: Callable[[], NodeRow] | None = None,
                 on_change: Callable[[str, NodeRow | None], None] = lambda node, row: None) -> None:
        """``own`` makes this node's row as it is now; None for somebody who only looks."""
        self.rows: dict[str, NodeRow] = {}
        self.refused: NodeRow | None = None
        """Another hub that has this node's name."""
        self._connection, self._own, self._on_change = connection, own, on_change
        self.heard_at: dict[str, int] = {}
        """When each was last heard of, by this node's clock: also those that are gone since. UTC, microseconds."""
        self._heard: dict[str, float] = {}
        self._renewed_at = float("-inf")
        self._table = Table(connection, subjects.NODES, self._on_row)
        self.loaded = self._table.loaded
        self._renewing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Follow the others, and hold this node's lease."""
        self._table.start()
        self._renewing = asyncio.create_task(self._renew_always())

    async def close(self) -> None:
        """Give the lease back."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        if self._own is not None and self.refused is None and self._connection.up:
            with suppress(ClusterUnavailable, NodeAway, NodeSilent):
                await self._table.delete(_key_of(self._own()))
        await self._table.close()

    @property
    def holds_lease(self) -> bool:
        """Whether others take this node to be there, as far as it can know."""
        return time.monotonic() - self._renewed_at < LEASE_S

    def is_there(self, node: str) -> bool:
        """Whether a node has renewed its lease in time."""
        return node in self.rows and time.monotonic() - self._heard[node] < LEASE_S

    def has_shipped(self, node: str) -> bool:
        """Whether a node has said lately that all it has is in the stream."""
        row = self.rows.get(node)
        return row is not None and not row.behind and time.monotonic() - self._heard[node] < LATELY_S

    def away(self, node: str) -> str | None:
        """Why a node cannot be written to, in a sentence; None while it is there."""
        if self.is_there(node):
            return None
        if node not in self.heard_at:
            return f"{node} is not connected"
        since = time.strftime("%H:%M:%S", time.localtime(self.heard_at[node] / 1e6))
        return f"{node} has not been heard of since {since}"

    async def renew(self) -> None:
        """Say that this node is here, and how it is."""
        if self._own is None or not self.loaded.is_set():  # who does not know the others may be one of them
            return
        row = self._own()
        held = self.rows.get(row.node)
        if held is not None and held.home != row.home:
            self._refuse(held)
            return
        key = _key_of(row)
        fence = self._table.revisions.get(key) if held else None
        done = await self._table.put(key, msgspec.json.encode(row), fence=fence, ttl_s=LEASE_S)
        if isinstance(done, Ack):
            self.refused = None
            self._renewed_at = time.monotonic()

    async def check_name(self, within_s: float) -> None:
        """Conflict where another hub has this node's name, and renews it; a cluster that does not answer in time says nothing."""
        try:
            async with asyncio.timeout(within_s):
                await self.loaded.wait()
                await self.renew()
        except (TimeoutError, ClusterUnavailable, NodeAway, NodeSilent):
            return
        if self.refused is not None:
            await self._outlast(self.refused.node)

    async def _outlast(self, name: str) -> None:
        """Wait until the other hub says again that it is there, which is a Conflict, or until its lease is over, whatever end was
        written into it."""
        heard, until = self._heard.get(name), time.monotonic() + LEASE_S + 2 * RENEW_S
        while self.refused is not None:
            if self._heard.get(name, heard) != heard or time.monotonic() > until:
                raise Conflict(f"another hub of this cluster is called {name}: give this one a name with --node")
            await asyncio.sleep(LOOK_S)

    def _refuse(self, held: NodeRow) -> None:
        if self.refused is None:
            log.error("another hub of this cluster is called %s: give this one a name of its own with --node", held.node)
        self.refused = held

    async def _renew_always(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(RENEW_S):
                await self.loaded.wait()
        while True:
            try:
                await self.renew()
            except (ClusterUnavailable, NodeAway, NodeSilent):
                pass
            except ClusterDenied as error:  # at a start that found the cluster there it is an error
                log.error("this node is not in the cluster's list: %s", error.message)
            self._drop_silent()
            await asyncio.sleep(RENEW_S)

    def _drop_silent(self) -> None:
        """Those whose lease has ended though nobody told us."""
        for node in [each for each in self.rows if self._connection.up and not self.is_there(each)]:
            self._drop(node)

    def _drop(self, node: str) -> None:
        self.rows.pop(node, None)
        self._heard.pop(node, None)
        self._on_change(node, None)

    def _on_row(self, key: str, value: bytes | None) -> None:
        if value is None:
            node = key.rpartition(".")[2]
            held = self.rows.get(node)
            if held is None or _key_of(held) == key:  # else it is of another pool by now
                self._drop(node)
            return
        try:
            row = _row.decode(value)
        except BROKEN as error:
            log.error("the row of node %s cannot be read: %s", key, error)
            return
        if _key_of(row) != key:  # a key may write its own lease only, whatever that says
            log.error("the row of node %s is none that a node writes of itself", key)
            return
        node = row.node
        self.rows[node], self._heard[node], self.heard_at[node] = row, time.monotonic(), time.time_ns() // 1000
        self._on_change(node, row)


def _key_of(row: NodeRow) -> str:
    return subjects.lease_key(row.pool, row.node)
