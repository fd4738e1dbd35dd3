"""The journal in one SQLite file: write-ahead log, one transaction per group, a row per block of entries.

How a group travels: ``append`` gives each entry its pos and encodes each session's entries into one block (block.py); small
blocks go to the table ``recent``, others to ``blocks``, with the session rows, in one transaction. The keeper (keeper.py) folds
``recent`` into ``blocks`` and moves the write-ahead log into the database. Readers (reader.py) work on connections of their own.

Rule 1: with durability ``normal`` a group is committed in the caller's thread, without a wait and without fsync: a process that
        dies loses nothing, a machine that dies may lose the last moments. ``full`` adds an fsync, in the writer's thread.
Rule 2: whoever writes holds the gate. The loop never waits for it: a commit that finds it shut moves to the writer's thread.
Rule 3: pos rises with every commit and never comes back, not after a failure, a reopen or a delete.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from trunkline.errors import StorageError
from trunkline.journal import database
from trunkline.journal.base import Entry, Group, RowFilter, SessionRow
from trunkline.journal.block import POS_SPAN, Block, encode, split
from trunkline.journal.database import Durability, storage_errors
from trunkline.journal.keeper import PAGE_BYTES, Keeper
from trunkline.journal.order import check_order
from trunkline.journal.reader import Reader, SessionRead
from trunkline.journal.recent import Place, RecentIndex

_SMALL_BYTES = 8192
_SMALL_ENTRIES = 64
"""A block under both limits is small: rewriting it once in a fold costs less than an index page of its own in this commit."""

_LARGE_GROUP_BYTES = 4 << 20
"""A group over this is written in the writer's thread: it would hold the loop up for longer than a thread switch costs."""

_READERS = 2

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


class SqliteJournal:
    """Numbered entries in a file. Use as an async context manager."""

    def __init__(self, path: Path, *, durability: Durability = "normal") -> None:
        self._path = path
        self._durability: Durability = durability
        self._queries = database.load_queries()
        self._gate = threading.Lock()
        self._pos = 0
        self._last_seq: dict[str, int] = {}
        self._deleting: set[str] = set()
        self._recent = RecentIndex()
        self._tending: Future[None] | None = None
        self._reader_of_thread = threading.local()
        self._readers: list[Reader] = []

    async def __aenter__(self) -> Self:
        self._writer_thread = ThreadPoolExecutor(1, "journal-writer")
        self._keeper_thread = ThreadPoolExecutor(1, "journal-keeper")
        self._reader_threads = ThreadPoolExecutor(_READERS, "journal-reader")
        try:
            await self._run(self._writer_thread, "opened", self._open)
        except StorageError:
            self._shut_threads()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        try:
            await self._run(self._keeper_thread, "closed", self._close)
        finally:
            self._shut_threads()

    def append_now(self, group: Group) -> bool:
        """Commit a group in this thread without waiting; False, and nothing done, where ``append`` has to be awaited."""
        if self._durability == "full" or self._keeper.behind or not self._gate.acquire(blocking=False):
            return False
        try:
            self._commit(group)
        finally:
            self._gate.release()
        return True

    async def append(self, group: Group) -> None:
        """Commit a group and set ``pos`` on its entries."""
        if self._keeper.behind:
            await self._run(self._keeper_thread, "written", self._keeper.tend)
        if _is_large(group) or not self.append_now(group):
            await self._run(self._writer_thread, "written", self._commit_in_turn, group)

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """Entries with after < seq < before that fit the limits: the first ones, or the last (``tail``)."""
        if session_id in self._deleting:
            return []
        horizon = self._pos  # before the places: whatever is committed in between must not be half seen
        asked = SessionRead(session_id, after, before, limit, max_bytes, tail, horizon, self._recent.of(session_id))
        return await self._run(self._reader_threads, "read", lambda: self._reader().session(asked))

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """(session id, entry) of all sessions with pos > after, in pos order."""
        return await self._run(self._reader_threads, "read", lambda: self._reader().hub(after, limit, max_bytes))

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
        self._writer = database.connect(self._path, durability=self._durability)
        try:
            database.migrate(self._writer, self._path)
            self._pos = self._writer.execute(self._queries["last_pos"], {"span": POS_SPAN}).fetchone()[0]
            for session_id, first_seq, last_seq, first_pos in self._writer.execute(self._queries["recent_places"]):
                self._recent.add(session_id, Place(first_seq, last_seq, first_pos), PAGE_BYTES)
            for session_id, last_seq in self._recent.last_seqs().items():
                self._last_seq[session_id] = max(last_seq, self._stored_last_seq(session_id))
            self._keeper = Keeper(database.connect(self._path), self._queries, self._gate, self._recent)
            for (session_id,) in self._writer.execute(self._queries["deletions"]).fetchall():
                self._keeper.delete(session_id, self._pos)
        except BaseException:
            self._writer.close()
            raise

    def _close(self) -> None:
        self._reader_threads.shutdown()
        for reader in self._readers:
            reader.close()
        with self._gate:
            self._writer.close()
            self._keeper.close()

    def _shut_threads(self) -> None:
        for threads in (self._reader_threads, self._writer_thread, self._keeper_thread):
            threads.shutdown()

    # Writing: all of it while holding the gate.

    def _commit_in_turn(self, group: Group) -> None:
        with self._gate:
            self._commit(group)

    def _commit(self, group: Group) -> None:
        small: list[Block] = []
        blocks: list[Block] = []
        try:
            newest_pos = self._encode(group, small, blocks)
            self._store(small, blocks, group.rows)
        except BaseException:
            for entries in group.entries.values():
                for entry in entries:
                    entry.pos = 0
            raise
        self._note(group, small, blocks)
        self._pos = newest_pos  # last: a reader that knows of a pos must find its place in the index

    def _encode(self, group: Group, small: list[Block], blocks: list[Block]) -> int:
        """Give each entry its pos and fill the two lists; returns the newest pos."""
        pos = self._pos
        for session_id, entries in group.entries.items():
            if not entries:
                continue
            check_order(session_id, entries, self._known_last_seq(session_id))
            for entry in entries:
                pos += 1
                entry.pos = pos
            body = encode(entries)
            if len(body) < _SMALL_BYTES and len(entries) <= _SMALL_ENTRIES:
                first = entries[0]
                small.append(Block(first.pos, session_id, first.seq, entries[-1].seq, pos, body))
            else:
                blocks += split(session_id, entries, body)
        return pos

    def _store(self, small: list[Block], blocks: list[Block], rows: dict[str, SessionRow]) -> None:
        writer, queries = self._writer, self._queries
        with storage_errors(self._path, "written"):
            try:
                writer.execute(queries["begin"])
                if small:
                    writer.executemany(queries["insert_recent"], small)
                if blocks:
                    writer.executemany(queries["insert_block"], blocks)
                if rows:
                    writer.executemany(queries["upsert_session"], map(_row_values, rows.values()))
                writer.execute(queries["commit"])
            finally:
                if writer.in_transaction:
                    writer.rollback()

    def _note(self, group: Group, small: list[Block], blocks: list[Block]) -> None:
        """Take a committed group into account."""
        size = 2 * PAGE_BYTES
        for block in small:
            self._recent.add(block.session, Place(block.first_seq, block.last_seq, block.first_pos), len(block.body))
            self._last_seq[block.session] = block.last_seq
            size += len(block.body)
        for block in blocks:
            self._last_seq[block.session] = block.last_seq
            size += len(block.body) + 2 * PAGE_BYTES
        for row in group.rows.values():
            size += len(row.summary) + len(row.checkpoint) + 3 * PAGE_BYTES
        self._keeper.wrote(size)
        if self._keeper.due and (self._tending is None or self._tending.done()):
            self._tending = self._keeper_thread.submit(self._tend)

    def _tend(self) -> None:
        try:
            self._keeper.tend()
        except sqlite3.Error as error:  # the next commit asks again; meanwhile nothing is lost, the log only grows
            logger.warning("the journal %s could not be tidied: %s", self._path, error)

    def _known_last_seq(self, session_id: str) -> int:
        known = self._last_seq.get(session_id)
        if known is None:
            known = self._last_seq[session_id] = self._stored_last_seq(session_id)
        return known

    def _stored_last_seq(self, session_id: str) -> int:
        with storage_errors(self._path, "read"):
            row = self._writer.execute(self._queries["last_seq"], (session_id,)).fetchone()
        return row[0] if row else 0

    def _delete(self, session_id: str) -> None:
        self._deleting.add(session_id)
        try:
            self._keeper.delete(session_id, self._pos)
        finally:
            self._last_seq.pop(session_id, None)
            self._deleting.discard(session_id)

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
        with storage_errors(self._path, tried):
            return await asyncio.get_running_loop().run_in_executor(threads, work, *args)


def _is_large(group: Group) -> bool:
    return sum([entry.size() for entries in group.entries.values() for entry in entries]) > _LARGE_GROUP_BYTES


def _row_values(row: SessionRow) -> tuple[str, str, str, str, str, int, int, int, bytes, bytes]:
    return (row.id, row.agent, row.cwd, row.title, row.status, row.created_at, row.updated_at, row.checkpoint_seq,
            row.summary, row.checkpoint)
