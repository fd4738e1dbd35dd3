"""The journal in one SQLite file: write-ahead log, one transaction per group, a row per block of entries.

How a group travels: ``append`` gives each entry its pos. What a session has much of becomes a block (block.py); the small
parts of all sessions become one row of ``recent`` and stay in memory (recent.py); the session rows come with them; all in one
transaction. A group of small parts alone, as nearly all are, is one record of the group log instead (group_log.py). The
housekeeper (housekeeping.py) folds the small parts into blocks and moves the write-ahead log into the database; what is packed
and deleted goes by retention.py.
Readers (reader.py) have connections of their own.

Rule 1: with durability ``normal`` a group is committed in the caller's thread, without a wait and without fsync: a process that
        dies loses nothing, a machine that dies may lose the last moments. ``full`` adds an fsync, in the writer's thread.
Rule 2: whoever writes holds the gate. The loop never waits for it: a commit that finds it shut moves to the writer's thread. So
        does one that finds SQLite's own lock taken, by a program that is not ours: only the writer's thread waits for that.
Rule 3: pos rises with every commit and never comes back, not after a failure, a reopen, a delete, or the loss of a log
        (marks.py).
Rule 4: the keeper's connection is made, used and closed in the keeper's thread, so opening, mending and closing are done there,
        too; SQLite refuses it to every other thread.
Rule 5: damage stays where it is. What the file does not give back is a gap to readers (reader.py); where SQLite itself cannot go
        on, the file is mended (mending/) and the read or the commit is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from trunkline.errors import StorageError
from trunkline.journal.base import Damage, Entry, Group, JournalHealth, RowFilter, SessionRow, alone, check_order
from trunkline.journal.read_turns import ReadTurns
from trunkline.journal.run_delay import RunDelay
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import encode
from trunkline.journal.stores.sqlite.commit import (
    RECENT_ROW_BYTES,
    SMALL_ENTRIES,
    CommitPlan,
    LastSeqs,
    plan_commit,
    plan_small,
    write_commit,
)
from trunkline.journal.stores.sqlite.database import Durability, storage_errors
from trunkline.journal.stores.sqlite.gate import WriteGate
from trunkline.journal.stores.sqlite.group_log import HEAD_BYTES, RECORD_MOST, GroupLog
from trunkline.journal.stores.sqlite.housekeeping import PAGE_BYTES, Housekeeper, Upkeep
from trunkline.journal.stores.sqlite.marks import Marks
from trunkline.journal.stores.sqlite.mending import swap
from trunkline.journal.stores.sqlite.opening import mend_and_note, open_file
from trunkline.journal.stores.sqlite.reader import DAMAGES_LISTED, HubRead, ReaderThreads, SessionRead, SqliteReader, Unreadable
from trunkline.journal.stores.sqlite.recent import Recent
from trunkline.journal.stores.sqlite.retention import Retention
from trunkline.journal.stores.sqlite.wiping import Wiper

_MENDED_MOST = 3
"""How often a running hub mends its file: a disk that damages it again and again is not mended by that."""

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class SqliteJournal:
    """Numbered entries in a file. Use as an async context manager."""

    def __init__(self, path: Path, *, durability: Durability = "normal", upkeep: Upkeep | None = None) -> None:
        self._path = path
        self._durability: Durability = durability
        self._upkeep = upkeep or Upkeep()
        self._queries = database.load_queries()
        self._gate = WriteGate()
        self._pos = 0
        self._last_seq: LastSeqs
        self._recent = Recent()
        self._log = GroupLog(path, wanted=durability == "normal")
        self._wiper = Wiper(path)
        self._writer: sqlite3.Connection
        self._keeper: Housekeeper
        self._retention: Retention
        self._tending: Future[None] | None = None
        self._unreadable = Unreadable()
        self._readers = ReaderThreads(path, self._queries, self._unreadable.add)
        self._turns = ReadTurns()
        self._closed = False
        self._is_open = False
        """Whether there are connections. Only the keeper's thread opens and closes them."""
        self._marks = Marks(path.with_suffix(".marks"))
        self._opened_at = time.time_ns() // 1000
        self._unwritable: str | None = None
        self._mended = 0
        self._scrubbing: Future[None] | None = None

    async def __aenter__(self) -> Self:
        self._writer_thread = ThreadPoolExecutor(1, "journal-writer")
        self._keeper_thread = ThreadPoolExecutor(1, "journal-keeper")
        try:
            await self._run(self._keeper_thread, "opened", self._open)
        except BaseException:
            self._shut_threads()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        try:
            await self._run(self._keeper_thread, "closed", self._close)
        finally:
            self._closed = True
            self._shut_threads()
            self._wiper.close()  # nobody is left who could work on it

    @property
    def last_pos(self) -> int:
        """The newest pos that was given out."""
        return self._pos

    def append_now(self, group: Group) -> bool:
        """Commit a group in this thread without waiting; False, and nothing done, where ``append`` has to be awaited."""
        keeper = self._keeper
        if self._durability == "full" or keeper.behind or keeper.damaged or (keeper.syncing and not self._is_for_log(group)) \
                or not self._gate.try_enter():
            return False
        try:
            self._commit(group)
        except StorageError as error:
            if database.is_locked(error):
                return False
            raise
        finally:
            self._gate.leave()
        return True

    def append_alone_now(self, session_id: str, entries: list[Entry]) -> bool:
        """Commit one session's entries in this thread: one record of the group log where that takes it, and else as a group."""
        keeper, log, gate = self._keeper, self._log, self._gate
        if not log.takes or keeper.behind or keeper.damaged or self._retention.deleting or gate.is_waited_for() \
                or not gate.enter_at_once():
            return self.append_now(alone(session_id, entries))
        try:
            count, first, seq = len(entries), entries[0].seq, entries[-1].seq
            if first > self._last_seq[session_id] and seq - first >= count - 1 and count <= SMALL_ENTRIES:  # as ``plan_small``
                before = pos = self._pos
                for entry in entries:
                    pos += 1
                    entry.pos = pos
                body = encode({session_id: entries})
                size = len(body)
                if size <= RECENT_ROW_BYTES and log.append(before + 1, pos, body):
                    # As ``_note``, in the same order.
                    self._recent.add_alone(session_id, entries, size)
                    self._last_seq[session_id] = seq
                    self._marks.note_one(session_id, seq, pos)
                    self._unwritable = None
                    self._pos = pos
                    if keeper.wrote(size + HEAD_BYTES):
                        self._tend()
                    return True
                for entry in entries:
                    entry.pos = 0
        finally:
            self._gate.leave()
        return self.append_now(alone(session_id, entries))

    async def append(self, group: Group) -> None:
        """Commit a group in the writer's thread, and set ``pos`` on its entries."""
        if self._keeper.behind:
            await self._run(self._keeper_thread, "written", self._keeper.tend)
        await self._mending(lambda: self._run(self._writer_thread, "written", self._commit_in_turn, group))

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """Entries with after < seq < before that fit the limits: the first ones, or the last (``tail``)."""
        if limit < 1 or session_id in self._retention.deleting:
            return []

        def make_query() -> Callable[[SqliteReader], list[Entry]]:
            horizon = self._pos  # before the recent ones: what is committed in between must not be half seen
            held = self._recent.of(session_id, after=after, before=before, horizon=horizon)
            wanted = SessionRead(session_id, after, before, limit, max_bytes, tail, horizon, held)
            return lambda reader: reader.session(wanted)

        async with self._turns.taken(session_id):
            return await self._read(make_query)

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """(session id, entry) of all sessions with pos > after, in pos order."""
        def query(reader: SqliteReader) -> list[tuple[str, Entry]]:
            horizon, hidden = self._pos, self._retention.deleting  # before the recent ones, as above
            held = self._recent.behind(after, horizon, hidden)
            return reader.hub(HubRead(after, limit, max_bytes, hidden, horizon, held))

        async with self._turns.taken(""):
            return await self._read(lambda: query)

    async def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows, newest activity first."""
        found = await self._read(lambda: lambda reader: reader.rows(which))
        for row in found:
            row.last_seq = max(row.last_seq, self._last_seq.get(row.id, 0))
        return found

    async def pack(self, session_id: str, *, before: int) -> int:
        """Merge blocks of entries below ``before``, compressed where it pays; returns how many rows that saved."""
        return await self._mending(lambda: self._run(self._keeper_thread, "packed", self._pack, session_id, before))

    async def delete(self, session_id: str) -> None:
        """Forget a session; deleting an unknown one is no error."""
        await self._mending(lambda: self._run(self._keeper_thread, "rid of a session", self._delete, session_id))

    async def health(self) -> JournalHealth:
        """What was found damaged, and whether the last commit failed."""
        found = self._unreadable.newest_first()
        if self._marks.missing is not None:
            found.insert(0, Damage(number=0, at=self._opened_at, session="", first=0, last=0, what=self._marks.missing))
        found += await self._read(lambda: lambda reader: reader.damages(DAMAGES_LISTED))
        return JournalHealth(damages=found[:DAMAGES_LISTED], unwritable=self._unwritable,
                      asides=[str(aside) for aside in swap.asides(self._path)])

    # Opening and closing.

    def _open(self) -> None:
        swap.clear_pipe(self._path)
        database.create(self._path)
        self._marks.open()
        with ExitStack() as undo:
            undo.callback(self._marks.close)
            self._open_connections()
            undo.callback(self._wiper.close)
            undo.callback(self._close_connections)
            self._keeper.begin()
            self._go_on_deleting()
            undo.pop_all()

    def _go_on_deleting(self) -> None:
        """Sessions whose removal was cut short. One that cannot be removed now (a full disk) stays hidden, for a later start."""
        for (session_id,) in self._writer.execute(self._queries["deletions"]).fetchall():
            self._retention.deleting.add(session_id)
            try:
                self._delete(session_id)
            except sqlite3.Error as error:
                logger.warning("session %s is not wholly deleted yet: %s", session_id, error)
        if self._retention.is_unscrubbed:
            self._scrub_soon()

    def _open_connections(self) -> None:
        """Know again what a hub that ran before knew, and open the file for writing."""
        start = open_file(self._path, self._marks, self._queries)
        self._pos = max(self._pos, start.pos)
        self._recent = Recent()
        with ExitStack() as undo:
            self._wiper.open()
            undo.callback(self._wiper.close)
            self._writer = database.connect(self._path, durability=self._durability)
            undo.callback(self._writer.close)
            for parts, size in start.parts:
                self._recent.add(parts, size)
            self._last_seq = LastSeqs(self._path, self._writer, self._queries["last_seq"], self._recent.last_seqs())
            database.never_wait(self._writer)
            own = database.connect(self._path, one_thread=True)
            undo.callback(self._log.close)
            self._open_log()
            self._keeper = Housekeeper(own, self._queries, self._gate, self._recent, self._upkeep, self._log, lambda: self._pos)
            self._retention = Retention(own, self._queries, self._gate, self._recent, self._keeper, self._wiper)
            undo.pop_all()
        self._is_open = True

    def _open_log(self) -> None:
        try:
            self._log.open()
        except OSError as error:
            self._log.close()
            logger.error("the journal goes without a group log: %s", error)
            self._log.wanted = False

    def _close_connections(self, *, damaged: bool = False) -> None:
        self._is_open = False
        self._writer.close()
        self._keeper.close(damaged=damaged)
        self._log.close()

    def _close(self) -> None:
        """In the keeper's thread. What waits for that comes after this, and finds the wiper's file still open."""
        self._readers.close()
        with self._gate.held():
            self._close_connections()
            self._marks.close()

    def _shut_threads(self) -> None:
        self._readers.close()
        self._writer_thread.shutdown()
        self._keeper_thread.shutdown()

    # Writing: all of it while holding the gate.

    def _commit_in_turn(self, group: Group) -> None:
        with self._gate.held(), database.waiting(self._writer):
            delay = RunDelay()
            delayed, started = delay.read(), time.perf_counter()
            try:
                self._commit(group, small_bytes=RECENT_ROW_BYTES)
            finally:
                group.took_s = time.perf_counter() - started - delay.since(delayed)
                delay.close()

    def _commit(self, group: Group, small_bytes: int | None = None) -> None:
        try:
            plan = plan_small(group, self._pos, self._last_seq) if self._log.takes and not self._retention.deleting else None
            if plan is None:
                self._check(group)
                plan = plan_commit(group, self._pos, small_bytes)
            self._store(plan)
        except BaseException:
            for entries in group.entries.values():
                for entry in entries:
                    entry.pos = 0
            raise
        self._unwritable = None
        self._note(plan)

    def _is_for_log(self, group: Group) -> bool:
        """Whether the group log will take it: a disk that holds up the write-ahead log does not hold up that."""
        return self._log.takes and not group.rows and bool(group.sizes) and sum(group.sizes.values()) <= RECENT_ROW_BYTES \
            and max(map(len, group.entries.values()), default=0) <= SMALL_ENTRIES

    def _check(self, group: Group) -> None:
        """StorageError for what cannot be stored: what is being deleted, and entries that do not follow those that are there."""
        if self._retention.deleting and (gone := self._retention.deleting & (group.entries.keys() | group.rows.keys())):
            raise StorageError(f"session {gone.pop()} is being deleted")
        known = self._last_seq
        for session_id, entries in group.entries.items():
            check_order(session_id, entries, known[session_id])

    def _store(self, plan: CommitPlan) -> None:
        log = self._log
        if log.takes and not (plan.rows or plan.blocks or plan.huge or self._keeper.damaged) \
                and 0 < len(plan.body) <= RECORD_MOST and log.append(plan.first_pos, plan.newest_pos, plan.body):
            plan.logged = True
            return
        try:
            write_commit(self._writer, self._queries, plan)
        except (sqlite3.Error, OSError) as error:
            raise self._not_written(error) from error

    def _not_written(self, error: sqlite3.Error | OSError) -> StorageError:
        """What to say of a commit that failed. A lock of somebody else's passes; a damaged file has to be mended."""
        failure = StorageError(f"the journal {self._path} could not be written: {error}")
        if not database.is_lock(error):
            self._unwritable = failure.message
            self._keeper.damaged = database.is_damage(error)  # then the next commit waits for the mending, off the loop
        return failure

    def _note(self, plan: CommitPlan) -> None:
        """Take a committed group into account."""
        size = len(plan.body) + (HEAD_BYTES if plan.logged else PAGE_BYTES * 5 // 4)
        ends = [(session_id, entries[-1].seq) for session_id, entries in plan.small.items()]
        if ends:
            self._recent.add(plan.small, len(plan.body))
        if not plan.logged:
            size += self._note_tables(plan, ends)
        if ends:
            self._last_seq.update(ends)
            self._marks.note(ends, plan.newest_pos)
        self._pos = plan.newest_pos  # last: a reader that knows of a pos must find its entry
        if self._keeper.wrote(size):
            self._tend()

    def _tend(self) -> None:
        if self._tending is None or self._tending.done():
            self._tending = self._keeper_thread.submit(self._keeper.tend_or_warn)

    def _note_tables(self, plan: CommitPlan, ends: list[tuple[str, int]]) -> int:
        """What blocks and rows add to the ends of sessions, and to the log in bytes."""
        size = 0
        for block in plan.blocks:
            ends.append((block.session, block.last_seq))
            size += len(block.body) + 2 * PAGE_BYTES
        newest = dict(ends)
        for huge in plan.huge:
            seq = newest[huge.session] = max(newest.get(huge.session, 0), huge.entry.seq)
            ends.append((huge.session, seq))
            size += 2 * huge.size + 2 * PAGE_BYTES
        for row in plan.rows.values():
            size += len(row.summary) + len(row.checkpoint) + 3 * PAGE_BYTES
        return size

    def _pack(self, session_id: str, before: int) -> int:
        return self._retention.pack(session_id, before)

    def _delete(self, session_id: str) -> None:
        self._retention.delete(session_id, lambda: self._pos)
        with self._gate.held():
            self._last_seq.pop(session_id, None)
            self._marks.forget(session_id, self._pos)
            self._retention.deleting.discard(session_id)
        self._scrub_soon()

    def _scrub_soon(self) -> None:
        """Behind whatever waits for the keeper: of many deletions in a row, the last one's scrub is the first that is done."""
        if self._is_open and (self._scrubbing is None or self._scrubbing.done()):
            self._scrubbing = self._keeper_thread.submit(self._scrub)

    def _scrub(self) -> None:
        self._scrubbing = None
        if self._is_open:  # else the next start goes on: it is noted that there is something to scrub
            self._retention.scrub_or_retry(self._scrub_soon)

    # Mending while the hub runs.

    async def _mending(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work; where the file turns out to be damaged, mend it and do the work again."""
        mended = self._mended
        try:
            return await work()
        except StorageError as error:
            if not database.is_damage(error.__cause__) or mended >= _MENDED_MOST:
                raise
            await self._run(self._keeper_thread, "mended", self._mend, mended, error)
            return await work()

    def _mend(self, mended: int, why: StorageError) -> None:
        """With every connection closed. What is not folded yet is also known from memory. Who comes second finds it done."""
        if self._mended != mended:
            return
        with self._gate.held(), self._readers.away():
            held = self._recent.begin_fold()
            self._close_connections(damaged=True)
            self._wiper.close()
            self._mended += 1
            self._marks.read()
            mend_and_note(self._path, self._marks, why, {**held, **self._recent.rest()})
            self._open_connections()
        self._keeper.begin()

    # Threads.

    async def _read(self, make_query: Callable[[], Callable[[SqliteReader], T]]) -> T:
        """Answer a question to a reader; ``make_query`` makes it again where the file was mended in between."""
        async def answer() -> T:
            query = make_query()
            return await self._run(self._readers.threads, "read", lambda: query(self._readers.reader()))

        return await self._mending(answer)

    async def _run(self, threads: ThreadPoolExecutor, tried: str, work: Callable[P, T], *args: P.args, **_: P.kwargs) -> T:
        if self._closed:
            raise StorageError(f"the journal {self._path} could not be {tried}: it is closed")
        with storage_errors(self._path, tried):
            return await asyncio.get_running_loop().run_in_executor(threads, work, *args)
