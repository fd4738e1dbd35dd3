"""The journal in one SQLite file: write-ahead log, one transaction per group, a row per block of entries.

How a group travels: ``append`` gives each entry its pos. What a session has much of becomes a block (block.py); the small
parts of all sessions become one row of ``recent`` and stay in memory (recent.py); the session rows come with them; all in one
transaction. The keeper (keeper.py) folds ``recent`` into blocks and moves the write-ahead log into the database. Readers
(reader.py) have connections of their own.

Rule 1: with durability ``normal`` a group is committed in the caller's thread, without a wait and without fsync: a process that
        dies loses nothing, a machine that dies may lose the last moments. ``full`` adds an fsync, in the writer's thread.
Rule 2: whoever writes holds the gate. The loop never waits for it: a commit that finds it shut moves to the writer's thread. So
        does one that finds SQLite's own lock taken, by a program that is not ours: only the writer's thread waits for that.
Rule 3: pos rises with every commit and never comes back, not after a failure, a reopen or a delete.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

import msgspec

from trunkline.errors import StorageError
from trunkline.journal import database
from trunkline.journal.base import Entry, Group, RowFilter, SessionRow
from trunkline.journal.block import POS_SPAN, Block, blocks_of, decode_parts, encode
from trunkline.journal.database import Durability, storage_errors
from trunkline.journal.gate import Gate
from trunkline.journal.keeper import PAGE_BYTES, Keeper, Upkeep
from trunkline.journal.large import LARGE_ENTRY, LargeBlock, large_block
from trunkline.journal.large import write as write_large
from trunkline.journal.order import check_order
from trunkline.journal.reader import Reader, SessionRead
from trunkline.journal.recent import Recent

_SMALL_ENTRIES = 16
_SMALL_BYTES = 8192
_RECENT_ROW_BYTES = 256 * 1024
"""A session's part of a group is small with up to 16 entries: writing it once more in a fold costs less than an index page of
its own in this commit. In a row that comes out long, only parts of up to 8 KiB count as small."""

_READERS = 2

P = ParamSpec("P")
T = TypeVar("T")


class SqliteJournal:
    """Numbered entries in a file. Use as an async context manager."""

    def __init__(self, path: Path, *, durability: Durability = "normal", upkeep: Upkeep | None = None) -> None:
        self._path = path
        self._durability: Durability = durability
        self._upkeep = upkeep or Upkeep()
        self._queries = database.load_queries()
        self._gate = Gate()
        self._pos = 0
        self._last_seq: dict[str, int] = {}
        self._recent = Recent()
        self._writer: sqlite3.Connection
        self._keeper: Keeper
        self._tending: Future[None] | None = None
        self._reader_of_thread = threading.local()
        self._readers: list[Reader] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._writer_thread = ThreadPoolExecutor(1, "journal-writer")
        self._keeper_thread = ThreadPoolExecutor(1, "journal-keeper")
        self._reader_threads = ThreadPoolExecutor(_READERS, "journal-reader")
        try:
            await self._run(self._writer_thread, "opened", self._open)
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

    @property
    def last_pos(self) -> int:
        """The newest pos that was given out."""
        return self._pos

    def append_now(self, group: Group) -> bool:
        """Commit a group in this thread without waiting; False, and nothing done, where ``append`` has to be awaited."""
        keeper = self._keeper
        if self._durability == "full" or keeper.syncing or keeper.behind or not self._gate.try_enter():
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

    async def append(self, group: Group) -> None:
        """Commit a group in the writer's thread, and set ``pos`` on its entries."""
        if self._keeper.behind:
            await self._run(self._keeper_thread, "written", self._keeper.tend)
        await self._run(self._writer_thread, "written", self._commit_in_turn, group)

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """Entries with after < seq < before that fit the limits: the first ones, or the last (``tail``)."""
        if limit < 1 or session_id in self._keeper.deleting:
            return []
        horizon = self._pos  # before the recent ones: what is committed in between must not be half seen
        held = self._recent.of(session_id, after=after, before=before, horizon=horizon)
        asked = SessionRead(session_id, after, before, limit, max_bytes, tail, horizon, held)
        return await self._run(self._reader_threads, "read", lambda: self._reader().session(asked))

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """(session id, entry) of all sessions with pos > after, in pos order."""
        hidden = self._keeper.deleting
        return await self._run(self._reader_threads, "read", lambda: self._reader().hub(after, limit, max_bytes, hidden))

    async def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows, newest activity first."""
        found = await self._run(self._reader_threads, "read", lambda: self._reader().rows(which))
        for row in found:
            row.last_seq = max(row.last_seq, self._last_seq.get(row.id, 0))
        return found

    async def pack(self, session_id: str, *, before: int) -> int:
        """Merge blocks of entries below ``before``, compressed where it pays; returns how many rows that saved."""
        return await self._run(self._keeper_thread, "packed", self._keeper.pack, session_id, before)

    async def delete(self, session_id: str) -> None:
        """Forget a session; deleting an unknown one is no error."""
        await self._run(self._keeper_thread, "rid of a session", self._delete, session_id)

    # Opening and closing.

    def _open(self) -> None:
        database.create(self._path)
        with ExitStack() as undo:
            self._writer = database.connect(self._path, durability=self._durability)
            undo.callback(self._writer.close)
            database.migrate(self._writer, self._path)
            self._restore()
            database.never_wait(self._writer)
            self._keeper = Keeper(database.connect(self._path), self._queries, self._gate, self._recent, self._upkeep)
            undo.callback(self._keeper.close)
            with self._gate.held():
                self._keeper.begin_log()
            for (session_id,) in self._writer.execute(self._queries["deletions"]).fetchall():
                self._delete(session_id)
            undo.pop_all()

    def _restore(self) -> None:
        """Know again what a hub that ran before knew."""
        self._pos = self._writer.execute(self._queries["last_pos"], {"span": POS_SPAN}).fetchone()[0]
        for (body,) in self._writer.execute(self._queries["all_recent"]):
            parts = decode_parts(body)
            self._recent.add(parts, len(body))
            self._pos = max(self._pos, *(entries[-1].pos for entries in parts.values()))
        for session_id, last_seq in self._recent.last_seqs().items():
            self._last_seq[session_id] = max(last_seq, self._stored_last_seq(session_id))

    def _close(self) -> None:
        self._reader_threads.shutdown()
        for reader in self._readers:
            reader.close()
        with self._gate.held():
            self._writer.close()
            self._keeper.close()

    def _shut_threads(self) -> None:
        for threads in (self._reader_threads, self._writer_thread, self._keeper_thread):
            threads.shutdown()

    # Writing: all of it while holding the gate.

    def _commit_in_turn(self, group: Group) -> None:
        with self._gate.held(), database.waiting(self._writer):
            self._commit(group, small_bytes=_RECENT_ROW_BYTES)

    def _commit(self, group: Group, small_bytes: int | None = None) -> None:
        try:
            plan = self._plan(group, small_bytes)
            self._store(plan)
        except BaseException:
            for entries in group.entries.values():
                for entry in entries:
                    entry.pos = 0
            raise
        self._note(plan)

    def _plan(self, group: Group, small_bytes: int | None) -> _Plan:
        """What the transaction will write: small parts in one row, other parts as blocks, each entry with its pos. A part over
        ``small_bytes`` is a block without a try: of many megabytes that would be a copy in vain."""
        if self._keeper.deleting:
            self._refuse_deleted(group)
        small = group.entries
        large: dict[str, list[Entry]] = {}
        known = self._last_seq
        for session_id, entries in small.items():
            check_order(session_id, entries, known[session_id] if session_id in known else self._load_last_seq(session_id))
            if len(entries) > _SMALL_ENTRIES or not entries or (small_bytes is not None and _size(entries) > small_bytes):
                large[session_id] = entries
        if large:
            small = {session_id: entries for session_id, entries in small.items() if session_id not in large}
        pos = _number(small, self._pos)
        body = encode(small) if small else b""
        if len(body) > _RECENT_ROW_BYTES:
            large |= {session_id: entries for session_id, entries in small.items() if _size(entries) > _SMALL_BYTES}
            small = {session_id: entries for session_id, entries in small.items() if session_id not in large}
            pos = _number(small, self._pos)
            body = encode(small) if small else b""
        newest = _number(large, pos)
        huge = _take_huge(large)
        blocks = [block for session_id, entries in large.items() if entries for block in blocks_of(session_id, entries)]
        return _Plan(self._pos + 1, small, body, blocks, group.rows, newest, huge)

    def _store(self, plan: _Plan) -> None:
        writer, queries = self._writer, self._queries
        with storage_errors(self._path, "written"):
            try:
                writer.execute(queries["begin"])
                if plan.small:
                    writer.execute(queries["insert_recent"], (plan.first_pos, plan.body))
                if plan.blocks:
                    writer.executemany(queries["insert_block"], plan.blocks)
                for block in plan.huge:
                    write_large(writer, queries["insert_large"], block)
                if plan.rows:
                    writer.executemany(queries["upsert_session"], map(_row_values, plan.rows.values()))
                writer.execute(queries["commit"])
            finally:
                if writer.in_transaction:
                    writer.rollback()

    def _note(self, plan: _Plan) -> None:
        """Take a committed group into account."""
        size = len(plan.body) + PAGE_BYTES * 5 // 4
        if plan.small:
            self._recent.add(plan.small, len(plan.body))
            for session_id, entries in plan.small.items():
                self._last_seq[session_id] = entries[-1].seq
        for block in plan.blocks:
            self._last_seq[block.session] = block.last_seq
            size += len(block.body) + 2 * PAGE_BYTES
        for huge in plan.huge:
            self._last_seq[huge.session] = max(self._last_seq.get(huge.session, 0), huge.entry.seq)
            size += 2 * huge.size + 2 * PAGE_BYTES
        for row in plan.rows.values():
            size += len(row.summary) + len(row.checkpoint) + 3 * PAGE_BYTES
        self._pos = plan.newest_pos  # last: a reader that knows of a pos must find its entry
        self._keeper.wrote(size)
        if self._keeper.due and (self._tending is None or self._tending.done()):
            self._tending = self._keeper_thread.submit(self._keeper.tend_or_warn)

    def _load_last_seq(self, session_id: str) -> int:
        last_seq = self._last_seq[session_id] = self._stored_last_seq(session_id)
        return last_seq

    def _stored_last_seq(self, session_id: str) -> int:
        with storage_errors(self._path, "read"):
            row = self._writer.execute(self._queries["last_seq"], (session_id,)).fetchone()
        return row[0] if row else 0

    def _refuse_deleted(self, group: Group) -> None:
        gone = self._keeper.deleting & (group.entries.keys() | group.rows.keys())
        if gone:
            raise StorageError(f"session {gone.pop()} is being deleted")

    def _delete(self, session_id: str) -> None:
        self._keeper.delete(session_id, lambda: self._pos)
        with self._gate.held():
            self._last_seq.pop(session_id, None)
            self._keeper.deleting.discard(session_id)

    # Threads.

    def _reader(self) -> Reader:
        """This thread's reader."""
        reader: Reader | None = getattr(self._reader_of_thread, "reader", None)
        if reader is None:
            reader = Reader(database.connect(self._path, read_only=True), self._queries)
            self._reader_of_thread.reader = reader
            self._readers.append(reader)
        return reader

    async def _run(self, threads: ThreadPoolExecutor, tried: str, work: Callable[P, T], *args: P.args, **_: P.kwargs) -> T:
        if self._closed:
            raise StorageError(f"the journal {self._path} could not be {tried}: it is closed")
        with storage_errors(self._path, tried):
            return await asyncio.get_running_loop().run_in_executor(threads, work, *args)


class _Plan(msgspec.Struct, gc=False):
    """One transaction."""

    first_pos: int
    small: dict[str, list[Entry]]
    body: bytes
    """The small parts, encoded."""
    blocks: list[Block]
    rows: dict[str, SessionRow]
    newest_pos: int
    huge: list[LargeBlock]


def _take_huge(parts: dict[str, list[Entry]]) -> list[LargeBlock]:
    """Take the entries out that are blocks of their own because of their size."""
    found: list[LargeBlock] = []
    for session_id, entries in parts.items():
        huge = [entry for entry in entries if entry.size() > LARGE_ENTRY]
        if huge:
            found += [large_block(session_id, entry) for entry in huge]
            parts[session_id] = [entry for entry in entries if entry.size() <= LARGE_ENTRY]
    return found


def _number(parts: dict[str, list[Entry]], pos: int) -> int:
    """Give each entry its pos, rising from the one after ``pos``; returns the last."""
    for entries in parts.values():
        for entry in entries:
            pos += 1
            entry.pos = pos
    return pos


def _size(entries: list[Entry]) -> int:
    return sum([entry.size() for entry in entries])


def _row_values(row: SessionRow) -> tuple[str, str, str, str, str, int, int, int, bytes, bytes]:
    return (row.id, row.agent, row.cwd, row.title, row.status, row.created_at, row.updated_at, row.checkpoint_seq,
            row.summary, row.checkpoint)
