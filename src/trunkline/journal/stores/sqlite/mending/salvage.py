"""Every row and record of a journal that can be read, into a new file; and gaps where entries are missing.

Rule 1: a row, or a record of the group log, counts when its checksum fits; a row of before there were checksums, when it can be
decoded and its numbers agree.
Rule 2: a session's entries are numbered from 1 without a hole. Where one is missing, also at the end (the marks and the session's
row know how far it went), a gap is written, with a pos of its own that is above all others.
Rule 3: a session whose row is lost or damaged gets one without a state; whoever opens it makes the state from its entries.
Rule 4: the source is only read.
Rule 5: a pos without a checksum that lies absurdly far above all others (block.py, POS_JUMP_MOST) is not believed.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from trunkline.errors import JournalDamaged
from trunkline.journal.base import Entry, SessionRow
from trunkline.journal.gap import gap_entry
from trunkline.journal.rows import is_whole_row, row_of, row_values
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import (
    POS_JUMP_MOST,
    UNREADABLE,
    EntryBlock,
    blocks_of,
    decode,
    decode_parts,
    encode,
    is_whole,
    sum_of_parts,
    summed,
)
from trunkline.journal.stores.sqlite.group_log import LogRecord, read_logs
from trunkline.journal.stores.sqlite.mending.pages import INDEX_LEAF, TABLE_LEAF, PageRow, Pages
from trunkline.journal.stores.sqlite.missing import folded_of, origin_of

SessionEntries = Mapping[str, list[Entry]]
OPEN_STATUS = "starting"
"""A hub that starts looks after sessions of this status: so it finds those that need a state again."""

POS_MOST = 1 << 62
"""A pos above this was not given out by any hub."""

LISTED_MOST = 200
"""Gaps that are written down one by one; of more, only how many there are."""


class Lost(msgspec.Struct, frozen=True):
    """What cannot be read any more: entries of a session; all of it where ``first`` is 0."""

    session: str
    first: int
    last: int
    what: str


class Salvaged(msgspec.Struct):
    """What came of it."""

    sessions: int = 0
    blocks: int = 0
    lost: list[Lost] = msgspec.field(default_factory=list)


def salvage(source: Path, to: Path, *, seqs: Mapping[str, int] | None = None, pos: int = 0,
            held: SessionEntries | None = None) -> Salvaged:
    """Read what is readable of ``source`` into the new file ``to``. ``seqs`` and ``pos`` say how far it went, ``held`` has
    entries that are also known from elsewhere."""
    database.create(to)
    connection = database.connect(to)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        database.migrate(connection, to)
        connection.execute("BEGIN IMMEDIATE")
        work = _Salvage(connection, pos)
        work.take_rows(source)
        work.take_parts([*work.logged(read_logs(source), (seqs or {}).keys()), *work.parts, held or {}])
        found = work.settle(seqs or {})
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    _sync(to)
    return found


class _Salvage:
    """One pass over the pages, and what was made of it."""

    def __init__(self, connection: sqlite3.Connection, pos: int) -> None:
        self.parts: list[SessionEntries] = []
        self._connection = connection
        self._queries = database.load_queries()
        self._rows: dict[str, SessionRow] = {}
        self._deleted: set[str] = set()
        self._damages: list[tuple[Any, ...]] = []
        self._pos = pos
        self._folded: int | None = None
        """How far the file was folded: what a log holds of before is in blocks, or deleted. None: that is not known, so all that
        a log holds may be of the past."""
        self._origin: int | None = None
        self._counter = 0
        """The highest pos of deleted sessions, as the file has it."""
        self._found = Salvaged()

    def take_rows(self, source: Path) -> None:
        """Blocks go into the new file as they come; of the rest there is little."""
        pages = Pages(source)
        try:
            for kind, row in pages.rows():
                if kind == TABLE_LEAF:
                    self._take(row)
                elif kind == INDEX_LEAF:
                    self._take_unkeyed(row.values)
        finally:
            pages.close()

    def logged(self, records: Iterable[LogRecord], noted: Collection[str]) -> Iterator[SessionEntries]:
        """What the group log holds. Of what was folded, only sessions that are known count: others were deleted since. ``noted``
        are those that the marks know; where they know none, they may be lost, and say nothing."""
        known = {session for (session,) in self._connection.execute("SELECT DISTINCT session FROM blocks")} | self._rows.keys()
        known |= set(noted)
        folded = self._folded if self._folded is not None or not noted else POS_MOST
        for record in records:
            if self._origin not in (None, record.origin):
                continue
            try:
                parts = decode_parts(record.body)
            except UNREADABLE:
                continue
            yield {session: entries for session, entries in parts.items()
                   if record.last_pos > (folded or 0) or session in known}

    def take_parts(self, parts: Iterable[SessionEntries]) -> None:
        """Small parts of groups, as blocks; what blocks have already is left out."""
        for session, entries in _by_session(parts).items():
            known = [(first, last) for _, first, last, _ in self._blocks(session)]
            fresh = [entry for entry in entries if not any(first <= entry.seq <= last for first, last in known)]
            for block in blocks_of(session, fresh) if fresh else ():
                self._insert(block, 0)

    def settle(self, seqs: Mapping[str, int]) -> Salvaged:
        """Close the ranks: overlaps are cut, holes are noted, every session has a row."""
        connection = self._connection
        if self._counter - self._pos <= POS_JUMP_MOST:
            self._pos = max(self._pos, self._counter)
        for session in self._deleted:
            connection.execute("DELETE FROM blocks WHERE session = ?", (session,))
            self._rows.pop(session, None)
        stored = {session for (session,) in connection.execute("SELECT DISTINCT session FROM blocks").fetchall()}
        for session in sorted(stored | self._rows.keys()):
            row = self._rows.get(session)
            last_seq_known = max(seqs.get(session, 0), row.checkpoint_seq if row is not None else 0)
            self._settle_session(session, last_seq_known)
            self._store_row(session, row)
        for session in sorted(seqs.keys() - stored - self._rows.keys() - self._deleted):
            self._lose(session, 0, 0, "nothing of the session can be read")
        self._write_down()
        return self._found

    def _take(self, row: PageRow) -> None:
        values = row.values
        match values:
            case (None, str(session), int(first_seq), int(last_seq), int(last_pos), int(packed), bytes(body), *crc) \
                    if len(crc) <= 1:
                sum_ = -1 - packed if packed < 0 else _crc(crc)  # of a large entry it stands before the body
                block = EntryBlock(row.rowid, session, first_seq, last_seq, last_pos, body, sum_)
                if _is_sound(block):
                    self._insert(block, max(packed, 0))
            case (None, bytes(body), *crc) if len(crc) <= 1:
                self._take_recent(row.rowid, body, _crc(crc))
            case (str(), str(), str(), str(), str(), int(), int(), int(), bytes(), bytes(), *crc) if len(crc) <= 1:
                self._take_session(values[:10], _crc(crc))
            case (None, int(), str(), int(), int(), str()):
                self._damages.append((row.rowid, *values[1:]))

    def _take_unkeyed(self, values: tuple[Any, ...]) -> None:
        match values:
            case ("pos", int(pos)):
                self._counter = max(self._counter, pos)
            case ("folded", int(value)):
                with suppress(JournalDamaged):
                    self._folded = max(self._folded or 0, folded_of(value))
            case ("origin", int(value)):
                self._origin = origin_of((value,))
            case (str(session),):
                self._deleted.add(session)

    def _take_recent(self, first_pos: int, body: bytes, crc: int | None) -> None:
        if crc is not None and crc != sum_of_parts(first_pos, body):
            return
        try:
            parts = decode_parts(body)
        except UNREADABLE:
            return
        self.parts.append(parts)

    def _take_session(self, values: tuple[Any, ...], crc: int | None) -> None:
        """Of two versions of a row the newer one counts; a damaged one says nothing but that there is such a session."""
        row = row_of((*values[:7], values[8], values[9], values[7], 0, crc))
        if not is_whole_row(row, crc):
            return
        known = self._rows.get(row.id)
        if known is None or (row.checkpoint_seq, row.updated_at) >= (known.checkpoint_seq, known.updated_at):
            self._rows[row.id] = row

    def _insert(self, block: EntryBlock, packed: int) -> None:
        known = self._connection.execute("SELECT last_seq FROM blocks WHERE first_pos = ?", (block.first_pos,)).fetchone()
        if known is not None and known[0] >= block.last_seq:
            return  # a page of the past: what is there now holds more
        self._connection.execute("DELETE FROM blocks WHERE first_pos = ? OR (session = ? AND first_seq = ? AND last_seq = ?)",
                                 (block.first_pos, block.session, block.first_seq, block.last_seq))
        self._connection.execute(self._queries["insert_packed"], (*summed(block), packed))
        self._pos = max(self._pos, block.last_pos)

    def _settle_session(self, session: str, last_seq_known: int) -> None:
        wanted, before = 1, 0
        for first_pos, first, last, _ in self._blocks(session):
            if last < wanted:
                self._connection.execute(self._queries["drop_block"], (first_pos,))
                continue
            if first < wanted:
                first_pos = self._cut(session, first_pos, wanted)
            elif first > wanted:
                self._gap(session, wanted, first - 1, self._time_at(before or first_pos))
            self._found.blocks += 1
            wanted, before = last + 1, first_pos
        if last_seq_known >= wanted:
            self._gap(session, wanted, last_seq_known, self._time_at(before) if before else _now())

    def _cut(self, session: str, first_pos: int, wanted: int) -> int:
        """Leave out of a block what others have; returns where the rest is."""
        entries = [entry for entry in decode(self._body(first_pos)) if entry.seq >= wanted]
        self._connection.execute(self._queries["drop_block"], (first_pos,))
        for block in blocks_of(session, entries):
            self._connection.execute(self._queries["insert_block"], summed(block))
        return entries[0].pos

    def _time_at(self, first_pos: int) -> int:
        return decode(self._body(first_pos))[-1].at

    def _gap(self, session: str, first: int, last: int, at: int) -> None:
        self._pos += 1
        entry = gap_entry(session, first, last, at=at, pos=self._pos)
        block = EntryBlock(self._pos, session, first, last, self._pos, encode([entry]))
        self._connection.execute(self._queries["insert_block"], summed(block))
        self._lose(session, first, last, "entries cannot be read")

    def _store_row(self, session: str, row: SessionRow | None) -> None:
        if row is None:
            blocks = self._blocks(session)
            ends = [decode(self._body(place)) for place, *_ in (blocks[0], blocks[-1])]
            row = SessionRow(id=session, agent="", cwd="", title="", status=OPEN_STATUS, created_at=ends[0][0].at,
                             updated_at=ends[1][-1].at, summary=b"", checkpoint=b"", checkpoint_seq=0)
            self._lose(session, 0, 0, "the session's state cannot be read; it is made again from its entries")
        self._connection.execute(self._queries["upsert_session"], row_values(row))
        self._found.sessions += 1

    def _lose(self, session: str, first: int, last: int, what: str) -> None:
        self._found.lost.append(Lost(session, first, last, what))

    def _write_down(self) -> None:
        lost = self._found.lost
        damages = [(_now(), each.session, each.first, each.last, each.what) for each in lost[:LISTED_MOST]]
        if len(lost) > LISTED_MOST:
            damages.append((_now(), "", 0, 0, f"{len(lost) - LISTED_MOST} more places cannot be read"))
        for damage in sorted(self._damages):
            self._connection.execute(self._queries["add_damage"], damage[1:])
        self._connection.executemany(self._queries["add_damage"], damages)
        self._connection.execute(self._queries["keep_pos"], (self._pos,))

    def _blocks(self, session: str) -> list[tuple[int, int, int, int]]:
        return self._connection.execute("SELECT first_pos, first_seq, last_seq, last_pos FROM blocks WHERE session = ? "
                                        "ORDER BY first_seq, last_seq DESC", (session,)).fetchall()

    def _body(self, first_pos: int) -> bytes:
        body: bytes = self._connection.execute("SELECT body FROM blocks WHERE first_pos = ?", (first_pos,)).fetchone()[0]
        return body


def _crc(given: list[Any]) -> int | None:
    """A checksum, where the row has one. What is no number fits nothing."""
    return None if not given or given[0] is None else given[0] if isinstance(given[0], int) else -1


def _is_sound(block: EntryBlock) -> bool:
    """Rule 1."""
    if block.last_pos > POS_MOST:
        return False
    if block.crc is not None:
        return is_whole(block)
    try:
        entries = decode(block.body)
    except UNREADABLE:
        return False
    return bool(entries) and (entries[0].seq, entries[-1].seq, entries[0].pos, entries[-1].pos) == (
        block.first_seq, block.last_seq, block.first_pos, block.last_pos)


def _by_session(parts: Iterable[SessionEntries]) -> dict[str, list[Entry]]:
    """The entries of all parts, each once, in seq order."""
    found: dict[str, dict[int, Entry]] = {}
    for each in parts:
        for session, entries in each.items():
            found.setdefault(session, {}).update((entry.seq, entry) for entry in entries if 0 < entry.pos <= POS_MOST)
    return {session: [entries[seq] for seq in sorted(entries)] for session, entries in found.items()}


def _now() -> int:
    return time.time_ns() // 1000


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
