"""Retention: how long what is stored is kept, and how it goes.

An entry is kept until somebody deletes its session (``hub/sessions.py``); nothing goes because of its age.

- pack: blocks of old turns become few, compressed
- delete: a session goes, a little at a time
- scrub: what was deleted leaves the logs, too, and the room between the rows of the database (wiping.py)

Rule 1: all of it is done in the keeper's thread, and it writes only while it holds the gate, for milliseconds.
Rule 2: each step is one transaction that moves entries or removes them, so a crash between steps loses nothing.
Rule 3: from a deletion on it is noted (``unscrubbed``) that there is something to scrub, until that is done: a start goes on.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from trunkline.journal.stores.sqlite.block import (
    BLOCK_BYTES,
    EntryBlock,
    compressed,
    is_whole,
    merge,
    stored_block,
    summed,
)
from trunkline.journal.stores.sqlite.gate import WriteGate
from trunkline.journal.stores.sqlite.housekeeping import PAGE_BYTES, Housekeeper
from trunkline.journal.stores.sqlite.recent import Recent
from trunkline.journal.stores.sqlite.wiping import Wiper

_DELETE_STEP_BYTES: Final = 2 << 20
"""Bytes of entries that one step of a deletion removes: it holds the gate for milliseconds."""

_SCRUB_TRIES: Final = 30
"""Each waits for readers for up to a quarter of a second: what is deleted is gone from the log within ten seconds, unless
somebody reads one page for longer than that; then the next checkpoint, or the next deletion, makes up for it."""

_WIPE_PAGES: Final = 4096
_WIPE_STEP_PAGES: Final = 256
"""Pages that are looked at before others have the keeper again (some 20 ms), and that are overwritten while the gate is held."""

_FIRST_PAGE: Final = 1

logger = logging.getLogger(__name__)


class Retention:
    """What one journal keeps, and how the rest goes. Its methods run in the keeper's thread; ``deleting`` is read anywhere."""

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, str], gate: WriteGate, recent: Recent,
                 keeper: Housekeeper, wiper: Wiper) -> None:
        """``connection`` is the keeper's own."""
        self._connection = connection
        self._queries = queries
        self._gate = gate
        self._recent = recent
        self._keeper = keeper
        self._wiper = wiper
        self._scrub_tries = 0
        self._next_page = 0
        """Where wiping goes on; 0: first the logs have to be emptied."""
        self.deleting: set[str] = set()
        """Sessions that are gone for every reader and writer, though not all of their blocks are."""

    def pack(self, session_id: str, before: int) -> int:
        """Merge the session's blocks that lie below ``before``; returns how many rows that saved."""
        if self._recent.holds(session_id):
            self._keeper.fold()
        rows = self._packable(session_id, before)
        for run in _runs_to_pack(rows):
            self._pack_run(session_id, run)
        return len(rows) - len(self._packable(session_id, before))

    def delete(self, session_id: str, newest_pos: Callable[[], int]) -> None:
        """Remove a session: its row at once, its entries in small steps; a mark makes a restart go on with them.

        The session stays in ``deleting``, for the caller to take out when it has forgotten it too."""
        with self._gate.held():
            with self._keeper.transaction():
                self._connection.execute(self._queries["mark_deletion"], (session_id,))
                self._connection.execute(self._queries["keep_pos"], (newest_pos(),))
                self._connection.execute(self._queries["drop_session"], (session_id,))
                self._connection.execute(self._queries["note_unscrubbed"])
            self.deleting.add(session_id)
        self._keeper.fold(note=True)  # also where nothing waits: whose pos are missing from here on was deleted (missing.py)
        while self._delete_some(session_id):
            self._keeper.tend()
        self._next_page = 0

    @property
    def is_unscrubbed(self) -> bool:
        """Whether a hub that ran before had no time to scrub what it deleted."""
        return self._connection.execute(self._queries["unscrubbed"]).fetchone() is not None

    def scrub_or_retry(self, again: Callable[[], None]) -> None:
        """Empty the logs, in which deleted text still stands, and overwrite what pages have left of it; where there is more to
        do, or a reader keeps it from that, ``again`` is to call this later.

        What was a row the database itself holds zeros for: see ``secure_delete`` in database.py."""
        self._scrub_tries += 1
        try:
            if self._scrub_some() or self._scrub_tries > _SCRUB_TRIES:
                self._scrub_tries = 0
            else:
                again()
        except (sqlite3.Error, OSError) as error:
            self._scrub_tries = 0
            logger.warning("what was deleted may still stand in the journal: %s", error)

    def _scrub_some(self) -> bool:
        """Do the next step; False where there is another one."""
        if not self._next_page:
            if not self._keeper.empty_log():
                return False
            self._next_page = _FIRST_PAGE
        if not self._wipe_some():
            return False
        self._scrub_tries = 0
        if self._next_page <= self._wiper.count:
            return False
        self._connection.execute(self._queries["forget_unscrubbed"])
        return True

    def _wipe_some(self) -> bool:
        """Wipe the next pages; False where a reader keeps it from that."""
        last = self._next_page + _WIPE_PAGES - 1
        stained = self._wiper.stained(self._next_page, last)
        for first in range(0, len(stained), _WIPE_STEP_PAGES):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            with self._gate.held():
                if not self._wiper.wipe(self._connection, stained[first:first + _WIPE_STEP_PAGES]):
                    return False
        self._next_page = last + 1
        return True

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
            with self._keeper.transaction():
                self._connection.executemany(self._queries["drop_block"], places)
                if not places:
                    self._connection.execute(self._queries["unmark_deletion"], (session_id,))
            self._keeper.wrote((len(places) + 1) * 2 * PAGE_BYTES)
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
                with self._keeper.transaction():
                    self._connection.execute(self._queries["drop_blocks_within"], (session_id, block.first_seq, block.last_seq))
                    self._connection.execute(self._queries["insert_packed"], (*summed(block), len(plain.body)))
                self._keeper.wrote(len(block.body) + 2 * PAGE_BYTES)


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
