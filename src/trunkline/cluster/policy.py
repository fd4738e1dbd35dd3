"""The cluster's policy in its table: one key, a numbered text, written over the one before it and no other.

Rule 1: whoever writes has read what is there, from the leader; the fence makes one of two writers begin anew.
Rule 2: people write in threads, and the connection is on the loop: a writer waits for it, within bounds.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

import msgspec

from trunkline import decoders
from trunkline.cluster.tables.keys import TRIES_S, Row
from trunkline.cluster.tables.table import Table
from trunkline.dialects.outside import BROKEN
from trunkline.errors import ClusterDenied, Conflict, NodeSilent
from trunkline.session.policy.cluster import Numbered
from trunkline.threads import check_off_loop

if TYPE_CHECKING:
    from trunkline.session.policy.cluster import ClusterPolicy

log = logging.getLogger("trunkline.cluster")

KEY: Final = "rules"
WITHIN_S: Final = 3 * TRIES_S
"""Reading, writing, and asking the leader whether it was written."""


class SharedPolicy:
    """Keeps a node's idea of the policy at what the table has. ``table`` follows the bucket of policies."""

    def __init__(self, table: Table, policy: ClusterPolicy) -> None:
        self._table = table
        self._policy = policy
        self._loop = asyncio.get_running_loop()
        self._told = False
        policy.write = self.write
        table.watch(self._on_change)
        table.on_checked(self._on_checked)

    def write(self, text: str, number: int) -> None:
        """Write a text over the one of this number; Conflict where another is there. Blocks."""
        check_off_loop()
        writing = asyncio.run_coroutine_threadsafe(self._write(text, number), self._loop)
        try:
            writing.result(WITHIN_S)
        except TimeoutError:
            writing.cancel()
            raise NodeSilent("the cluster did not say whether the policy was written; read it again") from None

    async def _write(self, text: str, number: int) -> None:
        row = await self._table.keys.read(KEY)
        found = Numbered() if row is None else _read(row)
        if found.leaps(number):
            found = Numbered()
        if found.number > number:
            raise Conflict("the policy was changed since you read it; read it again")
        value = msgspec.json.encode(Numbered(max(found.number, number) + 1, text))
        try:
            if row is None:
                await self._table.create(KEY, value)
            else:
                await self._table.put(KEY, value, revision=row.revision)
        except ClusterDenied:
            raise ClusterDenied("this node may not change the cluster's policy; a gateway may") from None

    def _on_checked(self) -> None:
        """When the table was read for the first time there may be nothing to be told of: nobody wrote a policy yet."""
        if self._table.ready and not self._told:
            self._on_change(KEY, None, self._table.get(KEY))

    def _on_change(self, key: str, before: Row | None, row: Row | None) -> None:
        if key != KEY:
            return
        self._told = True
        if row is None:
            self._policy.lose()
            return
        self._policy.take(_read(row))


def _read(row: Row) -> Numbered:
    """What the table has; one that is older than any where that cannot be read: it changes nothing, and may be replaced."""
    try:
        return decoders.decode(row.value, Numbered)
    except BROKEN as error:
        log.warning("the cluster's policy cannot be read: %s", error)
        return Numbered()
