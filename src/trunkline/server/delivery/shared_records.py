"""What is owed or shown, in the cluster's table: whichever node sends goes on where the one before it stopped.

Rule 1: it is claimed before it is read: it is written again as it is, under a fence. What the sender before this one still writes
        is refused from then on.
Rule 2: unlike a file's, a record that cannot be written stops whoever writes it: what is sent without it would be sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN

if TYPE_CHECKING:
    from trunkline.cluster.tables.table import Table

T = TypeVar("T")


class ClaimedKey(msgspec.Struct):
    """A key of the table that this node alone writes now."""

    table: Table
    key: str
    value: bytes
    revision: int


async def claim_key(table: Table, key: str) -> ClaimedKey:
    """Claim a record and read it, as the leader has it; Conflict where another node claims it at the same time."""
    row = await table.keys.read(key)
    value = b"" if row is None else row.value
    revision = await table.create(key, value) if row is None else await table.put(key, value, revision=row.revision)
    return ClaimedKey(table, key, value, revision)


class SharedRecord(Generic[T]):
    """A record (as ``records.StateFile``) in a claimed key."""

    def __init__(self, claimed: ClaimedKey, form: type[T], content: Callable[[], T], log: logging.Logger) -> None:
        self._claimed = claimed
        self._form = form
        self._content = content
        self._log = log
        self._owed = False
        self._writing: asyncio.Task[None] | None = None

    def load(self) -> T | None:
        """What the sender before this one left; None where there is nothing."""
        if not self._claimed.value:
            return None
        try:
            return decoders.decode(self._claimed.value, self._form)
        except BROKEN as error:
            self._log.warning("the cluster's %s cannot be read and is begun anew: %s", self._claimed.key, error)
            return None

    def save_soon(self) -> None:
        """Something changed."""
        self._owed = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_all())
            self._writing.add_done_callback(self._on_written)

    async def saved(self) -> None:
        """All of it is in the cluster; the error where it is not."""
        if self._owed and (self._writing is None or self._writing.done()):
            self.save_soon()
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write_all(self) -> None:
        claimed = self._claimed
        while self._owed:
            self._owed = False
            value = msgspec.json.encode(self._content())
            try:
                claimed.revision = await claimed.table.put(claimed.key, value, revision=claimed.revision)
            except BaseException:
                self._owed = True
                raise

    def _on_written(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()  # whoever waits gets it as well
        if error is not None:
            self._log.warning("the cluster's %s is not written: %s", self._claimed.key, error)
