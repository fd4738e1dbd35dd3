"""Where the small blocks of the last groups lie: an index in memory instead of one on disk.

An index by session on disk dirties a page per session in every commit: with 20 busy sessions that was most of what a commit
wrote (measured: 4-5 times the bytes, twice the time). So small blocks go to a table in ``pos`` order alone, this index finds
them, and a fold moves them on before there are many.

Rule 1: it is changed only by whoever holds the write gate, after the commit.
Rule 2: reading needs no lock: lists only grow at their end, or are replaced as a whole.
"""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A small block: what it holds and where it is."""

    first_seq: int
    last_seq: int
    first_pos: int


class RecentIndex:
    """Places of small blocks by session, in seq order."""

    def __init__(self) -> None:
        self.rows = 0
        self.bytes = 0
        self._by_session: dict[str, list[Place]] = {}

    def add(self, session_id: str, place: Place, size: int) -> None:
        """A small block was committed."""
        self.rows += 1
        self.bytes += size
        places = self._by_session.get(session_id)
        if places is None:
            self._by_session[session_id] = [place]
        else:
            places.append(place)

    def of(self, session_id: str) -> list[Place]:
        """The session's places as they are now."""
        return self._by_session.get(session_id, [])[:]

    def last_seqs(self) -> dict[str, int]:
        """The highest seq of each session that has small blocks."""
        return {session_id: places[-1].last_seq for session_id, places in self._by_session.items()}

    def forget_until(self, pos: int) -> None:
        """The small blocks up to ``pos`` were moved on; the sizes of those that stay are few enough to count as none."""
        kept = {session_id: [place for place in places if place.first_pos > pos]
                for session_id, places in self._by_session.items()}
        self._by_session = {session_id: places for session_id, places in kept.items() if places}
        self.rows = sum(map(len, self._by_session.values()))
        self.bytes = 0

    def forget(self, session_id: str) -> None:
        """The session was deleted."""
        self.rows -= len(self._by_session.pop(session_id, ()))
