"""Old copies of rows in the room that a page has left: SQLite overwrites a row that is deleted, and not these.

Where a page is split or merged, rows move to its neighbours, and what they were stays behind in the room between the page's list
of cells and the cells themselves. No deletion finds it there, whatever ``secure_delete`` says.

Rule 1: it is overwritten only while nobody can write: SQLite's write lock is ours and its log is empty, so the file is all there
is. A transaction ends that, and every other connection reads its pages anew; ours has let go of them before.
Rule 2: only room between cells is overwritten. What does not look like a page is left as it is, and so is a file whose pages are
of another size, or some of which are lists of others (``auto_vacuum``): those could be taken for pages with cells.
Rule 3: the file is opened before SQLite's connections and closed after them: for a process to close one descriptor of a file is
to give up all of its locks on it, SQLite's too (POSIX).
Rule 4: it is closed by the thread that works on it, or when that has ended: a number that was let go of may be another file's.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

PAGE_BYTES = 4096
"""SQLite's default, and so ours."""

_HEADER_BYTES = 100
"""Of the file: the size of its pages at 16, and at 52 what is not zero where it has lists of pages."""

_HEADS = {2: 12, 5: 12, 10: 8, 13: 8}
"""Bytes before a page's list of cells, by the kind of page, which is its first byte."""

_PAGES_MOST = 0x02000000
"""From so many pages on (128 GiB) the first byte of a page that holds the rest of a row may look like a kind of page."""

_READ_PAGES = 256
"""Pages that are read at a time."""


class Wiper:
    """The room in the pages of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def open(self) -> None:
        """Open the file. Before the first connection."""
        self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)

    def close(self) -> None:
        """Let it go. After the last connection."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    @property
    def count(self) -> int:
        """How many pages the file has; 0 where not all of them can be told apart."""
        header = os.pread(self._file, _HEADER_BYTES, 0)
        if header[16:18] != PAGE_BYTES.to_bytes(2, "big") or any(header[52:56]):
            return 0
        count = os.fstat(self._file).st_size // PAGE_BYTES
        return count if count < _PAGES_MOST else 0

    def stained(self, first: int, last: int) -> list[int]:
        """Which of these pages (they count from 1) have something in their room. The first has the schema, and no row of ours."""
        return [number for number, page in self._pages(max(first, 2), min(last, self.count)) if _stain(page)]

    def wipe(self, connection: sqlite3.Connection, numbers: list[int]) -> bool:
        """Overwrite the room of these pages; False, and nothing done, where somebody keeps the log from being emptied."""
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            return False
        connection.execute("PRAGMA shrink_memory")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("BEGIN IMMEDIATE")
        try:
            if os.path.getsize(f"{self._path}-wal"):
                return False  # a program that is not ours was quicker
            for number in numbers:
                self._wipe(number)
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()
        return True

    def _wipe(self, number: int) -> None:
        for _, page in self._pages(number, number):
            stain = _stain(page)
            if stain is not None:
                first, last = stain
                os.pwrite(self._file, bytes(last - first), (number - 1) * PAGE_BYTES + first)

    def _pages(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        for begin in range(first, last + 1, _READ_PAGES):
            count = min(_READ_PAGES, last + 1 - begin)
            content = os.pread(self._file, count * PAGE_BYTES, (begin - 1) * PAGE_BYTES)
            for place in range(0, len(content) - PAGE_BYTES + 1, PAGE_BYTES):
                yield begin + place // PAGE_BYTES, content[place:place + PAGE_BYTES]


def _stain(page: bytes) -> tuple[int, int] | None:
    """Where a page has something that belongs to no cell; None where it has nothing, or is no page of a tree."""
    head = _HEADS.get(page[0])
    if head is None:
        return None
    first, last = head + 2 * int.from_bytes(page[3:5], "big"), int.from_bytes(page[5:7], "big")
    return (first, last) if first < last <= PAGE_BYTES and any(page[first:last]) else None
