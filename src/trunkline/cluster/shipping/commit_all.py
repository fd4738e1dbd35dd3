"""``--commit all``: a journal in which nothing counts as committed before the cluster's stream has it.

Rule 1: first the local journal, then the stream. What a crash leaves between the two is shipped before the hub lets anybody in.
Rule 2: never on the spot: whoever commits has to wait.
Rule 3: a session that another node took over is refused alone; the others of its group are committed.
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Self

from trunkline.cluster.shipping.shipper import Shipper
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, Journal


class CommitAll:
    """The hub's journal, with the stream's acknowledgement in each commit."""

    def __init__(self, local: Journal, shipper: Shipper) -> None:
        self._local, self._shipper = local, shipper
        self._under_way = math.inf
        """From this place on the stream may not have it yet."""
        self.read, self.rows = local.read, local.rows
        self.pack, self.delete, self.health = local.pack, local.delete, local.health

    @property
    def last_pos(self) -> int:
        """The newest pos that was given out."""
        return self._local.last_pos

    def append_now(self, group: Group) -> bool:
        """Never: it has to wait for the stream."""
        return False

    def append_alone_now(self, session_id: str, entries: list[Entry]) -> bool:
        """Never, as above."""
        return False

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """As ``Journal.read_hub``; without what the stream may not have. (A session's own readers know how far it is.)"""
        found = await self._local.read_hub(after=after, limit=limit, max_bytes=max_bytes)
        return [item for item in found if item[1].pos < self._under_way]

    async def append(self, group: Group) -> None:
        """Commit a group here, and wait until the stream has it."""
        self._under_way = self._local.last_pos + 1
        try:
            await self._append(group)
        finally:
            self._under_way = math.inf

    async def _append(self, group: Group) -> None:
        if not self._local.append_now(group):
            await self._local.append(group)
        self._shipper.committed(group.entries)
        ends = {session_id: entries[-1].seq for session_id, entries in group.entries.items()
                if entries and not self._shipper.is_apart(session_id)}
        done = await asyncio.gather(*(self._shipper.shipped(*end) for end in ends.items()), return_exceptions=True)
        for session_id, error in zip(ends, done, strict=True):
            if isinstance(error, StorageError):
                group.refused = {**group.refused, session_id: error}
            elif error is not None:
                raise error

    async def __aenter__(self) -> Self:
        await self._local.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self._local.__aexit__(kind, error, trace)


