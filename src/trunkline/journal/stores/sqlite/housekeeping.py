"""Housekeeping of the SQLite journal, in one thread with a connection of its own, so that no loop and no commit waits for it.

- checkpoint: the write-ahead log goes into the database and starts again from its beginning
- fold: the small parts of the last groups become one block per session

What becomes of old entries and of deleted sessions, in the same thread, is ``retention.py``.

Rule 1: it writes only while it holds the gate, and holds it for milliseconds. A commit that finds the gate shut waits off
        the loop.
Rule 2: each step is one transaction that moves entries or removes them, so a crash between steps loses nothing.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from trunkline.journal.stores.sqlite.block import blocks_of, summed
from trunkline.journal.stores.sqlite.database import is_damage
from trunkline.journal.stores.sqlite.gate import WriteGate
from trunkline.journal.stores.sqlite.recent import Recent

PAGE_BYTES = 4096
"""SQLite's page: what a commit writes at least, for each table and index it touches."""

_READERS_WAIT_MS = 250

_WARN_EVERY_S = 30.0

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
        self._warned_at = -_WARN_EVERY_S
        self.syncing = False
        """Whether a checkpoint is at work: the disk may hold up whoever writes to the log now."""
        self.damaged = False
        """Whether the file turned out to be damaged, and has to be mended before anything is written to it."""

    def empty_log(self) -> bool:
        """Move all of the log into the database and cut it to nothing; False where a reader keeps it from that."""
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
            with self.transaction():
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
            with self.transaction():
                # In this order: the blocks take the pages that become free, which need not be overwritten with zeros then.
                self._connection.execute(self._queries["drop_recent_until"], (newest,))
                self._connection.executemany(self._queries["insert_block"], blocks)
            self._recent.end_fold()
            self.wrote(sum(len(block.body) + 2 * PAGE_BYTES for block in blocks))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing. Entered while holding the gate."""
        self._connection.execute(self._queries["begin"])
        try:
            yield
            self._connection.execute(self._queries["commit"])
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    @property
    def _fold_due(self) -> bool:
        return self._recent.groups > self._upkeep.fold_groups or self._recent.bytes > self._upkeep.fold_bytes
