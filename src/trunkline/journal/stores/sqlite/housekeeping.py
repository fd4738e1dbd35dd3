"""Housekeeping of the SQLite journal, in one thread with a connection of its own, so that no loop and no commit waits for it.

- checkpoint: the write-ahead log goes into the database and starts again from its beginning; the group log goes on in its other
  file, and what was folded of it is cut off
- fold: the small parts of the last groups become one block per session

What becomes of old entries and of deleted sessions, in the same thread, is ``retention.py``.

Rule 1: it writes only while it holds the gate, and holds it for milliseconds. A commit that finds the gate shut waits off
        the loop.
Rule 2: each step is one transaction that moves entries or removes them, so a crash between steps loses nothing.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.block import EntryBlock, blocks_of, summed
from trunkline.journal.stores.sqlite.database import is_damage
from trunkline.journal.stores.sqlite.gate import WriteGate
from trunkline.journal.stores.sqlite.group_log import GroupLog
from trunkline.journal.stores.sqlite.missing import FOLDED_MOST, ORIGIN_MOST, folded_value, origin_of
from trunkline.journal.stores.sqlite.recent import Recent

PAGE_BYTES = 4096
"""SQLite's page: what a commit writes at least, for each table and index it touches."""

CHECKPOINT_BYTES = 16 << 20
BEHIND_BYTES = 40 << 20
FOLD_GROUPS = 4096
FOLD_BYTES = 2 << 20

_READERS_WAIT_MS = 250

_WARN_EVERY_S = 30.0

logger = logging.getLogger(__name__)


class Upkeep(msgspec.Struct, frozen=True, kw_only=True):
    """When housekeeping is due."""

    checkpoint_bytes: int = CHECKPOINT_BYTES
    """Of the write-ahead log and the group log together."""
    behind_bytes: int = BEHIND_BYTES
    """From here on commits wait for the checkpoint: a disk slower than the agents must not fill up with log."""
    fold_groups: int = FOLD_GROUPS
    fold_bytes: int = FOLD_BYTES
    """How much may wait to be folded: it is held in memory, and its fold holds the gate for about 2 ms a MiB."""


class Housekeeper:
    """The journal's housekeeping. Its methods run in the keeper's thread; ``wrote`` and the properties anywhere."""

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, str], gate: WriteGate,
                 recent: Recent, upkeep: Upkeep, log: GroupLog, newest_pos: Callable[[], int]) -> None:
        connection.execute(f"PRAGMA busy_timeout = {_READERS_WAIT_MS}")
        self._connection = connection
        self._queries = queries
        self._gate = gate
        self._recent = recent
        self._upkeep = upkeep
        self._log = log
        self._newest_pos = newest_pos
        self._folding_to = 0
        """The newest pos when the fold began that is under way: all up to there is in the database once it is committed."""
        self._log_bytes = 0
        self._checkpoint_bytes = upkeep.checkpoint_bytes
        self.behind = False
        """Whether commits must wait for the checkpoint."""
        self._warned_at = -_WARN_EVERY_S
        self.syncing = False
        """Whether a checkpoint is at work: the disk may hold up whoever writes to the log now."""
        self.damaged = False
        """Whether the file turned out to be damaged, and has to be mended before anything is written to it."""

    def begin(self) -> None:
        """Begin to take groups into the group log, once what the last hub left there is in blocks."""
        with self._gate.held():
            self.begin_log()
        try:
            if self._log.is_empty:
                self.fold(note=True)
                with self._gate.held():
                    self._begin_groups()
            else:
                self._checkpoint("RESTART")
        except sqlite3.Error as error:  # the database takes all groups meanwhile, and the next one asks again
            logger.warning("the journal's group log could not be begun: %s", error)

    def empty_log(self) -> bool:
        """Move all that the logs have into the database and cut them to nothing; False where a reader keeps it from that."""
        return self._checkpoint("TRUNCATE")

    def close(self, *, damaged: bool = False) -> None:
        """Empty the logs and end the connection. Called while holding the gate; nothing is committed any more."""
        try:
            if not damaged:
                self._rest()
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:  # the log stays as it is, and the next start reads it
            logger.warning("the journal's log could not be emptied: %s", error)
        finally:
            self._connection.close()

    def _rest(self) -> None:
        """Leave everything in the database, so that a version which knows of no group log finds it."""
        self._log.stop()
        self._log.switch()
        while waiting := self._begin_fold():
            self._write_fold(waiting, self._blocks_of(waiting))
        if self._log.is_empty and self._connection.execute(self._queries["folded"]).fetchone() is None:
            return
        busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy and self._log.cut(sync=True):
            self._connection.execute(self._queries["forget_folded"])

    def wrote(self, size: int) -> bool:
        """A commit added about ``size`` bytes to the logs. Called by whoever holds the gate; returns whether ``tend`` has
        something to do now."""
        log_bytes = self._log_bytes = self._log_bytes + size
        if log_bytes > self._checkpoint_bytes:
            self.behind = log_bytes > self._upkeep.behind_bytes
            return True
        recent, upkeep, log = self._recent, self._upkeep, self._log
        return recent.groups > upkeep.fold_groups or recent.bytes > upkeep.fold_bytes or log.takes != log.wanted

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
        if self._checkpoint_due:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Copy the log into the database beside the writer; then, with the gate shut, the little that came meanwhile."""
        self.syncing = True
        try:
            self._checkpoint("RESTART")
        finally:
            self.syncing = False

    def _checkpoint(self, how: str) -> bool:
        """Fold, bring that onto the disk, then let go of what the logs held; False where not all of it could go.

        A fold that fails keeps no log from starting again: on a full disk that is what makes room."""
        failure, switched = None, False
        try:
            switched = self.fold(note=not self._log.takes, switch=True)
        except sqlite3.Error as error:
            failure = error
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        with self._gate.held():
            busy, _, _ = self._connection.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
            # A reader that outlasts the wait keeps the log from starting again; the next checkpoint tries again.
            self._log_bytes = self._checkpoint_bytes // 2 if busy else 0
            self.behind = False
            if not busy:
                if failure is None and self._log.cut() and not self._log.takes:
                    self._begin_groups()
                if how != "TRUNCATE":
                    self.begin_log()
        if failure is not None:
            raise failure
        return not busy and switched

    def _begin_groups(self) -> None:
        """Called while holding the gate."""
        if self._folding_to < FOLDED_MOST // 2 and self._log.wanted:
            self._log.origin = self._log.origin or self._settled_origin()
            self._log.begin()
        else:
            self._log.wanted = False

    def _settled_origin(self) -> int:
        """What tells this file's logs from those of another one."""
        with self.transaction():
            self._connection.execute(self._queries["note_origin"], (secrets.randbelow(ORIGIN_MOST) + 1,))
        return origin_of(self._connection.execute(self._queries["origin"]).fetchone()) or 0

    def begin_log(self) -> None:
        """Write the first transaction of a log that starts again: SQLite waits for the disk in it, so no commit may be it.

        Called while holding the gate. Where it fails, the next commit is the first, and says what is wrong if it cannot be."""
        try:
            with self.transaction():
                self._connection.execute(self._queries["begin_log"])
        except sqlite3.Error as error:
            logger.warning("the journal's log could not be begun anew: %s", error)
        self.wrote(PAGE_BYTES)

    def fold(self, *, note: bool = False, switch: bool = False) -> bool:
        """Write what waits as blocks, one session after the other; ``note`` how far, even where nothing waits.

        With ``switch`` the group log goes on in its other file; False where that is not empty yet."""
        if self._recent.is_folding:  # one that failed: first that, for what its log holds is less
            self._fold_once(note=False, switch=False)
        return self._fold_once(note=note, switch=switch)

    def _fold_once(self, *, note: bool, switch: bool) -> bool:
        with self._gate.held():
            switched = self._log.switch() if switch and not self._recent.is_folding else False
            waiting = self._begin_fold()
        if waiting or note:
            blocks = self._blocks_of(waiting)
            with self._gate.held():
                self._write_fold(waiting, blocks)
        return switched

    def _begin_fold(self) -> dict[str, list[Entry]]:
        if not self._recent.is_folding:
            self._folding_to = self._newest_pos()
        return self._recent.begin_fold()

    def _blocks_of(self, waiting: dict[str, list[Entry]]) -> list[EntryBlock]:
        return [summed(block) for session_id, entries in waiting.items() for block in blocks_of(session_id, entries)]

    def _write_fold(self, waiting: dict[str, list[Entry]], blocks: list[EntryBlock]) -> None:
        with self.transaction():
            if waiting:
                # In this order: the blocks take the pages that become free, which need not be overwritten with zeros then.
                self._connection.execute(self._queries["drop_recent_until"], (self._folding_to,))
                self._connection.executemany(self._queries["insert_block"], blocks)
            if self._folding_to < FOLDED_MOST:
                self._connection.execute(self._queries["note_folded"], (folded_value(self._folding_to),))
        self._recent.end_fold()
        self.wrote(PAGE_BYTES + sum(len(block.body) + 2 * PAGE_BYTES for block in blocks))

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
    def _checkpoint_due(self) -> bool:
        return self._log_bytes > self._checkpoint_bytes or self._log.takes != self._log.wanted

    @property
    def _fold_due(self) -> bool:
        return self._recent.groups > self._upkeep.fold_groups or self._recent.bytes > self._upkeep.fold_bytes
