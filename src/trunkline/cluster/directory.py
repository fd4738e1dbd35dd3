"""The sessions of the cluster: a row each, written by its owner, in memory at every node.

Rule 1: a row says where a session is (pool, owner, epoch) and what a list shows of it. Its entries are in the stream.
Rule 2: an owner writes its rows a moment after they change, the newest of each; a reader of the stream is never behind a row for
        long, and a row never speaks of entries that the stream will not get.
Rule 3: a session is of one pool for good. Of rows in two pools the one of the pool that has its first entries counts: a node that
        was stolen can write rows of its own pool, whatever session they name.
Rule 4: with the row of a session at rest goes its checkpoint.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.checkpoints import store_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.table import Table
from trunkline.dialects.outside import BROKEN, Count, Moment
from trunkline.errors import (
    ClusterDenied,
    ClusterUnavailable,
    Invalid,
    NodeAway,
    NodeSilent,
    SessionNotFound,
    TrunklineError,
)
from trunkline.journal.base import SessionRow

log = logging.getLogger("trunkline.cluster")

WRITE_AFTER_S: Final = 0.2
RETRY_S: Final = 1.0
HEARD_WITHIN_S: Final = 5.0
"""How long somebody waits for the row of a session that has just begun here."""
MISSING: Final = object()


class SessionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A session's row."""

    id: str
    pool: str
    owner: str
    epoch: Count
    agent: str
    cwd: str
    title: str
    status: str
    created_at: Moment
    updated_at: Moment
    last_seq: Count
    summary: msgspec.Raw
    """The session's view as JSON: what a list shows."""


_place = decoders.of(SessionPlace)

OnPlace = Callable[[str, SessionPlace | None], None]
"""A session and its row; None: it is gone."""


class Directory:
    """All sessions, and the way for this node's own rows to get there."""

    def __init__(self, connection: Connection, *, pool: str, owner: str, epoch_of: Callable[[str], int] = lambda session_id: 1,
                 on_change: OnPlace = lambda session_id, place: None) -> None:
        self.places: dict[str, SessionPlace] = {}
        self._watchers: list[OnPlace] = []
        self._connection, self._pool, self._owner = connection, pool, owner
        self._epoch_of = epoch_of
        self._watchers.append(on_change)
        self._table = Table(connection, subjects.SESSIONS, self._on_row)
        self.loaded = self._table.loaded
        self._owed: dict[str, SessionRow | None] = {}
        self._wrote: dict[str, int] = {}
        """The number of each row that this node wrote last: the copy hears of it a moment later."""
        self._writing: asyncio.Task[None] | None = None
        self._settling: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Follow the rows of all nodes."""
        self._table.start()

    async def close(self) -> None:
        """Write what is owed, where that can be done in a moment."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait((self._writing,))
            self._writing = None
        for task in list(self._settling):
            task.cancel()
        if self._connection.up and self.loaded.is_set():
            await self._write_owed()
        await self._table.close()

    def put(self, row: SessionRow) -> None:
        """A session of this node is like this now; it is written in a moment."""
        self._owed[row.id] = row
        self._write_soon()

    def remove(self, session_id: str) -> None:
        """A session of this node is gone."""
        self._owed[session_id] = None
        self._write_soon()

    async def write_now(self) -> None:
        """Write what is owed at once, where that can be done; the rest goes as ever."""
        if self._connection.up and self.loaded.is_set():
            await self._write_owed()

    def watch(self, watcher: OnPlace) -> Callable[[], None]:
        """Have each change told; the result ends that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def place(self, session_id: str) -> SessionPlace:
        """Where a session is; SessionNotFound where no node has it."""
        found = self.places.get(session_id)
        if found is None:
            raise SessionNotFound(f"no session of the cluster has the id {session_id}", details={"sessionId": session_id})
        return found

    async def wait_for(self, session_id: str, epoch: int = 0) -> SessionPlace:
        """The same for a session of which something came before its row: it has begun at this node, or was claimed.
        ClusterUnavailable, if that takes too long."""
        told = asyncio.Event()

        def look(changed: str, place: SessionPlace | None) -> None:
            if changed == session_id and place is not None and place.epoch >= epoch:
                told.set()

        end = self.watch(look)
        try:
            look(session_id, self.places.get(session_id))
            await asyncio.wait_for(told.wait(), HEARD_WITHIN_S)
        except TimeoutError as error:
            raise ClusterUnavailable(f"the cluster has not taken the row of session {session_id} yet; ask again") from error
        finally:
            end()
        return self.place(session_id)

    def pool_of(self, session_id: str) -> str:
        """The pool that a session is in."""
        return self.place(session_id).pool

    def by_owner(self) -> Iterator[tuple[str, int]]:
        """How many sessions each node has."""
        counts: dict[str, int] = {}
        for place in self.places.values():
            counts[place.owner] = counts.get(place.owner, 0) + 1
        yield from sorted(counts.items())

    def _write_soon(self) -> None:
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_later())

    async def _write_later(self) -> None:
        try:
            while self._owed:
                await asyncio.sleep(WRITE_AFTER_S)
                await self._connection.wait_until_up()
                await self.loaded.wait()  # who does not know the rows may write over another owner's
                if not await self._write_owed():
                    await asyncio.sleep(RETRY_S)
        finally:
            self._writing = None

    async def _write_owed(self) -> bool:
        """Write all that is owed; False where some of it has to be tried again."""
        done = True
        for session_id, row in list(self._owed.items()):
            if not await self._write(session_id, row):
                done = False
            elif self._owed.get(session_id, MISSING) is row:  # else it has changed again meanwhile
                del self._owed[session_id]
        return done

    async def _write(self, session_id: str, row: SessionRow | None) -> bool:
        if self._is_others(session_id):
            return True  # and so is its row
        try:
            key = subjects.session_key(self._pool, session_id)
            fence = max(self._table.revisions.get(key, 0), self._wrote.get(key, 0)) or None
            done = await self._table.delete(key) if row is None else await self._table.put(key, self._encoded(row), fence=fence)
            if isinstance(done, Ack):
                self._wrote[key] = done.seq
            if row is None:
                self._wrote.pop(key, None)
            if row is not None:
                await store_checkpoint(self._connection, self._pool, row, self._epoch_of(session_id))
        except (ClusterDenied, Invalid) as error:
            log.error("the row of session %s cannot be written: %s", session_id, error.message)
            return True
        except (ClusterUnavailable, NodeAway, NodeSilent):
            return False
        return not isinstance(done, Refusal)

    def _is_others(self, session_id: str) -> bool:
        """Whether a session that was this node's is another's by now."""
        known = self.places.get(session_id)
        return (known is not None and known.pool == self._pool and known.owner != self._owner
                and known.epoch > self._epoch_of(session_id))

    def _encoded(self, row: SessionRow) -> bytes:
        return msgspec.json.encode(SessionPlace(
            id=row.id, pool=self._pool, owner=self._owner, epoch=self._epoch_of(row.id), agent=row.agent, cwd=row.cwd,
            title=row.title, status=row.status, created_at=row.created_at, updated_at=row.updated_at,
            last_seq=max(row.last_seq, row.checkpoint_seq), summary=msgspec.Raw(row.summary)))

    def _on_row(self, key: str, value: bytes | None) -> None:
        pool, _, session_id = key.partition(".")
        if value is None:
            if (known := self.places.get(session_id)) is not None and known.pool == pool:
                del self.places[session_id]
                self._tell(session_id, None)
            return
        try:
            place = _place.decode(value)
        except BROKEN as error:
            log.error("the row of session %s cannot be read: %s", session_id, error)
            return
        if (place.id, place.pool) != (session_id, pool):  # a node may write rows of its own pool only, whatever they say
            log.error("the row %s speaks of another session", key)
            return
        known = self.places.get(session_id)
        if known is not None and known.pool != pool:
            self._settle_soon(session_id, known.pool, pool)
        elif known is None or place.epoch >= known.epoch:
            self._set(session_id, place)

    def _set(self, session_id: str, place: SessionPlace) -> None:
        self.places[session_id] = place
        self._tell(session_id, place)

    def _tell(self, session_id: str, place: SessionPlace | None) -> None:
        for watcher in list(self._watchers):
            watcher(session_id, place)

    def _settle_soon(self, session_id: str, *pools: str) -> None:
        log.error("nodes of the pools %s both have a row of session %s: the one whose entries came first counts",
                  " and ".join(pools), session_id)
        task = asyncio.create_task(self._settle(session_id))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def _settle(self, session_id: str) -> None:
        """Find out of which pool a session is: nobody but its own nodes can have written its first entries. Who may not read
        those keeps to the row that it heard of first."""
        try:
            page = await jetstream.read_page(self._connection, subjects.JOURNAL, subjects.journal("*", session_id), from_seq=1,
                                             batch=1, max_bytes=1)
        except TrunklineError as error:
            log.info("of which pool session %s is cannot be found out: %s", session_id, error.message)
            return
        pool = subjects.session_of(page.messages[0].subject)[0] if page.messages else ""
        value = self._table.rows.get(subjects.session_key(pool, session_id)) if pool else None
        if value is not None and self.places.get(session_id, _place.decode(value)).pool != pool:
            self._set(session_id, _place.decode(value))
