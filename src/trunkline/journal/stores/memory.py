"""The journal in memory: for tests, for demos, and as the plainest statement of what a journal does.

Rule 1: it passes the same conformance suite as every other store.
Rule 2: it keeps the very entries it was given; nobody changes an entry after it was appended.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from types import TracebackType
from typing import Self

import msgspec

from trunkline.journal.base import Entry, Group, JournalHealth, RowFilter, SessionRow, alone, check_order
from trunkline.journal.page import Page
from trunkline.journal.rows import matches

_seq_of = attrgetter("seq")


class MemoryJournal:
    """Numbered entries for as long as the process lives."""

    def __init__(self) -> None:
        self._sessions: dict[str, list[Entry]] = {}
        self._rows: dict[str, SessionRow] = {}
        self._by_pos: list[tuple[str, Entry]] = []
        self._pos = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        return None

    @property
    def last_pos(self) -> int:
        """The newest pos that was given out."""
        return self._pos

    def append_now(self, group: Group) -> bool:
        """Commit a group; always possible here."""
        for session_id, entries in group.entries.items():
            check_order(session_id, entries, self._last_seq(session_id))
        for session_id, entries in group.entries.items():
            self._add(session_id, entries)
        for session_id, row in group.rows.items():
            self._rows[session_id] = row
        return True

    def append_alone_now(self, session_id: str, entries: list[Entry]) -> bool:
        """Commit one session's entries."""
        return self.append_now(alone(session_id, entries))

    async def append(self, group: Group) -> None:
        """Commit a group and set ``pos`` on its entries."""
        self.append_now(group)

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """Entries with after < seq < before that fit the limits: the first ones, or the last (``tail``)."""
        entries = self._sessions.get(session_id, [])
        start = bisect_right(entries, after, key=_seq_of)
        stop = len(entries) if before is None else bisect_left(entries, before, key=_seq_of)
        page = Page(limit, max_bytes)
        page.add_all(entries[max(start, stop - limit):stop][::-1] if tail else entries[start:min(stop, start + limit)])
        return page.entries[::-1] if tail else page.entries

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """(session id, entry) of all sessions with pos > after, in pos order."""
        start = bisect_right(self._by_pos, after, key=lambda item: item[1].pos)
        found = self._by_pos[start:start + limit]
        page = Page(limit, max_bytes)
        page.add_all([entry for _, entry in found])
        return found[:len(page.entries)]

    async def rows(self, which: RowFilter) -> list[SessionRow]:
        """Session rows, newest activity first."""
        matching = [row for row in self._rows.values() if matches(row, which)]
        matching.sort(key=lambda row: (row.updated_at, row.id), reverse=True)
        return [msgspec.structs.replace(row, last_seq=self._last_seq(row.id)) for row in matching[:which.limit]]

    async def pack(self, session_id: str, *, before: int) -> int:
        """Memory has no rows to merge."""
        return 0

    async def delete(self, session_id: str) -> None:
        """Forget a session."""
        self._rows.pop(session_id, None)
        if self._sessions.pop(session_id, None) is not None:
            self._by_pos = [item for item in self._by_pos if item[0] != session_id]

    async def health(self) -> JournalHealth:
        """Memory is whole."""
        return JournalHealth()

    def _add(self, session_id: str, entries: list[Entry]) -> None:
        if not entries:
            return
        for entry in entries:
            self._pos += 1
            entry.pos = self._pos
            self._by_pos.append((session_id, entry))
        self._sessions.setdefault(session_id, []).extend(entries)

    def _last_seq(self, session_id: str) -> int:
        entries = self._sessions.get(session_id)
        return entries[-1].seq if entries else 0
