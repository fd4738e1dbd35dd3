"""What the journal's tests write and open: entries, rows and groups by the handful, and stores that can be opened again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from trunkline.journal.base import Entry, Group, Journal, SessionRow
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.journal.stores.sqlite.housekeeping import Upkeep
from trunkline.journal.stores.sqlite.store import SqliteJournal

Opener = Callable[[], Journal]
"""Gives the journal of one place; called again, the same entries."""

BUSY = Upkeep(checkpoint_bytes=64 << 10, behind_bytes=256 << 10, fold_groups=3, fold_bytes=16 << 10)
"""Housekeeping all the time, so that a short test meets all of it."""


def entry(seq: int, size: int = 20) -> Entry:
    """An entry whose bodies tell its seq."""
    return Entry(seq=seq, at=1_700_000_000_000_000 + seq, event=f"{seq}:".encode().ljust(size, b"e"), update=b"{}")


def entries(first: int, last: int, size: int = 20) -> list[Entry]:
    """Entries first..last."""
    return [entry(seq, size) for seq in range(first, last + 1)]


def group(**parts: list[Entry]) -> Group:
    """A group without rows."""
    return Group(dict(parts), {})


def row(session_id: str, *, updated_at: int = 1, agent: str = "demo", cwd: str = "/home/ada/work", title: str = "A title",
        status: str = "idle", summary: bytes = b"{}", checkpoint: bytes = b"fold", checkpoint_seq: int = 0) -> SessionRow:
    """A session's row."""
    return SessionRow(id=session_id, agent=agent, cwd=cwd, title=title, status=status, created_at=1, updated_at=updated_at,
                      summary=summary, checkpoint=checkpoint, checkpoint_seq=checkpoint_seq)


def seqs(found: list[Entry]) -> list[int]:
    """The seqs of a page."""
    return [each.seq for each in found]


async def read_all(journal: Journal, session_id: str, *, max_bytes: int = 1 << 20, limit: int = 1000) -> list[Entry]:
    """All entries of a session, page by page."""
    found: list[Entry] = []
    while page := await journal.read(session_id, after=found[-1].seq if found else 0, max_bytes=max_bytes, limit=limit):
        found += page
    return found


async def read_hub_all(journal: Journal, *, max_bytes: int = 1 << 20, limit: int = 1000) -> list[tuple[str, Entry]]:
    """All entries of all sessions, page by page."""
    found: list[tuple[str, Entry]] = []
    while page := await journal.read_hub(after=found[-1][1].pos if found else 0, max_bytes=max_bytes, limit=limit):
        found += page
    return found


def memory_store(folder: Path) -> Opener:
    """One journal in memory: opened again, it is the same."""
    journal = MemoryJournal()
    return lambda: journal


def sqlite_store(folder: Path) -> Opener:
    """A file, opened anew each time."""
    return lambda: SqliteJournal(folder / "journal.db")


def full_sqlite_store(folder: Path) -> Opener:
    """The same with an fsync per group."""
    return lambda: SqliteJournal(folder / "journal.db", durability="full")


def busy_sqlite_store(folder: Path) -> Opener:
    """A file whose housekeeping never rests."""
    return lambda: SqliteJournal(folder / "journal.db", upkeep=BUSY)


def table_count(path: Path, table: str) -> int:
    """Rows of a table, as another process sees them."""
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


def stored_blocks(path: Path, session_id: str) -> list[tuple[int, int, int, bytes]]:
    """(first seq, last seq, bytes before packing, body) of a session's blocks."""
    connection = sqlite3.connect(path)
    try:
        query = "SELECT first_seq, last_seq, packed_bytes, body FROM blocks WHERE session = ? ORDER BY first_seq"
        return connection.execute(query, (session_id,)).fetchall()
    finally:
        connection.close()
