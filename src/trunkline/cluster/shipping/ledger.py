"""How far each session is in the stream, over restarts: one row each in a small file beside the journal.

Rule 1: a row may be behind the truth, never ahead of it: it is written after the stream acknowledged. What a shipper does not
        know it learns from the stream, so that a lost file costs a question per session.
Rule 2: it is written off the loop, a moment after, many rows at a time.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from trunkline.errors import StorageError
from trunkline.threads import Lane

WRITE_AFTER_S: Final = 0.5

T = TypeVar("T")

_MAKE: Final = """\
CREATE TABLE IF NOT EXISTS shipped (
  session    TEXT PRIMARY KEY,
  epoch      INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  stream_seq INTEGER NOT NULL,
  after      INTEGER,
  over       INTEGER NOT NULL
) STRICT, WITHOUT ROWID"""
_PUT: Final = "INSERT OR REPLACE INTO shipped VALUES (?, ?, ?, ?, ?, ?)"
_ALL: Final = "SELECT session, epoch, seq, stream_seq, after, over FROM shipped"
_DROP: Final = "DELETE FROM shipped WHERE session = ?"


class ShippedRow(msgspec.Struct, frozen=True):
    """How far one session is."""

    session: str
    epoch: int = 1
    """0: it is nobody's yet. Its history is being written here, and it may never be this node's."""
    seq: int = 0
    """The last one that the stream acknowledged; of a session that another node has, the last one that it took over."""
    stream_seq: int = 0
    after: int | None = None
    over: bool = False
    """Whether another node has it."""


class Ledger:
    """All rows, in memory and in the file. Without a path they are gone with the process."""

    def __init__(self, path: Path | None) -> None:
        self.rows: dict[str, ShippedRow] = {}
        self._path = path
        self._owed: dict[str, ShippedRow | None] = {}
        self._lane = Lane(1)
        self._writing: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read what is there."""
        if self._path is not None:
            self.rows = {row.session: row for row in await self._lane.run(_read, self._path)}

    def put(self, row: ShippedRow) -> None:
        """Remember a row; it is written in a moment."""
        self.rows[row.session] = self._owed[row.session] = row
        self._write_soon()

    def forget(self, session_id: str) -> None:
        """The session is gone."""
        self.rows.pop(session_id, None)
        self._owed[session_id] = None
        self._write_soon()

    async def flush(self) -> None:
        """Have what is owed on the disk when this returns."""
        await self._write()

    async def close(self) -> None:
        """Write what is owed."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait((self._writing,))
        await self._write()

    def _write_soon(self) -> None:
        if self._writing is None and self._path is not None:
            self._writing = asyncio.create_task(self._write_later())

    async def _write_later(self) -> None:
        try:
            await asyncio.sleep(WRITE_AFTER_S)
            await self._write()
        finally:
            self._writing = None

    async def _write(self) -> None:
        owed, self._owed = self._owed, {}
        if self._path is not None and owed:
            await self._lane.run(_write, self._path, owed)


def _read(path: Path) -> list[ShippedRow]:
    return _anew_where_damaged(path, lambda: _rows(path))


def _rows(path: Path) -> list[ShippedRow]:
    with _opened(path) as file:
        return [ShippedRow(session, epoch, seq, stream_seq, after, bool(over))
                for session, epoch, seq, stream_seq, after, over in file.execute(_ALL)]


def _write(path: Path, owed: dict[str, ShippedRow | None]) -> None:
    _anew_where_damaged(path, lambda: _put(path, owed))


def _anew_where_damaged(path: Path, work: Callable[[], T]) -> T:
    """Damage may show behind the first page only, where a row is looked for."""
    try:
        return work()
    except sqlite3.OperationalError as error:
        if "no such column" not in str(error):  # a full disk, or somebody else's lock, is no damage
            raise StorageError(f"{path} cannot be used: {error}") from error
    except sqlite3.DatabaseError:
        pass
    path.unlink(missing_ok=True)
    return work()


def _put(path: Path, owed: dict[str, ShippedRow | None]) -> None:
    with _opened(path) as file:
        file.executemany(_PUT, _values(owed.values()))
        file.executemany(_DROP, [(session,) for session, row in owed.items() if row is None])


def _values(rows: Iterable[ShippedRow | None]) -> list[tuple[object, ...]]:
    return [(row.session, row.epoch, row.seq, row.stream_seq, row.after, int(row.over)) for row in rows if row is not None]


class _opened:
    """The file for one read or write; a damaged one is begun anew: all that is in it can be learned again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._file = self._open()
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)
            self._file = self._open()
        return self._file

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                self._file.commit()
        except sqlite3.Error as failure:
            raise StorageError(f"{self._path} cannot be written: {failure}") from failure
        finally:
            self._file.close()

    def _open(self) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))  # closed to others from the beginning
        self._path.chmod(0o600)
        file = sqlite3.connect(self._path, isolation_level=None)
        file.execute(_MAKE)
        file.execute("BEGIN")
        return file
