"""A page: the entries that one read returns, within its limits.

Rule: the first entry is always taken, whatever its size, so that a reader never stands still.
"""

from __future__ import annotations

from trunkline.journal.base import Entry


class Page:
    """Collects entries until ``limit`` entries or ``max_bytes`` of body are reached."""

    def __init__(self, limit: int, max_bytes: int) -> None:
        self.entries: list[Entry] = []
        self._limit = limit
        self._bytes_left = max_bytes

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
