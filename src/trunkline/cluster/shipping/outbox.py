"""What a session has that the stream has not: the newest of it in memory, the rest in the local journal.

Rule 1: what is here is a run without a hole that ends with the newest committed entry. It may be dropped: the journal has it.
Rule 2: a group is at most GROUP_BYTES and GROUP_ENTRIES, or one entry that is larger.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from trunkline.cluster.wire import GROUP_BYTES, GROUP_ENTRIES, LARGE_ENTRY
from trunkline.journal.base import Entry

HELD_BYTES = 1 << 20
"""Of one session. A session that the stream is this far behind is read from the journal: a page of it costs less than memory."""


class Reads(Protocol):
    """The part of a journal that is needed here."""

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """As ``Journal.read``."""


class Outbox:
    """One session's unshipped entries. ``shipped`` is the last seq that the stream has."""

    def __init__(self, session_id: str, journal: Reads, shipped: int, newest: int) -> None:
        self.session_id = session_id
        self.shipped = shipped
        self.newest = newest
        """The last seq that is committed here."""
        self._journal = journal
        self._held: deque[Entry] = deque()
        self._held_bytes = 0

    @property
    def is_empty(self) -> bool:
        return self.newest <= self.shipped

    @property
    def held_bytes(self) -> int:
        """What of it is in memory."""
        return self._held_bytes

    def add(self, entries: list[Entry], size: int, *, keep: bool = True) -> None:
        """These were committed. ``keep`` them in memory, unless it will be long before they are shipped."""
        self.newest = entries[-1].seq
        self._held.extend(entries)
        self._held_bytes += size
        if self._held_bytes > HELD_BYTES or not keep:
            self._held.clear()
            self._held_bytes = 0

    def ship(self, seq: int) -> None:
        """All up to this is in the stream."""
        self.shipped = seq
        held = self._held
        if held and held[-1].seq <= seq:  # as nearly always: none need be weighed
            held.clear()
            self._held_bytes = 0
        while held and held[0].seq <= seq:
            self._held_bytes -= held.popleft().size()

    def go_back(self, seq: int) -> None:
        """The stream ends at this now: what follows comes from the journal, which has all of it."""
        self.shipped = seq
        self._held.clear()
        self._held_bytes = 0

    async def next_group(self) -> tuple[list[Entry], int]:
        """The next entries that fit one message, and their size; none where the journal has nothing behind what is shipped."""
        held = self._held
        if held and held[0].seq == self.shipped + 1:
            if self._held_bytes <= GROUP_BYTES and len(held) <= GROUP_ENTRIES:
                return list(held), self._held_bytes
            return _first_group(held)
        before = held[0].seq if held else None
        stored = await self._journal.read(self.session_id, after=self.shipped, before=before, limit=GROUP_ENTRIES,
                                          max_bytes=GROUP_BYTES)
        return _first_group(stored or self._held)


def _first_group(entries: list[Entry] | deque[Entry]) -> tuple[list[Entry], int]:
    """The first ones that fit; a large one is alone."""
    group: list[Entry] = []
    total = 0
    for entry in entries:
        size = entry.size()
        if group and (total + size > GROUP_BYTES or len(group) == GROUP_ENTRIES or size > LARGE_ENTRY):
            break
        group.append(entry)
        total += size
    return group, total
