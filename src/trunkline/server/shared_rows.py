"""Rows of one kind in a table of the cluster: what any node makes counts at every node.

Rule 1: a change counts here at once, and is answered for when the cluster has it (``written``). One that could not be made is
taken back. One that could not be taken away is owed: it does not count here any more, and goes when the cluster is back.
Rule 2: a row is made once, and changed under a fence: what was taken away never comes back because somebody changed it.
Rule 3: what another node does is told (``on_change``) as it is heard; what is done here is not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import ClusterUnavailable, Conflict, TrunklineError, Unavailable

if TYPE_CHECKING:
    from trunkline.cluster.tables.keys import Row
    from trunkline.cluster.tables.table import Table

log = logging.getLogger("trunkline.server")

ALONE_S = 30.0
"""How long a node without its cluster goes on taking what the cluster had."""

T = TypeVar("T")
Change = Callable[[str, T | None, T | None], None]
"""A row's name, what it was and what it is now."""


class SharedRows(Generic[T]):
    """The rows whose keys begin with ``prefix``; each is a ``form``. ``owed`` are names that a hub before this one owed."""

    def __init__(self, table: Table, prefix: str, form: type[T], *, owed: Iterable[str] = ()) -> None:
        self.on_change: Change[T] = lambda name, before, row: None
        self._table = table
        self._prefix = prefix
        self._form = form
        self._rows: dict[str, T] = {}
        self._owed: dict[str, None] = dict.fromkeys(owed)
        self._writing: set[asyncio.Task[None]] = set()
        for key, row in table.rows().items():
            self._on_change(key, None, row)
        table.watch(self._on_change)
        table.on_checked(self._pay_again)

    def counts(self) -> bool:
        """Whether the leader has confirmed lately what is here."""
        return self._table.silent_s() < ALONE_S

    def can_write(self) -> bool:
        """Whether something that is made now is likely to get there."""
        return self._table.up and self.counts()

    @property
    def owed(self) -> list[str]:
        """What was taken away here, and not yet in the cluster."""
        return list(self._owed)

    def get(self, name: str) -> T | None:
        """The row of this name."""
        return self._rows.get(name)

    def all(self) -> dict[str, T]:
        """All of them by their names."""
        return dict(self._rows)

    def add(self, name: str, row: T, *, ttl_s: float | None = None) -> None:
        """Make one; ClusterUnavailable, and nothing done, without the cluster."""
        if not self.can_write():
            raise ClusterUnavailable("this node is without its cluster, so nothing can be made that counts there")
        self._rows[name] = row
        self._owed.pop(name, None)
        self._start(self._create(name, row, ttl_s))

    def note(self, name: str, row: T, *, ttl_s: float | None = None) -> None:
        """Change one, if it is still there; nobody waits for it."""
        stored = self._table.get(self._prefix + name)
        if stored is not None and name in self._rows and self.counts():
            self._rows[name] = row
            self._start(self._update(name, row, stored.revision, ttl_s))

    def remove(self, names: Iterable[str]) -> None:
        """Take these away; they do not count here from now on."""
        before = len(self._owed)
        for name in names:
            self._rows.pop(name, None)
            self._owed[name] = None
        if len(self._owed) > before:
            self._start(self._pay())

    def written(self) -> Awaitable[None]:
        """Wait until the cluster has every change up to this call; the error where it has not."""
        return _all_done(list(self._writing))

    async def close(self) -> None:
        """Write no more."""
        for task in (writing := list(self._writing)):
            task.cancel()
        await asyncio.gather(*writing, return_exceptions=True)

    async def _create(self, name: str, row: T, ttl_s: float | None) -> None:
        try:
            await self._table.create(self._prefix + name, msgspec.json.encode(row), ttl_s=ttl_s)
        except TrunklineError:
            self._rows.pop(name, None)
            self._owed[name] = None  # it may be stored all the same, and whoever made it is told that it is not
            raise

    async def _update(self, name: str, row: T, revision: int, ttl_s: float | None) -> None:
        try:
            await self._table.put(self._prefix + name, msgspec.json.encode(row), revision=revision, ttl_s=ttl_s)
        except (Unavailable, Conflict) as error:
            log.debug("a change of %s%s is not noted: %s", self._prefix, name, error.message)

    async def _pay(self) -> None:
        for name in [name for name in self._owed if name not in self._rows]:
            try:
                await self._table.drop(self._prefix + name)
            except Unavailable as error:
                raise ClusterUnavailable("it ends at this node, and in the cluster when that can be reached: "
                                         f"{error.message}") from error
            self._owed.pop(name, None)

    def _pay_again(self) -> None:
        if self._owed and not self._writing and self.counts():
            self._start(self._pay())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._writing.add(task)
        task.add_done_callback(self._on_written)

    def _on_written(self, task: asyncio.Task[None]) -> None:
        self._writing.discard(task)
        error = None if task.cancelled() else task.exception()  # whoever waits gets it as well
        if error is not None:
            log.warning("a change of the cluster's table is not made: %s", error)

    def _on_change(self, key: str, before: Row | None, row: Row | None) -> None:
        if not key.startswith(self._prefix):
            return
        name = key.removeprefix(self._prefix)
        was = self._rows.pop(name, None)
        now = None if row is None or name in self._owed else self._read(key, row)
        if now is not None:
            self._rows[name] = now
        if was != now:
            self.on_change(name, was, now)

    def _read(self, key: str, row: Row) -> T | None:
        """What a row says; None, and a line in the log, where that cannot be read."""
        try:
            return decoders.decode(row.value, self._form)
        except BROKEN as error:
            log.warning("the cluster's %s cannot be read: %s", key, error)
            return None


async def _all_done(writes: list[asyncio.Task[None]]) -> None:
    if writes:
        await asyncio.wait(writes)
    for write in writes:
        write.result()
