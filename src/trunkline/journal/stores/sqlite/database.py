"""The SQLite file: how it is made, opened, brought to the newest schema, and what its statements are called.

Rule 1: SQL lives in ``queries.sql`` and ``migrations/``; ``schema.sql`` is what all migrations together give.
Rule 2: the file is its owner's alone (0600), and so are the files that SQLite puts beside it.
Rule 3: what sqlite3 raises becomes StorageError here, naming the file and what was tried.
Rule 4: what is deleted is overwritten (``secure_delete``): a freed page or cell holds zeros, not what a person had deleted.
"""

from __future__ import annotations

import os
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from trunkline.dialects.outside import BROKEN
from trunkline.errors import StorageError

Durability = Literal["normal", "full"]

_HERE = Path(__file__).parent
_NAMED_QUERY = re.compile(r"^-- (\w+) --$", re.MULTILINE)

_BUSY_S = 5.0
"""How long to wait for a lock of somebody else's; our own connections never contend for the write lock."""

_DAMAGE_CODES = frozenset({11, 26, 266, 522})
"""SQLITE_CORRUPT, SQLITE_NOTADB, and what a disk does not give back (SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ)."""

_WAL_KEPT_BYTES = 32 << 20
"""A write-ahead log that a huge entry blew up shrinks to this when it starts again."""


def load_queries(file: Path = _HERE / "queries.sql") -> dict[str, str]:
    """The statements of a file of queries by name."""
    parts = _NAMED_QUERY.split(file.read_text(encoding="utf-8"))
    return {name: _statement(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def migrations() -> list[str]:
    """The scripts that make the schema, in order; the n-th brings ``user_version`` to n."""
    return [path.read_text(encoding="utf-8") for path in sorted((_HERE / "migrations").glob("[0-9]*.sql"))]


@contextmanager
def storage_errors(path: Path, tried: str) -> Iterator[None]:
    """What sqlite3, the file system and a damaged body raise, as StorageError."""
    try:
        yield
    except (sqlite3.Error, OSError, zlib.error, *BROKEN) as error:
        raise StorageError(f"the journal {path} could not be {tried}: {error}") from error


def is_damage(error: BaseException | None) -> bool:
    """Whether the file itself is damaged; a full disk or a lock would meet another file as well."""
    if isinstance(error, UnicodeDecodeError):
        return True  # SQLite says what is wrong in words of the file
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", 0)
    return code in _DAMAGE_CODES or code & 0xFF == 11


def create(path: Path) -> None:
    """Make an empty file for its owner only; an existing one is left as it is."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def connect(path: Path, *, durability: Durability = "normal", read_only: bool = False,
            one_thread: bool = False) -> sqlite3.Connection:
    """A connection with the settings that all of ours share. With ``one_thread`` only the one that made it may use it: two at
    once in one connection, or one that closes it under the other, end the process."""
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=one_thread)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {durability}")
        # Checkpoints belong to the keeper's thread: one inside a commit would stall the loop.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT_BYTES}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.text_factory = _text
        if read_only:
            connection.execute("PRAGMA query_only = ON")
            connection.create_function("casefold", 1, str.casefold, deterministic=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def never_wait(connection: sqlite3.Connection) -> None:
    """Have the connection raise at once where somebody else holds a lock: the loop uses it. ``waiting`` makes an exception."""
    connection.execute("PRAGMA busy_timeout = 0")


@contextmanager
def waiting(connection: sqlite3.Connection) -> Iterator[None]:
    """Let a connection that never waits wait for a lock after all: for threads."""
    connection.execute(f"PRAGMA busy_timeout = {round(_BUSY_S * 1000)}")
    try:
        yield
    finally:
        never_wait(connection)


def is_locked(error: StorageError) -> bool:
    """Whether a write failed only because somebody else holds SQLite's lock."""
    return is_lock(error.__cause__)


def is_lock(error: BaseException | None) -> bool:
    """Whether somebody else holds SQLite's lock."""
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date, one transaction per step."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    scripts = migrations()
    if version > len(scripts):
        raise StorageError(f"the journal {path} has schema version {version}, and this Trunkline knows up to {len(scripts)}: "
                           "it was written by a newer Trunkline; run that one, or choose another data directory")
    for number, script in enumerate(scripts[version:], start=version + 1):
        try:
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.rollback()
            raise


def _text(raw: bytes) -> str:
    """Text of a column. What is no UTF-8 was not written by us; the row's checksum will say so."""
    return raw.decode("utf-8", "replace")


def _statement(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("--")).strip()
