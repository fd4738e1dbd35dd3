"""What is wrong with a journal's file, found by reading all of it and changing nothing.

Rule: it may run beside a hub. What is not found here is what no checksum covers: rows of before there were any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from trunkline.errors import JournalDamaged, NotFound
from trunkline.journal.rows import is_whole_row, row_of
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import POS_SPAN, UNREADABLE, decode_parts, is_whole, stored_block, sum_of_parts
from trunkline.journal.stores.sqlite.group_log import LogRecord, read_logs
from trunkline.journal.stores.sqlite.marks import Marks
from trunkline.journal.stores.sqlite.missing import FOREIGN, held_beside, origin_of

_WAIT_S = 5.0
_STRUCTURE_MOST = 100
"""Faults of the file's structure that are listed: SQLite stops there, and who has a hundred has more."""

_CRC_OF_ROW = 11
_EVERY_ROW = "SELECT rowid FROM {} ORDER BY rowid"


class JournalFault(NamedTuple):
    """One thing that is wrong: where, and what."""

    place: str
    what: str


def faults_of(path: Path) -> Iterator[JournalFault]:
    """Everything that is wrong with this file; nothing where it is whole."""
    if not path.exists():
        raise NotFound(f"there is no journal {path}")
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_WAIT_S, isolation_level=None)
    except sqlite3.Error as error:
        yield JournalFault("file", str(error))
        return
    noted = _noted_pos(path.with_suffix(".marks"))  # before the journal is read: a hub that runs is ahead of it then
    records = read_logs(path)
    with closing(connection):
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for look in (_structure, _blocks, _groups, _sessions):
            try:
                yield from look(connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                yield JournalFault("file", str(error))
                return
        yield from _behind(connection, noted, records)
        yield from _missing(connection, path)


def _structure(connection: sqlite3.Connection) -> Iterator[JournalFault]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != len(database.migrations()):
        yield JournalFault("file", f"its schema is version {version}, and this Trunkline reads {len(database.migrations())}")
    for (what,) in connection.execute(f"PRAGMA integrity_check({_STRUCTURE_MOST})"):
        if what != "ok":
            yield JournalFault("file", what)


def _blocks(connection: sqlite3.Connection) -> Iterator[JournalFault]:
    one = database.load_queries()["block"]
    for (place,) in connection.execute(_EVERY_ROW.format("blocks")).fetchall():
        values = connection.execute(one, (place,)).fetchone()
        if values is not None and not is_whole(stored_block(values)):
            yield JournalFault(values[1], f"entries {values[2]} to {values[3]} do not fit their checksum")


def _groups(connection: sqlite3.Connection) -> Iterator[JournalFault]:
    for first_pos, body, crc in connection.execute("SELECT first_pos, body, crc FROM recent"):
        if not isinstance(body, bytes) or (crc is not None and crc != sum_of_parts(first_pos, body)):
            yield JournalFault("file", f"the group at {first_pos} does not fit its checksum")


def _sessions(connection: sqlite3.Connection) -> Iterator[JournalFault]:
    queries = database.load_queries()
    for (session,) in connection.execute(queries["session_ids"]).fetchall():
        for values in connection.execute(queries["row"], (session,)).fetchall():
            row = row_of((*values[:_CRC_OF_ROW], None))
            if not is_whole_row(row, values[_CRC_OF_ROW]):
                yield JournalFault(session, "the session's row does not fit its checksum")
    for (session,) in connection.execute("SELECT DISTINCT session FROM blocks WHERE session NOT IN (SELECT id FROM sessions) "
                                         "AND session NOT IN (SELECT session FROM deletions)"):
        yield JournalFault(session, "there are entries of the session, and no row")


def _noted_pos(path: Path) -> int:
    if not path.exists():
        return 0
    marks = Marks(path)
    marks.open(read_only=True)
    marks.close()
    return marks.pos


def _missing(connection: sqlite3.Connection, path: Path) -> Iterator[JournalFault]:
    """What is in no log and no block. A hub that runs goes on while we read, so a second look has to miss the same."""
    try:
        first, second = (held_beside(connection, path) for _ in range(2))
    except JournalDamaged as error:
        yield JournalFault("file", str(error))
        return
    if second.foreign:
        yield JournalFault("file", FOREIGN)
    if first.missing is not None and first.missing == second.missing:
        yield JournalFault("file", f"the group at {first.missing} is missing, and later ones are there: a part of a log is lost")


def _behind(connection: sqlite3.Connection, noted: int, records: list[LogRecord]) -> Iterator[JournalFault]:
    """How far the journal goes, against how far its marks say that it had come."""
    pos = connection.execute(database.load_queries()["last_pos"], {"span": POS_SPAN}).fetchone()[0]
    for (body,) in connection.execute("SELECT body FROM recent"):
        if not isinstance(body, bytes):
            continue  # reported above
        try:
            pos = max([pos, *(entries[-1].pos for entries in decode_parts(body).values() if entries)])
        except UNREADABLE:
            continue  # reported above
    origin = origin_of(connection.execute(database.load_queries()["origin"]).fetchone())
    pos = max([pos, *(record.last_pos for record in records if origin in (None, record.origin))])
    if noted > pos:
        yield JournalFault("file", f"the journal had come to {noted} and ends at {pos}: a part of its log is lost")
