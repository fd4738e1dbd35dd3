"""Where a session that is started under a key is started: one node for all who ask with that key, at whichever gateway.

Rule 1: a gateway writes the node that it chose before it asks that node (``create``). Whoever comes second goes to the same one,
        and that node knows the key from the session's own state: so it is started once, also when the gateway died in between.
Rule 2: a key stands for what was wanted with it; for something else it is refused.
Rule 3: what could not be started is forgotten: the next try may choose another node. The rest ends by itself after a day.
Rule 4: the table has a hash of the key: whoever reads it learns no key that a client may use again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster.tables.keys import Row
from trunkline.cluster.tables.table import Table
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Conflict, KeyReused

log = logging.getLogger("trunkline.cluster")

PREFIX: Final = "start."
KEPT_S: Final = 86_400.0
"""A client tries again within seconds; a day covers one that was away."""
TRIES: Final = 5
"""How often it is looked again where a key is taken away while it is read."""


class Place(msgspec.Struct, frozen=True):
    """Where it is started, and what was wanted. ``revision`` is that of the key."""

    node: str
    digest: str
    revision: int = 0


class StartPlaces:
    """The start keys of a cluster; ``table`` follows its bucket of tokens."""

    def __init__(self, table: Table) -> None:
        self._table = table

    async def place(self, key: str, digest: str, choose: Callable[[], Awaitable[str]]) -> Place:
        """The node that starts what is wanted under ``key``: the one that was chosen first. ``choose`` names one where this is
        the first try. KeyReused where something else was wanted with it."""
        for _ in range(TRIES):
            found = await self._found(key) or await self._made(key, digest, choose)
            if found is not None:
                _check_same(found, digest)
                return found
        raise Conflict("this Idempotency-Key is used by others at this moment; try again")

    async def forget(self, key: str, place: Place) -> None:
        """It was not started there, and never will be for this try: another node may be chosen."""
        try:
            await self._table.take(_name(key), place.revision)
        except Conflict:
            return  # somebody else forgot it before, and may have chosen again

    async def moved(self, key: str, node: str) -> None:
        """What was started under a key is on another node now; whoever asks again is to find it there."""
        row = await self._table.keys.read(_name(key))
        before = None if row is None else _read(row)
        if row is not None and before is not None:
            place = Place(node, before.digest)
            await self._table.put(_name(key), msgspec.json.encode(place), revision=row.revision, ttl_s=KEPT_S)

    async def _found(self, key: str) -> Place | None:
        row = await self._table.keys.read(_name(key))
        return None if row is None else _read(row)

    async def _made(self, key: str, digest: str, choose: Callable[[], Awaitable[str]]) -> Place | None:
        made = Place(await choose(), digest)
        try:
            revision = await self._table.create(_name(key), msgspec.json.encode(made), ttl_s=KEPT_S)
        except Conflict:
            return None  # another gateway was first: its choice counts
        return msgspec.structs.replace(made, revision=revision)


def _read(row: Row) -> Place | None:
    """What a row says; None where that is nothing of ours, which nobody starts anything by."""
    try:
        return msgspec.structs.replace(decoders.decode(row.value, Place), revision=row.revision)
    except BROKEN as error:
        log.warning("a start key of the cluster cannot be read: %s", error)
        return None


def _name(key: str) -> str:
    return PREFIX + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _check_same(found: Place, digest: str) -> None:
    if found.digest != digest:
        raise KeyReused("this Idempotency-Key was used to start another session, with another body; nothing was done. "
                        "Use a new key for each session", details={"field": "Idempotency-Key"})
