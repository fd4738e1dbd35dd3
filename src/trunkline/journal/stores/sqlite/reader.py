"""Reading from the SQLite journal: one connection of its own, one snapshot per page.

Rule 1: a page decodes the blocks it needs and no others.
Rule 2: an entry is in blocks, or in memory and in ``recent`` or the group log. A page takes the recent ones from memory
        (``held``), as they were when the read was wanted; a fold may have put some of them into blocks since, so one may come
        twice.
Rule 3: ``horizon`` is the newest pos when the read was wanted. What is stored after it is left for the next read: part of
        it would be in blocks, part of it missing from ``held``.
Rule 4: a block that does not fit its checksum, or cannot be decoded, is a gap: what it held is reported as lost, and reading goes
        on behind it. The gap has the time of the entry before it, else of the one behind it, else of the session's beginning.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from heapq import heappop, heappush
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trunkline.journal.base import Damage, Entry, RowFilter, SessionRow
from trunkline.journal.gap import gap_entry
from trunkline.journal.page import Page
from trunkline.journal.rows import matches, row_of
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import (
    POS_SPAN,
    UNREADABLE,
    EntryBlock,
    decode,
    is_whole,
    most_bytes,
    stored_block,
)

_seq_of = attrgetter("seq")
_pos_of = attrgetter("pos")
_NO_END = (1 << 63) - 1
_AT_END = 253_402_300_800_000_000
"""The year 10000: no clock that wrote a note, and nothing that a timestamp can say."""

logger = logging.getLogger(__name__)

_Run = list[tuple[str, Entry]]
"""Entries with their sessions, in pos order."""

_READERS = 2

DAMAGES_LISTED = 100
"""Damages that a health lists, the newest: of more, nobody reads each."""


class SessionRead(msgspec.Struct):
    """One question about a session's entries, with what was known when it was made."""

    session: str
    after: int
    before: int | None
    limit: int
    max_bytes: int
    tail: bool
    horizon: int
    held: list[Entry]


class HubRead(NamedTuple):
    """One question about the entries of all sessions, with what was known when it was made."""

    after: int
    limit: int
    max_bytes: int
    hidden: Collection[str]
    """Sessions that are not to be shown."""
    horizon: int
    held: _Run


class SqliteReader:
    """Answers reads on a connection that only one thread uses."""

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, str],
                 on_damage: Callable[[EntryBlock], None] = lambda block: None) -> None:
        self._connection = connection
        self._queries = queries
        self._on_damage = on_damage

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def session(self, wanted: SessionRead) -> list[Entry]:
        """The page that is wanted."""
        page = Page(wanted.limit, wanted.max_bytes)
        whole = self._add_blocks(page, wanted)
        if wanted.held:
            page = _with_held(page.entries, whole, wanted)
        return page.entries[::-1] if wanted.tail else page.entries

    def hub(self, wanted: HubRead) -> list[tuple[str, Entry]]:
        """Entries of all sessions with pos > after, in pos order."""
        page = Page(wanted.limit, wanted.max_bytes)
        found: list[tuple[str, Entry]] = []
        self._connection.execute(self._queries["snapshot"])
        try:
            for run in _in_pos_order(self._runs_after(wanted), wanted.after):
                found += run
                if not page.add_all([entry for _, entry in run]):
                    break
        finally:
            self._connection.rollback()
        return found[:len(page.entries)]

    def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows; their ``last_seq`` counts blocks only."""
        if which.id is not None:
            found = map(row_of, self._connection.execute(self._queries["row"], (which.id,)).fetchall())
            return [row for row in found if matches(row, which)][:which.limit]
        before_at, before_id = which.before or (None, None)
        return [row_of(values) for values in self._connection.execute(self._queries["rows"], {
            "agent": which.agent, "text": which.text and which.text.casefold(), "limit": which.limit,
            "status": None if which.status is None else msgspec.json.encode(sorted(which.status)).decode(),
            "before_at": before_at, "before_id": before_id,
        })]

    def damages(self, most: int) -> list[Damage]:
        """What was written down as damaged, the newest first."""
        return [_damage_of(values) for values in self._connection.execute(self._queries["damages"], (most,))]

    def _entries_of(self, block: EntryBlock) -> list[Entry]:
        """What a stored block holds; a gap where that cannot be read."""
        if is_whole(block):
            try:
                return decode(block.body)
            except UNREADABLE:
                pass
        logger.error("the journal is damaged: entries %d to %d of session %s cannot be read; see `trunkline journal verify`",
                     block.first_seq, block.last_seq, block.session)
        self._on_damage(block)
        return [gap_entry(block.session, block.first_seq, block.last_seq, at=self._time_beside(block), pos=block.last_pos)]

    def _time_beside(self, block: EntryBlock) -> int:
        """When about the entries of a block were written that cannot be read."""
        for query, nearest in (("block_before", -1), ("block_behind", 0)):
            place = {"session": block.session, "first_seq": block.first_seq}
            with suppress(sqlite3.DatabaseError, IndexError, *UNREADABLE):  # beside damage there may be more of it
                beside = [stored_block(row) for row in self._connection.execute(self._queries[query], place)]
                if beside and is_whole(beside[0]):
                    return decode(beside[0].body)[nearest].at
        found = self._connection.execute(self._queries["created_at"], (block.session,)).fetchone()
        return found[0] if found is not None and isinstance(found[0], int) else time.time_ns() // 1000

    def _add_blocks(self, page: Page, wanted: SessionRead) -> bool:
        """Fill the page from blocks; False when it is full before their end."""
        query = self._queries["blocks_backward" if wanted.tail else "blocks_forward"]
        before = _NO_END if wanted.before is None else wanted.before
        found = self._connection.execute(query, {"session": wanted.session, "after": wanted.after, "before": before})
        try:
            for row in found:
                block = stored_block(row)
                held = self._entries_of(block)
                entries = _cut(block, held, wanted)
                size = most_bytes(block, held) if len(entries) == len(held) else sum(entry.size() for entry in entries)
                if not page.add_block(entries[::-1] if wanted.tail else entries, size):
                    return False
        finally:
            found.close()  # ends the snapshot: an open one would keep the write-ahead log from starting again
        return True

    def _runs_after(self, wanted: HubRead) -> Iterator[tuple[int, _Run]]:
        """(first pos, entries with their sessions) of blocks and of what is held, in the order they begin."""
        held = wanted.held
        known = {entry.pos for _, entry in held}
        waiting = bool(held)
        for row in self._connection.execute(self._queries["hub_blocks"], {"after": wanted.after, "span": POS_SPAN}):
            if waiting and row[0] >= held[0][1].pos:
                waiting = False
                yield held[0][1].pos, held
            if row[0] > wanted.horizon:
                break
            if row[1] not in wanted.hidden:
                yield row[0], [(row[1], entry) for entry in self._entries_of(stored_block(row))
                               if entry.pos <= wanted.horizon and entry.pos not in known]
        if waiting:
            yield held[0][1].pos, held


class ReaderThreads:
    """Threads that read, each with a connection of its own."""

    def __init__(self, path: Path, queries: dict[str, str], on_damage: Callable[[EntryBlock], None]) -> None:
        self.threads = ThreadPoolExecutor(_READERS, "journal-reader")
        self._path = path
        self._queries = queries
        self._on_damage = on_damage
        self._of_thread = threading.local()
        self._readers: list[SqliteReader] = []

    def reader(self) -> SqliteReader:
        """This thread's reader."""
        reader: SqliteReader | None = getattr(self._of_thread, "reader", None)
        if reader is None:
            reader = SqliteReader(database.connect(self._path, read_only=True), self._queries, self._on_damage)
            self._of_thread.reader = reader
            self._readers.append(reader)
        return reader

    @contextmanager
    def away(self) -> Iterator[None]:
        """Every reader's connection is closed, and its thread waits."""
        away, back = threading.Barrier(_READERS + 1), threading.Event()

        def leave() -> None:
            reader = self._of_thread.__dict__.pop("reader", None)
            if reader is not None:
                self._readers.remove(reader)
                reader.close()
            away.wait()
            back.wait()

        try:
            for _ in range(_READERS):
                self.threads.submit(leave)
            away.wait()
            yield
        finally:
            back.set()

    def close(self) -> None:
        """Wait for what is being read, and close the connections."""
        self.threads.shutdown()
        while self._readers:
            self._readers.pop().close()


class Unreadable:
    """What readers met. They are in threads of their own, and whoever asks is in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str, int], Damage] = {}

    def add(self, block: EntryBlock) -> None:
        """A reader met a block that cannot be read."""
        damage = Damage(number=0, at=time.time_ns() // 1000, session=block.session, first=block.first_seq, last=block.last_seq,
                        what="entries cannot be read")
        with self._lock:
            self._found.setdefault((block.session, block.first_seq), damage)
            if len(self._found) > DAMAGES_LISTED:
                del self._found[next(iter(self._found))]

    def newest_first(self) -> list[Damage]:
        """What is known of."""
        with self._lock:
            return [*reversed(self._found.values())]


def _damage_of(values: tuple[Any, ...]) -> Damage:
    """A stored note of damage, which has no checksum: one that may be damaged itself says only that it was there."""
    match values:
        case (int(number), int(at), str(session), int(first), int(last), str(what)) if 0 <= at < _AT_END:
            return Damage(number=number, at=at, session=session, first=first, last=last, what=what)
    number = values[0] if isinstance(values[0], int) else 0
    return Damage(number=number, at=0, session="", first=0, last=0, what="something; the note of what it was cannot be read")


def _cut(block: EntryBlock, entries: list[Entry], wanted: SessionRead) -> list[Entry]:
    """The entries of a block that are wanted."""
    stop = len(entries)
    if wanted.before is not None and block.last_seq >= wanted.before:
        stop = bisect_left(entries, wanted.before, key=_seq_of)
    if block.last_pos > wanted.horizon:
        stop = min(stop, bisect_right(entries, wanted.horizon, key=_pos_of))
    start = bisect_right(entries, wanted.after, key=_seq_of) if block.first_seq <= wanted.after else 0
    return entries[start:stop]


def _with_held(stored: list[Entry], whole: bool, wanted: SessionRead) -> Page:
    """A page of stored and held entries. Where the stored ones were cut off, held ones beyond the cut have to wait."""
    held = wanted.held
    if not whole:
        cut = stored[-1].seq
        held = held[bisect_right(held, cut, key=_seq_of):] if wanted.tail else held[:bisect_left(held, cut, key=_seq_of)]
    held = held[:-wanted.limit - 1:-1] if wanted.tail else held[:wanted.limit]
    page = Page(wanted.limit, wanted.max_bytes)
    page.add_all(_in_seq_order(stored, held, reverse=wanted.tail))
    return page


def _in_seq_order(stored: list[Entry], held: list[Entry], *, reverse: bool) -> list[Entry]:
    """Both, each entry once. Mostly all held ones are newer than all stored ones, and joining them is enough."""
    if not stored or not held:
        return stored or held
    newest_stored, oldest_held = (stored[0], held[-1]) if reverse else (stored[-1], held[0])
    if newest_stored.seq < oldest_held.seq:
        return held + stored if reverse else stored + held
    known = {entry.seq for entry in stored}
    return sorted(stored + [entry for entry in held if entry.seq not in known], key=_seq_of, reverse=reverse)


def _in_pos_order(runs: Iterator[tuple[int, _Run]], after: int) -> Iterator[_Run]:
    """The entries of runs that may overlap, holding open only those that do."""
    waiting: list[tuple[int, int, _Run]] = []
    for first_pos, run in runs:
        yield from _until(waiting, first_pos)
        start = bisect_right(run, after, key=_pos_in_run)
        if start < len(run):
            heappush(waiting, (run[start][1].pos, start, run))
    yield from _until(waiting, _NO_END)


def _until(waiting: list[tuple[int, int, _Run]], end: int) -> Iterator[_Run]:
    """What the waiting runs hold below ``end``, in as long pieces as their overlaps allow."""
    while waiting and waiting[0][0] < end:
        _, start, run = heappop(waiting)
        stop = bisect_left(run, min(end, waiting[0][0]) if waiting else end, lo=start, key=_pos_in_run)
        yield run[start:stop]
        if stop < len(run):
            heappush(waiting, (run[stop][1].pos, stop, run))


def _pos_in_run(item: tuple[str, Entry]) -> int:
    return item[1].pos
