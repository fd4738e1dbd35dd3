"""Sessions that were this node's and are another's now: their agents are stopped, what only this node has of them is put aside
and told of, and they are forgotten here.

Rule 1: the stream says whose a session is, nothing else does. A row that names another node is a reason to look there.
Rule 2: what was put aside is told of in the node's own row, for as long as the file is there. Whoever has the session reads it
        there, and writes it into the session: a node that lost it cannot.
Rule 3: what a crash kept from being put away is put away at the next start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from trunkline.cluster.directory import Directory, SessionPlace
from trunkline.cluster.nodes import NodeRow
from trunkline.cluster.shipping.quarantine import asides, put_aside
from trunkline.cluster.shipping.shipper import Lost, Shipper
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import NotOwner, TrunklineError
from trunkline.journal.base import Journal, RowFilter
from trunkline.threads import Lane

log = logging.getLogger("trunkline.cluster")

TOLD_MOST: Final = 100
"""Files that a node's row tells of; the log and the folder have all."""

PutAway = Callable[[str, TrunklineError], Awaitable[None]]
NoteAside = Callable[[str, int, str, int], Awaitable[None]]
"""A session, the epoch in which it was lost, the node that lost it, and how many entries it has put aside."""


class GivingUp:
    """What a node does about sessions that it loses, and about those that others lost to it."""

    def __init__(self, node: str, folder: Path | None, directory: Directory) -> None:
        self.aside: dict[str, int] = {}
        """What is in the quarantine: ``<session>:<epoch>``, and how many entries."""
        self._node, self._folder, self._directory = node, folder, directory
        self._shipper: Shipper
        self._journal: Journal
        self._put_away: PutAway
        self._note_aside: NoteAside
        self._began = False
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._putting = asyncio.Lock()
        self._put: set[tuple[str, int]] = set()
        """Sessions that were put aside since the start, and the epochs that have them: once each, though several find out."""

    def use(self, shipper: Shipper, journal: Journal) -> None:
        """What a start has of its own."""
        self._shipper, self._journal = shipper, journal

    async def open(self) -> None:
        """Know what is in the quarantine; throw away what was never this node's."""
        if self._folder is not None:
            self.aside = await Lane(1).run(asides, self._folder, TOLD_MOST)
        for row in self._shipper.rows():
            if row.epoch == 0:
                await self._journal.delete(row.session)
                await self._shipper.forget(row.session)

    def begin(self, put_away: PutAway, note_aside: NoteAside) -> None:
        """The hub is open."""
        self._put_away, self._note_aside, self._began = put_away, note_aside, True
        self._do(self._put_leftovers_away())
        for session_id, place in list(self._directory.places.items()):
            self.on_place(session_id, place)

    async def close(self) -> None:
        """Leave the rest for the next start."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def on_place(self, session_id: str, place: SessionPlace | None) -> None:
        """A session's row changed."""
        if not self._began or place is None or place.owner == self._node:
            return
        row = self._shipper.row(session_id)
        if row.seq and not row.over and place.epoch > row.epoch:
            self._do(self._shipper.look(session_id))

    def on_node(self, name: str, row: NodeRow | None) -> None:
        """A node tells how it is: perhaps that it has put something aside of a session that is here now."""
        if not self._began or row is None or row.pool != self._shipper.pool:
            return  # who is of another pool never had a session of this one
        for key, count in row.aside.items():
            session_id, _, epoch = key.rpartition(":")
            own = self._shipper.row(session_id)
            if key in self._told or not own.seq or own.over or not is_whole_number(epoch) or int(epoch) > own.epoch:
                continue  # what was lost was lost to an epoch that there was
            self._told.add(key)
            self._do(self._note_aside(session_id, int(epoch), name, count))

    async def on_taken(self, lost: Lost) -> None:
        """Another node has the session, and goes on behind ``lost.after``."""
        async with self._putting:
            if (lost.session_id, lost.epoch) not in self._put:
                await self._put_aside(lost)
                self._put.add((lost.session_id, lost.epoch))
            if self._began:
                await self._forget(lost.session_id)

    async def _put_aside(self, lost: Lost) -> None:
        path, count = None, lost.newest - lost.after
        if self._folder is not None:
            path, count = await put_aside(self._folder, self._journal, lost)
        if path is not None:
            self.aside[f"{lost.session_id}:{lost.epoch}"] = count
        log.error("session %s was taken over by another node behind entry %d; %d entries that only this node has are %s",
                  lost.session_id, lost.after, count, f"in {path}" if path else "lost" if count > 0 else "none")

    async def _put_leftovers_away(self) -> None:
        for row in self._shipper.rows():
            found = await self._journal.rows(RowFilter(id=row.session, limit=1)) if row.over else []
            if found:
                await self.on_taken(Lost(row.session, row.epoch + 1, row.seq, found[0].last_seq))

    async def _forget(self, session_id: str) -> None:
        place = self._directory.places.get(session_id)
        where = f"on {place.owner}" if place is not None and place.owner != self._node else "another node's"
        await self._put_away(session_id, NotOwner(f"session {session_id} is {where} now", details={"sessionId": session_id}))

    def _do(self, work: Awaitable[None]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Awaitable[None]) -> None:
    try:
        await work
    except TrunklineError as error:  # the task's boundary: the next look, or the next start, does it
        log.warning("%s", error.message)
