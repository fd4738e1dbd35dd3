"""A page: the entries that one read returns, within its limits.

Rule 1: the first entry is always taken, whatever its size, so that a reader never stands still.
Rule 2: entries that fit together are not weighed one by one; a long replay is made of nothing else.
Rule 3: a page of many entries ends with a block where another one as large would not fit: what is read of that would be read
        again.
"""

from __future__ import annotations

from trunkline.journal.base import Entry

MANY = 100
"""Entries from which on a page may end before its limits: a replay's. Who asks for a few gets as many as there are."""


class Page:
    """Collects entries until ``limit`` entries or ``max_bytes`` of body are reached."""

    def __init__(self, limit: int, max_bytes: int) -> None:
        self.entries: list[Entry] = []
        self._limit = limit
        self._bytes_left = max_bytes

    def add_block(self, entries: list[Entry], most_bytes: int) -> bool:
        """Take what fits of entries that have at most ``most_bytes`` together; False when the page is full."""
        if most_bytes > self._bytes_left or len(self.entries) + len(entries) >= self._limit:
            return self.add_all(entries)
        self.entries += entries
        self._bytes_left -= most_bytes
        return most_bytes <= self._bytes_left or len(self.entries) < MANY

    def add_all(self, entries: list[Entry]) -> bool:
        """Take what fits; False when the page is full."""
        taken, left, room = self.entries, self._bytes_left, self._limit - len(self.entries)
        for index, entry in enumerate(entries):
            size = entry.size()
            if index >= room or (size > left and taken):
                return False
            taken.append(entry)
            left -= size
        self._bytes_left = left
        return len(taken) < self._limit
