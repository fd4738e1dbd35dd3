"""A journal's file read from outside: page by page, whether or not a hub is writing it.

Rule 1: it changes nothing, not even the schema. A file of another schema version is refused.
Rule 2: one snapshot per page, so that it never keeps a running hub's log from starting again. What is not in blocks yet is taken
when the file is opened, from ``recent`` and the group log; nothing is read that was committed later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from trunkline.errors import NotFound, StorageError
from trunkline.journal.base import Entry, RowFilter, SessionRow
from trunkline.journal.stores.sqlite.database import load_queries, migrations, storage_errors
from trunkline.journal.stores.sqlite.missing import held_beside
from trunkline.journal.stores.sqlite.reader import HubRead, SqliteReader

PAGE_ENTRIES = 2000
PAGE_BYTES = 4 << 20
_WAIT_S = 5.0


class JournalFile:
    """What a journal's file holds."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._path = path
        self._queries = load_queries()
        self._connection = connection
        self._reader = SqliteReader(connection, self._queries)
        self._held, self._horizon = _held_for_sure(connection, path)
        self._gone = {session for (session,) in connection.execute(self._queries["deletions"])}

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """(session id, entry) of all sessions, in the order in which they were committed, as of when it was opened."""
        after = 0
        while True:
            with storage_errors(self._path, "read"):
                held = [pair for pair in self._held if pair[1].pos > after and pair[0] not in self._gone]
                page = self._reader.hub(HubRead(after, PAGE_ENTRIES, PAGE_BYTES, self._gone, self._horizon, held))
            if not page:
                return
            yield from page
            after = page[-1][1].pos

    def row(self, session_id: str) -> SessionRow | None:
        """A session's row; None where there is none."""
        with storage_errors(self._path, "read"):
            found = [] if session_id in self._gone else self._reader.rows(RowFilter(id=session_id))
        for row in found:
            row.last_seq = max([row.last_seq, *(entry.seq for session, entry in self._held if session == session_id)])
        return found[0] if found else None

    def named(self, beginning: str) -> list[str]:
        """The ids of the sessions that begin so."""
        with storage_errors(self._path, "read"):
            ids = [row[0] for row in self._connection.execute(self._queries["session_ids"])]
        return [found for found in ids if found.startswith(beginning) and found not in self._gone]


def _held_for_sure(connection: sqlite3.Connection, path: Path) -> tuple[list[tuple[str, Entry]], int]:
    """What is not in blocks, and up to which pos nothing can be missing but what is damaged.

    A hub that runs commits between two looks at its files, so something may be missing that only came meanwhile; what a second
    look misses too is damage, and no reason to stop there."""
    first, second = (held_beside(connection, path) for _ in range(2))
    if second.missing is None or second.missing == first.missing:
        horizon = second.newest
    else:
        horizon = second.missing - 1
    held = [(session, entry) for parts in second.parts for session, entries in parts.items() for entry in entries
            if entry.pos <= horizon]
    return sorted(held, key=lambda pair: pair[1].pos), horizon


@contextmanager
def open_read_only(path: Path) -> Iterator[JournalFile]:
    """This file, to read from; NotFound where there is none."""
    if not path.exists():
        raise NotFound(f"there is no journal {path}")
    with storage_errors(path, "opened"):
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_WAIT_S, isolation_level=None)
    with closing(connection):
        with storage_errors(path, "opened"):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != len(migrations()):
                raise StorageError(f"the journal {path} has schema version {version}, and this Trunkline reads "
                                   f"{len(migrations())}: start a hub on it once, or use the Trunkline that wrote it")
            file = JournalFile(connection, path)
        yield file
