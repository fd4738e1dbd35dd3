"""Housekeeping of the SQLite journal, in one thread with a connection of its own, so that no loop and no commit waits for it.

- checkpoint: the write-ahead log goes into the database and starts again from its beginning
- fold: the small parts of the last groups become one block per session
- pack: blocks of old turns become few, compressed
- delete: a session goes, a little at a time
- scrub: what was deleted leaves the log, too

Rule 1: it writes only while it holds the gate, and holds it for milliseconds. A commit that finds the gate shut waits off
        the loop.
Rule 2: each step is one transaction that moves entries or removes them, so a crash between steps loses nothing.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import NamedTuple

import msgspec

from trunkline.journal.stores.sqlite.block import (
    BLOCK_BYTES,
    EntryBlock,
    blocks_of,
    compressed,
    is_whole,
    merge,
    stored_block,
    summed,
)
from trunkline.journal.stores.sqlite.database import is_damage
from trunkline.journal.stores.sqlite.gate import WriteGate
from trunkline.journal.stores.sqlite.recent import Recent

PAGE_BYTES = 4096
"""SQLite's page: what a commit writes at least, for each table and index it touches."""

_DELETE_STEP_BYTES = 2 << 20
_READERS_WAIT_MS = 250

_WARN_EVERY_S = 30.0
_SCRUB_TRIES = 30
"""Each waits for readers for up to a quarter of a second: what is deleted is gone from the log within ten seconds, unless
somebody reads one page for longer than that; then the next checkpoint, or the next deletion, makes up for it."""

logger = logging.getLogger(__name__)


class Upkeep(msgspec.Struct, frozen=True, kw_only=True):
    """When housekeeping is due."""

    checkpoint_bytes: int = 16 << 20
    behind_bytes: int = 40 << 20
    """From here on commits wait for the checkpoint: a disk slower than the agents must not fill up with log."""
    fold_groups: int = 4096
    fold_bytes: int = 2 << 20
    """How much may wait in ``recent``: it is held in memory, and its fold holds the gate for about 2 ms a MiB."""


class Housekeeper:
    """The journal's housekeeping. Its methods run in the keeper's thread; ``wrote`` and the properties anywhere."""

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, str], gate: WriteGate,
                 recent: Recent, upkeep: Upkeep) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_READERS_WAIT_MS}")
        self._connection = connection
        self._queries = queries
        self._gate = gate
        self._recent = recent
        self._upkeep = upkeep
        self._log_bytes = 0
        self._scrub_tries = 0
        self._warned_at = -_WARN_EVERY_S
        self.syncing = False
        """Whether a checkpoint is at work: the disk may hold up whoever writes to the log now."""
        self.damaged = False
        """Whether the file turned out to be damaged, and has to be mended before anything is written to it."""
        self.deleting: set[str] = set()
        """Sessions that are gone for every reader and writer, though not all of their blocks are."""

    def scrub_or_retry(self, again: Callable[[], None]) -> None:
        """Empty the log, in which deleted text still stands; where a reader keeps it from that, ``again`` is to call this later.

        The database itself holds zeros in its place: see ``secure_delete`` in database.py."""
        self._scrub_tries += 1
        try:
            if self._is_scrubbed() or self._scrub_tries > _SCRUB_TRIES:
                self._scrub_tries = 0
            else:
                again()
        except sqlite3.Error as error:
            self._scrub_tries = 0
            logger.warning("what was deleted may still stand in the journal's log: %s", error)

    def _is_scrubbed(self) -> bool:
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        with self._gate.held():
            busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                self._log_bytes = 0
        return not busy

    def close(self) -> None:
        """Empty the write-ahead log and end the connection."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:  # the log stays as it is, and the next start reads it
            logger.warning("the journal's log could not be emptied: %s", error)
        finally:
            self._connection.close()

    def wrote(self, size: int) -> None:
        """A commit added about ``size`` bytes to the log. Called by whoever holds the gate."""
        self._log_bytes += size

    @property
    def due(self) -> bool:
        """Whether ``tend`` has something to do."""
        return self._log_bytes > self._upkeep.checkpoint_bytes or self._fold_due

    @property
    def behind(self) -> bool:
        """Whether commits must wait for the checkpoint."""
        return self._log_bytes > self._upkeep.behind_bytes

    def tend_or_warn(self) -> None:
        """Do what is due; a failure is for the log: nothing is lost by it, and the next commit asks again."""
        try:
            self.tend()
        except sqlite3.Error as error:
            self.damaged = is_damage(error)
            if time.monotonic() >= self._warned_at + _WARN_EVERY_S:  # every commit asks again
                self._warned_at = time.monotonic()
                logger.warning("the journal could not be tidied: %s", error)

    def tend(self) -> None:
        """Do what is due."""
        if self._fold_due:
            self.fold()
        if self._log_bytes > self._upkeep.checkpoint_bytes:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Copy the log into the database beside the writer; then, with the gate shut, the little that came meanwhile."""
        self.syncing = True
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            with self._gate.held():
                busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
                # A reader that outlasts the wait keeps the log from starting again; the next checkpoint tries again.
                self._log_bytes = self._upkeep.checkpoint_bytes // 2 if busy else 0
                if not busy:
                    self.begin_log()
        finally:
            self.syncing = False

    def begin_log(self) -> None:
        """Write the first transaction of a log that starts again: SQLite waits for the disk in it, so no commit may be it.

        Called while holding the gate. Where it fails, the next commit is the first, and says what is wrong if it cannot be."""
        try:
            with self._transaction():
                self._connection.execute(self._queries["begin_log"])
        except sqlite3.Error as error:
            logger.warning("the journal's log could not be begun anew: %s", error)
        self.wrote(PAGE_BYTES)

    def fold(self) -> None:
        """Write what waits in ``recent`` as blocks, one session after the other."""
        with self._gate.held():
            waiting = self._recent.begin_fold()
        if not waiting:
            return
        newest = max(entries[-1].pos for entries in waiting.values())
        blocks = [summed(block) for session_id, entries in waiting.items() for block in blocks_of(session_id, entries)]
        with self._gate.held():
            with self._transaction():
                # In this order: the blocks take the pages that become free, which need not be overwritten with zeros then.
                self._connection.execute(self._queries["drop_recent_until"], (newest,))
                self._connection.executemany(self._queries["insert_block"], blocks)
            self._recent.end_fold()
            self.wrote(sum(len(block.body) + 2 * PAGE_BYTES for block in blocks))

    def pack(self, session_id: str, before: int) -> int:
        """Merge the session's blocks that lie below ``before``; returns how many rows that saved."""
        if self._recent.holds(session_id):
            self.fold()
        rows = self._packable(session_id, before)
        for run in _runs_to_pack(rows):
            self._pack_run(session_id, run)
        return len(rows) - len(self._packable(session_id, before))

    def delete(self, session_id: str, newest_pos: Callable[[], int]) -> None:
        """Remove a session: its row at once, its entries in small steps; a mark makes a restart go on with them.

        The session stays in ``deleting``, for the caller to take out when it has forgotten it too."""
        with self._gate.held():
            with self._transaction():
                self._connection.execute(self._queries["mark_deletion"], (session_id,))
                self._connection.execute(self._queries["keep_pos"], (newest_pos(),))
                self._connection.execute(self._queries["drop_session"], (session_id,))
            self.deleting.add(session_id)
        if self._recent.holds(session_id):
            self.fold()
        while self._delete_some(session_id):
            self.tend()

    @property
    def _fold_due(self) -> bool:
        return self._recent.groups > self._upkeep.fold_groups or self._recent.bytes > self._upkeep.fold_bytes

    def _delete_some(self, session_id: str) -> bool:
        """Remove the next blocks of a session; False when that was the rest."""
        places: list[tuple[int]] = []
        size = 0
        for place, length in self._connection.execute(self._queries["droppable"], (session_id,)).fetchall():
            if places and size + length > _DELETE_STEP_BYTES:
                break
            places.append((place,))
            size += length
        with self._gate.held():
            with self._transaction():
                self._connection.executemany(self._queries["drop_block"], places)
                if not places:
                    self._connection.execute(self._queries["unmark_deletion"], (session_id,))
            self.wrote((len(places) + 1) * 2 * PAGE_BYTES)
        return bool(places)

    def _packable(self, session_id: str, before: int) -> list[Packable]:
        found = self._connection.execute(self._queries["packable"], (session_id, before))
        return [Packable(place, packed if isinstance(packed, int) else 0, size) for place, packed, size in found]

    def _pack_run(self, session_id: str, run: list[Packable]) -> None:
        """Merge what is whole; a damaged block stays as it is, and its neighbours on either side stay apart."""
        sources = (stored_block(self._connection.execute(self._queries["block"], (row.first_pos,)).fetchone()) for row in run)
        for whole, blocks in groupby(sources, key=is_whole):
            if whole:
                self._pack_whole(session_id, blocks)

    def _pack_whole(self, session_id: str, blocks: Iterator[EntryBlock]) -> None:
        for plain in merge(blocks):
            block = compressed(plain)
            with self._gate.held():
                with self._transaction():
                    self._connection.execute(self._queries["drop_blocks_within"], (session_id, block.first_seq, block.last_seq))
                    self._connection.execute(self._queries["insert_packed"], (*summed(block), len(plain.body)))
                self.wrote(len(block.body) + 2 * PAGE_BYTES)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute(self._queries["begin"])
        try:
            yield
            self._connection.execute(self._queries["commit"])
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()


class Packable(NamedTuple):
    """A block as packing sees it."""

    first_pos: int
    packed_bytes: int
    size: int


def _runs_to_pack(rows: list[Packable]) -> Iterator[list[Packable]]:
    """Runs of unpacked blocks, each with the packed ones before it that are not much larger.

    So a session that is packed after every short turn ends in few blocks, and an entry is rewritten a few times at most."""
    before: list[Packable] = []
    for packed, group in groupby(rows, key=lambda row: row.packed_bytes > 0):
        if packed:
            before = list(group)
            continue
        run = list(group)
        size = sum(row.size for row in run)
        while before and before[-1].packed_bytes <= min(2 * size, BLOCK_BYTES // 2):
            size += before[-1].packed_bytes
            run.insert(0, before.pop())
        yield run
