"""The sessions of other nodes in a list, and what waits for a person in them: from the directory, which is in memory.

Rule 1: nobody is asked: what the owners wrote last counts. It is behind what happens by half a second; of a session that
        somebody follows here what was heard counts.
Rule 2: whoever changed a session through this node finds that in its next list: such a list waits for the owner's row, a moment.
Rule 3: a row that cannot be read hides no other.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Iterator
from typing import Final

from trunkline import decoders
from trunkline.cluster.directory import Directory, SessionPlace
from trunkline.cluster.showing.opened import OpenSessions
from trunkline.dialects.outside import BROKEN
from trunkline.hub.shapes import PendingAsk, asks_in
from trunkline.hub.sight import ListPlace
from trunkline.journal.base import RowFilter
from trunkline.journal.deleted_ids import DeletedIds
from trunkline.journal.rows import matches
from trunkline.session.fold import Fold, SessionView, view_of

ROWS_WITHIN_S: Final = 1.0
"""An owner writes a row half a second after something has changed."""
EXPECTED_MOST: Final = 1000
_NOTHING_WAITS: Final = (b'"pendingApprovals":[]', b'"pendingQuestions":[]')

_view = decoders.of(SessionView)


class Listed:
    """All sessions but this node's own."""

    def __init__(self, directory: Directory, node: str, mark: Callable[[SessionView], None],
                 opened: OpenSessions) -> None:
        """``opened``: sessions that somebody follows here; of these more is known than their rows say."""
        self._directory = directory
        self._node = node
        self._mark = mark
        self._opened = opened
        self._waiting: dict[str, SessionPlace] = {}
        """Sessions in which somebody is waited for."""
        self._expected: dict[str, int] = {}
        self._removed = DeletedIds()
        self._news = asyncio.Event()

    def on_row(self, session_id: str, place: SessionPlace | None) -> None:
        """A row of the directory has changed, or is gone (None)."""
        summary = b"" if place is None else bytes(place.summary)
        if place is None or all(nothing in summary for nothing in _NOTHING_WAITS):
            self._waiting.pop(session_id, None)
        else:
            self._waiting[session_id] = place
        self._news.set()

    def expect(self, session_id: str, seq: int) -> None:
        """Somebody changed a session through this node, and its owner has entries up to ``seq`` now."""
        self._expected[session_id] = max(seq, self._expected.pop(session_id, 0))
        if len(self._expected) > EXPECTED_MOST:
            del self._expected[next(iter(self._expected))]

    def expected(self, session_id: str) -> int:
        """How far it is known to be from what was changed through this node; 0: nothing was."""
        return self._expected.get(session_id, 0)

    def is_expected(self, session_id: str) -> bool:
        """Whether its row is waited for."""
        return session_id in self._expected

    def remove(self, session_id: str) -> None:
        """Somebody deleted a session through this node."""
        self._removed.add(session_id)
        self._expected.pop(session_id, None)

    def is_removed(self, session_id: str) -> bool:
        """Whether it was deleted through this node."""
        return session_id in self._removed

    async def settle(self) -> None:
        """Wait for the rows of what was changed through this node; not for long."""
        try:
            async with asyncio.timeout(ROWS_WITHIN_S):
                while self._expected:
                    self._news.clear()
                    self._drop_met()
                    if self._expected:
                        await self._news.wait()
        except TimeoutError:
            self._expected.clear()  # their owners are behind: the next list does not wait for that again

    def newest(self, which: RowFilter, node: str | None = None) -> list[tuple[ListPlace, SessionView]]:
        """Sessions, newest activity first, each with its place in that order."""
        found = heapq.nlargest(which.limit, (place for place in self._others(node) if matches(place, which)), key=_order)
        return [(_order(place), self.view(place)) for place in found]

    def pending(self) -> list[PendingAsk]:
        """Every approval and question that waits in them."""
        known = self._directory.places
        places = {**self._waiting, **{session_id: known[session_id] for session_id in self._opened if session_id in known}}
        return [ask for place in places.values() if self._is_shown(place) for ask in asks_in(self.view(place))]

    def view(self, place: SessionPlace) -> SessionView:
        """What is known of a session: what its row says, or what is heard of it where that is more."""
        followed = self._opened.followed(place.id)
        if followed is not None and followed.feed.last_seq >= place.last_seq:
            return followed.view()
        view = _summary(place)
        if view is None:
            view = view_of(Fold(session_id=place.id, agent=place.agent, cwd=place.cwd, title=place.title, status="error",
                                created_at=place.created_at, updated_at=place.updated_at))
        view.last_seq = place.last_seq
        self._mark(view)
        return view

    def _others(self, node: str | None) -> Iterator[SessionPlace]:
        return (place for place in self._directory.places.values() if self._is_shown(place) and node in (None, place.owner))

    def _is_shown(self, place: SessionPlace) -> bool:
        return place.owner != self._node and place.id not in self._removed

    def _drop_met(self) -> None:
        for session_id, seq in list(self._expected.items()):
            place, followed = self._directory.places.get(session_id), self._opened.followed(session_id)
            known = max(place.last_seq, followed.feed.last_seq if followed is not None else 0) if place is not None else -1
            if known >= seq:
                del self._expected[session_id]


def _summary(place: SessionPlace) -> SessionView | None:
    """What a row shows of its session; None where it cannot be read, or is another session's: a node may write into its own rows
    what it likes, but what is asked in them must not be taken for what that one asks."""
    try:
        view = _view.decode(place.summary)
    except BROKEN:
        return None
    return view if view.id == place.id else None


def _order(place: SessionPlace) -> ListPlace:
    return place.updated_at, place.id
