"""How a journal's file is opened: looked over before anything is written to it, mended where it must be.

Rule 1: the first look is read-only. SQLite throws away what it does not like of its log when it writes, or closes a file; until
we know that nothing is missing, nobody writes.
Rule 2: looked over is what a start can afford: the schema, the groups not folded yet (in the file and in the group log), whether
any is missing (missing.py), the trees of sessions and of their blocks, the list of free pages. The blocks themselves show damage
when they are read.
Rule 3: a journal opens. Only what is no file of ours to mend is refused: a folder, a file that may not be read, a newer schema.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import msgspec

from trunkline.errors import JournalDamaged
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import (
    POS_JUMP_MOST,
    POS_SPAN,
    UNREADABLE,
    decode_parts,
    is_whole,
    stored_block,
    sum_of_parts,
)
from trunkline.journal.stores.sqlite.group_log import LogRecord, read_logs
from trunkline.journal.stores.sqlite.marks import Marks
from trunkline.journal.stores.sqlite.mending import swap
from trunkline.journal.stores.sqlite.mending.pages import Pages
from trunkline.journal.stores.sqlite.missing import FOREIGN, Span, first_missing, span_of, unfolded

logger = logging.getLogger(__name__)

_SQLITE_ERROR = 1
"""What SQLite says where a table is missing: in a file that has a schema, that is damage."""

_OVERWRITES_SINCE = 3
"""The version of the schema from which on what is deleted is overwritten."""

_VACUUM_MOST = 256 << 20
"""A journal of before ``secure_delete`` is rewritten once, up to this size: a few seconds. Of a larger one only the free pages
are overwritten; `trunkline journal repair` rewrites it."""

_ZEROS_BYTES = 16 << 20
"""Zeros that are written at a time."""


class Start(msgspec.Struct):
    """What a journal knows again of the hub that ran before."""

    pos: int
    parts: list[tuple[dict[str, list[Entry]], int]]
    """The groups that are not folded yet, with their sizes, in pos order."""
    logged: int
    """The highest pos in the group log."""


def open_file(path: Path, marks: Marks, queries: dict[str, str]) -> Start:
    """Bring the file to the newest schema and look it over; mend it where that finds damage."""
    database.create(path)
    swap.finish(path)
    try:
        _check_log(path)
        return _looked_over(path, marks, queries)
    except (sqlite3.Error, UnicodeDecodeError, JournalDamaged) as error:
        if not _is_damage(error):
            raise
        mend_and_note(path, marks, error)
        return _looked_over(path, None, queries)


def mend_and_note(path: Path, marks: Marks, why: BaseException, held: dict[str, list[Entry]] | None = None) -> None:
    """Put what is readable in the file's place, and say so."""
    logger.error("the journal %s is damaged (%s); what can be read is taken into a new file", path, why)
    found, aside = swap.mend(path, seqs=marks.seqs, pos=marks.pos, held=held)
    logger.error("the journal was mended: %d sessions are there, %d places could not be read; the damaged file is %s",
                 found.sessions, len(found.lost), aside)


def _is_damage(error: BaseException) -> bool:
    return (isinstance(error, JournalDamaged) or database.is_damage(error)
            or (isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) == _SQLITE_ERROR))


def _check_log(path: Path) -> None:
    """SQLite deletes the log of an empty file, unread, also for who only reads: all that was ever written may be in it."""
    log = swap.beside(path, "-wal")
    if os.path.getsize(path) == 0 and log.exists() and os.path.getsize(log) > 0:
        raise JournalDamaged("it is empty, and its log is not")


def _looked_over(path: Path, marks: Marks | None, queries: dict[str, str]) -> Start:
    version = _version(path, marks)
    if version != len(database.migrations()):
        _migrate(path, version)
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)
    with closing(connection):
        start = _start(connection, queries, read_logs(path))
        if marks is not None:
            _check_jump(connection, queries, start, marks.pos)
        if marks is not None and marks.pos > start.pos:
            raise JournalDamaged(f"it had come to {marks.pos} and ends at {start.pos}: a part of its log is lost")
        _walk(connection)
    _check_free_pages(path)
    if marks is not None:
        marks.note_version(len(database.migrations()))
    return start


def _version(path: Path, marks: Marks | None) -> int:
    """The schema's version, or JournalDamaged where the file says another one than the hub before wrote."""
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    known = len(database.migrations())
    if version > known and marks is not None and marks.version == known:
        raise JournalDamaged(f"it says that its schema is version {version}, and it was {known}")
    return version


def _migrate(path: Path, version: int) -> None:
    with closing(database.connect(path)) as connection:
        database.migrate(connection, path)
        if 0 < version < _OVERWRITES_SINCE:
            _overwrite_the_past(connection, path)


def _overwrite_the_past(connection: sqlite3.Connection, path: Path) -> None:
    """What was deleted before deleting meant overwriting."""
    try:
        if os.path.getsize(path) <= _VACUUM_MOST:
            connection.execute("VACUUM")
        else:
            _overwrite_free_pages(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        if database.is_damage(error):
            raise
        logger.warning("what was deleted earlier could not be overwritten in %s: %s", path, error)


def _overwrite_free_pages(connection: sqlite3.Connection) -> None:
    """Write zeros until no page is free, and free them again. In pieces: a value has at most 1 GB."""
    page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute("CREATE TABLE overwritten (zeros BLOB)")
    while free := connection.execute("PRAGMA freelist_count").fetchone()[0]:
        connection.execute("INSERT INTO overwritten VALUES (zeroblob(?))", (min(free * page_bytes, _ZEROS_BYTES),))
    connection.execute("DROP TABLE overwritten")


def _start(connection: sqlite3.Connection, queries: dict[str, str], records: list[LogRecord]) -> Start:
    pos = connection.execute(queries["last_pos"], {"span": POS_SPAN}).fetchone()[0]
    if not isinstance(pos, int):
        raise JournalDamaged("how far it had come is no number")
    logged = unfolded(connection, queries, records)
    if logged.foreign:
        raise JournalDamaged(FOREIGN)
    start = Start(max(pos, logged.newest), [], logged.newest)
    for first_pos, body, crc in connection.execute(queries["all_recent"]):
        if not isinstance(body, bytes) or (crc is not None and crc != sum_of_parts(first_pos, body)):
            raise JournalDamaged(f"the group at {first_pos} does not fit its checksum")
        try:
            parts = decode_parts(body)
        except UNREADABLE as error:
            raise JournalDamaged(f"the group at {first_pos} cannot be decoded: {error}") from error
        start.parts.append((parts, len(body)))
        start.pos = max(start.pos, *(entries[-1].pos for entries in parts.values() if entries), start.pos)
    missing = first_missing(connection, queries, logged, [parts for parts, _ in start.parts])
    if missing is not None:
        raise JournalDamaged(f"the group at {missing} is missing, and later ones are there: a part of a log is lost")
    start.parts = sorted(start.parts + logged.parts, key=lambda part: span_of(part[0]))
    _check_overlaps([span_of(parts) for parts, _ in start.parts])
    return start


def _check_overlaps(spans: list[Span]) -> None:
    """JournalDamaged for two groups that claim the same pos: a log of a copy that went its own way. No fold could store both."""
    for (_, last), (first, _) in pairwise(spans):
        if 0 < first <= last:
            raise JournalDamaged(f"two groups are said to stand at {first}")


def _check_jump(connection: sqlite3.Connection, queries: dict[str, str], start: Start, noted: int) -> None:
    """JournalDamaged for a pos that nothing else comes near: the counter and a block's place have no checksum on the way here."""
    pos, noted = start.pos, max(noted, start.logged)
    if pos - noted <= POS_JUMP_MOST:
        return
    blocks = (stored_block(connection.execute(queries["block"], place).fetchone())
              for place in connection.execute(_NEWEST_BLOCKS, (_NEWEST_LOOKED_AT,)).fetchall())
    whole = max((block.last_pos for block in blocks if block.crc is not None and is_whole(block)), default=0)
    if pos - whole > POS_JUMP_MOST:
        raise JournalDamaged(f"it says that it had come to {pos}, and its newest whole block ends at {whole}")


_NEWEST_BLOCKS = "SELECT first_pos FROM blocks ORDER BY first_pos DESC LIMIT ?"
_NEWEST_LOOKED_AT = 20

_TREES = (
    "SELECT sum(length(id) + updated_at * 0) FROM sessions NOT INDEXED",
    "SELECT count(*) FROM sessions INDEXED BY sessions_by_activity WHERE updated_at > 0",
    "SELECT count(*) FROM sessions WHERE id > ''",
    "SELECT count(*), max(first_seq) FROM blocks INDEXED BY blocks_by_session WHERE session > ''",
    "SELECT count(*) FROM deletions", "SELECT count(*) FROM counters", "SELECT count(*) FROM damages",
)
"""What shows a damaged page of the small trees. (Of the large one, the blocks' own, SQLite reads what it needs.)"""


def _walk(connection: sqlite3.Connection) -> None:
    counts = [connection.execute(query).fetchone()[0] for query in _TREES]
    if counts[1] != counts[2]:
        raise JournalDamaged("the sessions and their index do not agree")


def _check_free_pages(path: Path) -> None:
    """A damaged list of free pages shows only when somebody needs a page, and then every commit fails."""
    if swap.beside(path, "-wal").exists():  # the newest list may be in the log still
        with closing(database.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages = Pages(path, with_log=False)
    try:
        stated, found = pages.free_pages()
    finally:
        pages.close()
    if stated != len(found) or any(not 0 < number <= pages.count for number in found):
        raise JournalDamaged("its list of free pages is damaged")
