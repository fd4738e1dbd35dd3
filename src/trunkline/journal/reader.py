"""Reading from the SQLite journal: one connection of its own, one snapshot per page.

Rule 1: a page decodes the blocks it needs and no others.
Rule 2: a block is in ``recent`` or in ``blocks``, never in both and never in neither, in any snapshot.
Rule 3: ``horizon`` is the newest pos when the read was asked for. Entries after it are left for the next read: the list of recent
        places was copied then, so of what came later some might be found and some not.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush, merge
from operator import attrgetter

import msgspec

from trunkline.journal.base import Entry, RowFilter, SessionRow
from trunkline.journal.block import POS_SPAN, Block, decode
from trunkline.journal.page import Page
from trunkline.journal.recent import Place

_seq_of = attrgetter("seq")
_pos_of = attrgetter("pos")
_NO_END = (1 << 63) - 1


class SessionRead(msgspec.Struct):
    """One question about a session's entries, with what was known when it was asked."""

    session: str
    after: int
    before: int | None
    limit: int
    max_bytes: int
    tail: bool
    horizon: int
    recent: list[Place]


class Reader:
    """Answers reads on a connection that only one thread uses at a time."""

    def __init__(self, connection: sqlite3.Connection, queries: dict[str, str]) -> None:
        self._connection = connection
        self._queries = queries

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def session(self, asked: SessionRead) -> list[Entry]:
        """The page that ``asked`` describes."""
        page = Page(asked.limit, asked.max_bytes)
        self._connection.execute(self._queries["snapshot"])
        try:
            for block in self._blocks_of(asked):
                entries = _cut(block, asked)
                if not page.add_all(entries[::-1] if asked.tail else entries):
                    break
        finally:
            self._connection.rollback()
        return page.entries[::-1] if asked.tail else page.entries

    def hub(self, after: int, limit: int, max_bytes: int) -> list[tuple[str, Entry]]:
        """Entries of all sessions with pos > after, in pos order."""
        page = Page(limit, max_bytes)
        sessions: list[str] = []
        self._connection.execute(self._queries["snapshot"])
        try:
            for session, entry in _in_pos_order(self._blocks_after(after), after):
                if not page.add(entry):
                    break
                sessions.append(session)
        finally:
            self._connection.rollback()
        return list(zip(sessions, page.entries, strict=True))

    def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows; their ``last_seq`` counts blocks only."""
        before_at, before_id = which.before or (None, None)
        found = self._connection.execute(self._queries["rows"], {
            "id": which.id, "agent": which.agent, "text": which.text and which.text.casefold(), "limit": which.limit,
            "status": None if which.status is None else msgspec.json.encode(sorted(which.status)).decode(),
            "before_at": before_at, "before_id": before_id,
        })
        return [SessionRow(id=row[0], agent=row[1], cwd=row[2], title=row[3], status=row[4], created_at=row[5], updated_at=row[6],
                           summary=row[7], checkpoint=row[8], checkpoint_seq=row[9], last_seq=row[10]) for row in found]

    def _blocks_of(self, asked: SessionRead) -> Iterator[Block]:
        before = _NO_END if asked.before is None else asked.before
        query = self._queries["blocks_backward" if asked.tail else "blocks_forward"]
        stored = self._connection.execute(query, {"session": asked.session, "after": asked.after, "before": before})
        places = [place for place in asked.recent if place.last_seq > asked.after and place.first_seq < before]
        recent = self._recent(places[::-1] if asked.tail else places)
        return merge(map(Block._make, stored), recent, key=attrgetter("first_seq"), reverse=asked.tail)

    def _recent(self, places: list[Place]) -> Iterator[Block]:
        for place in places:
            row = self._connection.execute(self._queries["recent_block"], (place.first_pos,)).fetchone()
            if row is not None:  # a fold moved it: it comes with the stored blocks of this snapshot
                yield Block._make(row)

    def _blocks_after(self, after: int) -> Iterator[Block]:
        limits = {"after": after, "span": POS_SPAN}
        cursors = [self._connection.execute(self._queries[name], limits) for name in ("hub_blocks", "hub_recent")]
        return merge(*(map(Block._make, cursor) for cursor in cursors), key=attrgetter("first_pos"))


def _cut(block: Block, asked: SessionRead) -> list[Entry]:
    """The entries of a block that were asked for."""
    entries = decode(block.body)
    stop = len(entries)
    if asked.before is not None and block.last_seq >= asked.before:
        stop = bisect_left(entries, asked.before, key=_seq_of)
    if block.last_pos > asked.horizon:
        stop = min(stop, bisect_right(entries, asked.horizon, key=_pos_of))
    start = bisect_right(entries, asked.after, key=_seq_of) if block.first_seq <= asked.after else 0
    return entries[start:stop] if start or stop < len(entries) else entries


def _in_pos_order(blocks: Iterator[Block], after: int) -> Iterator[tuple[str, Entry]]:
    """Entries of blocks that may overlap, holding open only those that do."""
    waiting: list[tuple[int, str, int, list[Entry]]] = []
    for block in blocks:
        yield from _until(waiting, block.first_pos)
        entries = decode(block.body)
        start = bisect_right(entries, after, key=_pos_of)
        if start < len(entries):
            heappush(waiting, (entries[start].pos, block.session, start, entries))
    yield from _until(waiting, _NO_END)


def _until(waiting: list[tuple[int, str, int, list[Entry]]], pos: int) -> Iterator[tuple[str, Entry]]:
    while waiting and waiting[0][0] < pos:
        _, session, index, entries = heappop(waiting)
        yield session, entries[index]
        if index + 1 < len(entries):
            heappush(waiting, (entries[index + 1].pos, session, index + 1, entries))
