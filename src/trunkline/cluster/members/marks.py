"""What is known of nodes beyond their lease: that one was there, that it takes no new sessions, that it is gone for good.

    seen.<node>    written by the node itself, at each start
    drain.<node>   somebody wants no new sessions there
    gone.<node>    somebody says that it will not come back

Rule 1: a mark outlives its node, and every restart of it.
Rule 2: only gateways and hubs can drain and forget: a runner's key writes what it says of itself, and nothing about others.
Rule 3: who is there is there, whatever a mark says of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster.nodes import NodeRow
from trunkline.cluster.table import Table
from trunkline.dialects.outside import BROKEN

log = logging.getLogger("trunkline.cluster")

SEEN: Final = "seen."
DRAIN: Final = "drain."
GONE: Final = "gone."


class Mark(msgspec.Struct, frozen=True):
    """Who said so, and when (UTC, microseconds)."""

    by: str = ""
    at: int = 0


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A node as it was at its last start."""

    role: str
    pool: str
    labels: dict[str, str] = {}
    version: str = ""
    shared: bool = False
    at: int = 0


_seen = decoders.of(Seen)


class Marks:
    """All marks; ``table`` follows the cluster's bucket of small facts."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def is_draining(self, node: str) -> bool:
        """Whether somebody wants no new sessions there."""
        return DRAIN + node in self._table.rows

    def is_gone(self, node: str) -> bool:
        """Whether somebody said that it will not come back."""
        return GONE + node in self._table.rows

    def seen(self, node: str) -> Seen | None:
        """How a node was when it was last started; None where that is not known."""
        value = self._table.rows.get(SEEN + node)
        try:
            return None if value is None else _seen.decode(value)
        except BROKEN as error:
            log.error("what is known of node %s cannot be read: %s", node, error)
            return None

    def known(self) -> Iterator[str]:
        """The nodes that were there and that nobody has forgotten."""
        for key in self._table.rows:
            if key.startswith(SEEN) and not self.is_gone(key.removeprefix(SEEN)):
                yield key.removeprefix(SEEN)

    async def saw(self, row: NodeRow) -> None:
        """This node is there."""
        seen = Seen(role=row.role, pool=row.pool, labels=row.labels, version=row.version, shared=row.shared, at=_now_us())
        await self._table.write(SEEN + row.node, msgspec.json.encode(seen))

    async def drain(self, node: str, *, draining: bool, by: str) -> None:
        """Let no new session begin there, or let them again."""
        if draining:
            await self._table.write(DRAIN + node, _mark(by))
        elif self.is_draining(node):
            await self._table.erase(DRAIN + node)

    async def forget(self, node: str, *, by: str) -> None:
        """It will not come back."""
        await self._table.write(GONE + node, _mark(by))
        await self.drain(node, draining=False, by=by)

    async def is_back(self, node: str) -> None:
        """It came back all the same."""
        if self.is_gone(node):
            await self._table.erase(GONE + node)


def _mark(by: str) -> bytes:
    return msgspec.json.encode(Mark(by, _now_us()))


def _now_us() -> int:
    return time.time_ns() // 1000
