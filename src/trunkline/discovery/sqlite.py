"""Reads a database that another program has open, so that it does not notice.

Rule 1: no file is made or changed beside it, and no lock is held but a reader's, which SQLite's writers do not wait for, for as
long as one look takes. ``-shm`` is opened read-only; where there is none to share, the log is not touched either.
Rule 2: a look has an end: in rows, by whoever asks, in time (``LOOK_S``) and in memory (``VALUE_MOST``, ``TAKEN_MOST``), however
a damaged or hostile file is made.
Rule 3: only what is stored is read. A view, or a column that is computed, makes gigabytes out of a small file.
Rule 4: what is sorted, compared and counted is short (``SHORT_MOST``); long values are fetched one row at a time. Pages can be
crafted so that each of a thousand rows has the same 60 MiB: SQLite sorts them before it returns the first.
Rule 5: what cannot be read is an OSError, whatever SQLite calls it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

from trunkline.disk.reading import check_plain
from trunkline.threads import check_off_loop

LOOK_S = 5.0
"""How long one look may take."""

STEPS = 10_000
"""Steps of SQLite's machine between two looks at the clock."""

VALUE_MOST = 64 << 20
"""Bytes of one value: as a line of a file that is followed."""

SHORT_MOST = 4 << 10
"""Bytes of a value in a query that sorts, compares or counts: ids and times."""

SCHEMA_MOST = 1 << 20
"""Bytes of what makes one table; theirs have some hundreds."""

TAKEN_MOST = 256 << 20
"""Bytes of memory that all rows of one look take: as much as is copied of a session's file."""

WITH_LOG = "mode=ro&readonly_shm=1"
WITHOUT_LOG = "immutable=1"
"""Nobody writes, all is in the one file: it is read without any lock."""

_COMPUTED = """\
SELECT lower(made.name), lower(part.name) FROM sqlite_schema made, pragma_table_xinfo(made.name) part
WHERE made.type = 'table' AND made.rootpage > 0 AND part.hidden IN (2, 3) LIMIT 10000"""
"""Only of tables that are stored: those of a module that is not here cannot be asked."""

Row = tuple[Any, ...]


class Look:
    """One look at a database."""

    def __init__(self, connection: sqlite3.Connection, until: float) -> None:
        self._connection = connection
        self._until = until
        self._taken = 0

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a query, which bounds them. Whatever it reads is short; OSError where it is not."""
        return self._rows(query, values, SHORT_MOST)

    def whole(self, table: str, columns: Sequence[str], which: str, values: Sequence[object] = ()) -> list[Row]:
        """Rows of a table with all that they hold. ``which`` ones and in what order: the end of a query."""
        numbers = self.rows(f"SELECT rowid FROM {table} {which}", values)
        return [row for (number,) in numbers for row in self.numbered(table, columns, number)]

    def numbered(self, table: str, columns: Sequence[str], number: object) -> list[Row]:
        """One row by its number, where it is still there."""
        return self._rows(f"SELECT {', '.join(columns)} FROM {table} WHERE rowid = ? LIMIT 1", (number,), VALUE_MOST)

    def _rows(self, query: str, values: Sequence[object], most: int) -> list[Row]:
        if time.monotonic() > self._until:
            raise OSError(errno.ETIMEDOUT, "the database cannot be read: it takes too long")
        with _as_os_errors():
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
            return list(map(self._counted, self._connection.execute(query, values)))

    def _counted(self, row: Row) -> Row:
        self._taken += sum(map(sys.getsizeof, row))
        if self._taken > TAKEN_MOST:
            raise OSError(errno.EFBIG, f"a look at the database takes more than {TAKEN_MOST >> 20} MiB")
        return row

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns; versions of a program differ."""
        return {row[1] for row in self.rows("SELECT * FROM pragma_table_info(?) LIMIT 1000", (table,)) if isinstance(row[1], str)}


@contextmanager
def look_at(path: str) -> Iterator[Look]:
    """A database, to be read; OSError where it cannot be."""
    check_off_loop()
    check_plain(os.lstat(path).st_mode, path)
    with _as_os_errors():
        connection = _open(path)
    until = time.monotonic() + LOOK_S
    with closing(connection):
        with _as_os_errors():
            _set_up(connection, until)
        yield Look(connection, until)


def _set_up(connection: sqlite3.Connection, until: float) -> None:
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SCHEMA_MOST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, SCHEMA_MOST)
    connection.text_factory = _text
    for pragma in ("query_only=1", "trusted_schema=0", "cell_size_check=1", "temp_store=2", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.set_authorizer(_only_stored(frozenset(connection.execute(_COMPUTED))))


def _only_stored(computed: frozenset[Row]) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    """What SQLite asks about all that a query does: no to what comes by a view, and to columns that are computed."""
    def allows(action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        is_computed = action == sqlite3.SQLITE_READ and ((first or "").lower(), (second or "").lower()) in computed
        return sqlite3.SQLITE_DENY if is_computed or view is not None else sqlite3.SQLITE_OK

    return allows


def _open(path: str) -> sqlite3.Connection:
    how = WITH_LOG if _has_log(path) else WITHOUT_LOG
    return sqlite3.connect(f"file:{quote(path)}?{how}", uri=True, timeout=0, isolation_level=None, check_same_thread=False)


def _has_log(path: str) -> bool:
    """Whether there is a log with something in it, and what its readers share. Without that file SQLite would make it: then what
    is in the log has to wait until its owner comes back."""
    try:
        log, shared = os.lstat(f"{path}-wal"), os.lstat(f"{path}-shm")
    except OSError:
        return False
    for info in (log, shared):  # to open a pipe would be to wait for whoever writes into it
        check_plain(info.st_mode, path)
    return log.st_size > 0


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, MemoryError, OverflowError, ValueError) as error:
        # ValueError: what a damaged database says of itself may be no text.
        raise OSError(errno.EIO, f"the database cannot be read: {error}") from error
