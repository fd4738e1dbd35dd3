"""What a node of a cluster shows: its own sessions as ever, and those of all others from the stream.

Rule 1: this node's own sessions are shown from its own journal: their readers here wait for nobody.
Rule 2: what happens in all sessions is told in the stream's order. While the cluster is away for longer than ALONE_AFTER_S, what
        happens here is told alone, by this hub's own places. Whoever follows is ended when that changes, and comes back to
        begin anew: places of the two never mix.
Rule 3: who changed something through this node sees it here, from the answer on.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from trunkline.cluster import subjects, wire
from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.node import ClusterNode
from trunkline.cluster.reading.decoding import as_its_own
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.showing.everything import Everything
from trunkline.cluster.showing.listed import Listed
from trunkline.cluster.showing.opened import OpenSessions
from trunkline.cluster.showing.remote import RemoteSession
from trunkline.errors import ClusterUnavailable, SessionNotFound
from trunkline.feeds.hub import HubFeed
from trunkline.feeds.session import TailBudget
from trunkline.hub import Hub
from trunkline.hub.shapes import PendingAsk
from trunkline.hub.sight import ListPage, ShownSession
from trunkline.journal.base import Entry, RowFilter
from trunkline.session.fold import SessionView

log = logging.getLogger("trunkline.cluster")

ALONE_AFTER_S: Final = 10.0
"""An election takes up to 7 s."""
READY_WITHIN_S: Final = 3.0


class ClusterSight:
    """All sessions of the cluster. It is a ``Sight``."""

    def __init__(self, node: ClusterNode, hub: Hub) -> None:
        self._node, self._hub = node, hub
        self._reader = StreamReader(node.connection, node.directory.pool_of, lambda: wire.base_of(node.generation),
                                    shown_as=as_its_own)
        self._budget = TailBudget()
        self._opened = OpenSessions(self._remote)
        self._listed = Listed(node.directory, node.node, self.mark, self._opened)
        self._all = Everything(node.connection, self._reader, node.generation)
        self._alone: HubFeed | None = None
        self._unwatch: list[Callable[[], None]] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._alone_at: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Follow the directory, the connection and the stream's generation."""
        node = self._node
        for session_id, place in node.directory.places.items():
            self._listed.on_row(session_id, place)
        self._unwatch = [node.directory.watch(self._on_row), node.state.watch(self._on_state),
                         node.connection.watch(self._on_connection)]
        node.on_local = self._on_local
        node.on_local_deleted = self._on_local_deleted
        if not node.connection.up:
            self._on_connection(False)

    async def close(self) -> None:
        """Nobody is shown anything any more."""
        self._node.on_local = self._node.on_local_deleted = None
        for unwatch in self._unwatch:
            unwatch()
        if self._alone_at is not None:
            self._alone_at.cancel()
        if self._alone is not None:
            self._alone.close()
        self._alone = None
        await self._opened.close()
        await self._all.end()
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    # What a ``Sight`` is.

    @property
    def everything(self) -> HubFeed:
        """What happens in all sessions."""
        return self._all if self._alone is None else self._alone

    async def whole(self) -> HubFeed:
        """The same, and its end is known."""
        if self._alone is None:
            try:
                await self._all.ready(READY_WITHIN_S)
            except ClusterUnavailable:
                self._go_alone()
        return self.everything

    async def session(self, session_id: str) -> ShownSession:
        """The session of that id, this node's or another's."""
        if not self.shows(session_id) and self._listed.is_expected(session_id):
            await self._listed.settle()  # it was just started, through this node
        place = self._elsewhere(session_id)
        if place is None:
            return await self._hub.session(session_id)
        session = await self._opened.find(session_id)
        await session.feed.has(self._listed.expected(session_id))
        return session

    async def list_on(self, which: RowFilter, *, node: str | None = None) -> ListPage:
        """Sessions, newest activity first, page by page."""
        await self._listed.settle()
        own: ListPage = ([], None)
        if node in (None, self._node.node):
            own = await self._hub.list_on(which)
        others = self._listed.newest(which, node)
        found = list(heapq.merge(own[0], others, key=lambda each: each[0], reverse=True))[:which.limit]
        is_full = len(found) == which.limit or own[1] is not None
        return found, found[-1][0] if found and is_full else None

    def pending(self) -> list[PendingAsk]:
        """Every approval and question that waits."""
        return [*self._hub.pending(), *self._listed.pending()]

    # What others of this node ask and tell.

    def shows(self, session_id: str) -> bool:
        """Whether it can be shown here: it is another node's and in the directory, or this node's own."""
        return session_id in self._node.directory.places

    def is_others(self, session_id: str, node: str) -> bool:
        """Whether a session is known to be at another node than that one."""
        place = self._node.directory.places.get(session_id)
        return place is not None and place.owner != node

    def others(self) -> list[str]:
        """The other nodes that run sessions, or whose sessions are shown."""
        running = {name for name, row in self._node.nodes.rows.items() if row.role != "gateway"}
        return sorted((running | {owner for owner, _ in self._node.directory.by_owner()}) - {self._node.node})

    def owner_of_ask(self, ask_id: str) -> str | None:
        """The other node that has the session in which this is asked."""
        for ask in self._listed.pending():
            if ask.ask_id == ask_id:
                return self._node.directory.place(ask.session_id).owner
        return None

    def expect(self, session_id: str, seq: int) -> None:
        """Somebody changed a session through this node, and its owner has entries up to ``seq`` now."""
        self._listed.expect(session_id, seq)

    def removed(self, session_id: str) -> None:
        """Somebody deleted a session through this node."""
        self._listed.remove(session_id)
        self._opened.gone(session_id)

    def mark(self, view: SessionView) -> None:
        """Say in a view where the session is, whether that node is there, and how far it is ahead of what is shown."""
        place = self._node.directory.places.get(view.id)
        if place is None:
            return
        view.node = place.owner
        if (why := self._node.standing.away(place.owner)) is not None:
            view.node_away = why
        row = self._node.nodes.rows.get(place.owner)
        if row is not None and (behind_s := row.lag.get(view.id)):
            view.lag = behind_s

    def _elsewhere(self, session_id: str) -> SessionPlace | None:
        """Where a session is that is another node's; None where it is ours, or nobody's."""
        place = self._node.directory.places.get(session_id)
        if self._listed.is_removed(session_id):
            raise SessionNotFound(f"session {session_id} was deleted", details={"sessionId": session_id})
        return None if place is None or place.owner == self._node.node else place

    def _remote(self, session_id: str) -> RemoteSession:
        return RemoteSession(session_id, self._node.connection, self._reader, self._node.directory, self._budget, self.mark,
                             self._node.nodes.has_shipped)

    # What changes.

    def _on_row(self, session_id: str, place: SessionPlace | None) -> None:
        self._listed.on_row(session_id, place)
        if place is None:
            self._opened.gone(session_id)
            self._all.forget_session(session_id)
        else:
            self._opened.moved(session_id)

    def _on_state(self, key: str, value: bytes | None) -> None:
        if key == subjects.GENERATION and self._node.generation != self._all.generation:
            self._begin_anew()

    def _on_connection(self, up: bool) -> None:
        if self._alone_at is not None:
            self._alone_at.cancel()
            self._alone_at = None
        if not up:
            self._alone_at = asyncio.get_running_loop().call_later(ALONE_AFTER_S, self._go_alone)
        elif self._alone is not None:
            alone, self._alone = self._alone, None
            alone.close()

    def _go_alone(self) -> None:
        if self._alone is None:
            self._alone = HubFeed(self._node.journal)
            self._alone.start(self._hub.everything.last_pos)
            self._begin_anew()
            if self._node.connection.up:  # the stream has nobody who answers for it
                self._later(self._come_back())

    async def _come_back(self) -> None:
        while self._alone is not None and self._node.connection.up:
            try:
                await self._all.ready(READY_WITHIN_S)
            except ClusterUnavailable:
                continue
            self._on_connection(True)

    def _begin_anew(self) -> None:
        """The feed of all sessions ends; the next one who asks has another."""
        ended, self._all = self._all, Everything(self._node.connection, self._reader, self._node.generation)
        self._later(ended.end())

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _on_local(self, parts: dict[str, list[Entry]]) -> None:
        if self._alone is not None:
            self._alone.committed(parts)

    def _on_local_deleted(self, session_id: str) -> None:
        if self._alone is not None:
            self._alone.forget_session(session_id)

    async def list(self, which: RowFilter) -> list[SessionView]:
        """The same as ``list_on``, without their places."""
        return [view for _, view in (await self.list_on(which))[0]]
