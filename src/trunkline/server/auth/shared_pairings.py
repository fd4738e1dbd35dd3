"""Codes that wait for a device in the cluster's table, so that it may be claimed at any gateway.

Rule 1: a code is used up by taking its key away under a fence: of two gateways one wins.
Rule 2: the leader is asked, never the copy: a code that was made a moment ago counts, and one that was used does not.
Rule 3: the table ends them (``Nats-TTL``). A wrong try writes the code again with what is left of its time.
Rule 4: first letters that are no code's are no key: nothing of what strangers send goes into a subject.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Conflict
from trunkline.server.auth.pairings import LETTERS, NAME_LETTERS, PAIR_S, WRONG_MOST, Offer

if TYPE_CHECKING:
    from trunkline.cluster.tables.keys import Row
    from trunkline.cluster.tables.table import Table

PREFIX = "pair."


class _Waiting(msgspec.Struct, rename="camel"):
    """An offer as the table has it; ``until`` is in seconds since the epoch."""

    offer: Offer
    until: float


class SharedCodes:
    """The codes of a cluster (``OpenCodes``)."""

    def __init__(self, table: Table, clock: Callable[[], float] = time.time) -> None:
        self._table = table
        self._clock = clock

    async def add(self, found: str, offer: Offer) -> bool:
        """As ``OpenCodes.add``."""
        try:
            value = msgspec.json.encode(_Waiting(offer, self._clock() + PAIR_S))
            await self._table.create(PREFIX + found, value, ttl_s=PAIR_S)
        except Conflict:
            return False
        return True

    async def look(self, found: str) -> Offer | None:
        """As ``OpenCodes.look``."""
        row = await self._row(found)
        return None if row is None else _read(row).offer

    async def take(self, found: str, offer: Offer) -> bool:
        """As ``OpenCodes.take``."""
        row = await self._row(found)
        if row is None or _read(row).offer != offer or _read(row).until <= self._clock():
            return False
        try:
            await self._table.take(PREFIX + found, row.revision)
        except Conflict:
            return False
        return True

    async def missed(self, found: str) -> None:
        """As ``OpenCodes.missed``. Tries at the same time count one by one: each is written over the one before."""
        while (row := await self._row(found)) is not None:
            waiting = _read(row)
            left_s, wrong = waiting.until - self._clock(), waiting.offer.wrong + 1
            try:
                if wrong >= WRONG_MOST or left_s <= 0:
                    await self._table.take(PREFIX + found, row.revision)
                else:
                    counted = _Waiting(msgspec.structs.replace(waiting.offer, wrong=wrong), waiting.until)
                    await self._table.put(PREFIX + found, msgspec.json.encode(counted), revision=row.revision, ttl_s=left_s)
            except Conflict:
                continue
            return

    async def drop_dead(self, node: str, is_live: Callable[[str], bool]) -> None:
        """Take away the codes that tokens of this node's own made which count no more."""
        waiting = {key: row for key, row in self._table.rows().items() if key.startswith(PREFIX) and _is_code(row)}
        for key, row in waiting.items():
            offer = _read(row).offer
            if offer.node == node and not is_live(offer.parent):
                await self._table.drop(key)

    async def _row(self, found: str) -> Row | None:
        if len(found) != NAME_LETTERS or not set(found) <= set(LETTERS):
            return None
        row = await self._table.keys.read(PREFIX + found)
        return row if row is not None and _is_code(row) else None


def _is_code(row: Row) -> bool:
    """Whether a row is one of ours: what a later version writes, or a key that was stolen, stands in no other's way."""
    try:
        _read(row)
    except BROKEN:
        return False
    return True


def _read(row: Row) -> _Waiting:
    return decoders.decode(row.value, _Waiting)
