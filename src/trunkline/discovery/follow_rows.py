"""One session that is rows of a database, from its first message and on as rows are written.

Rule 1: rows are written anew while their part goes on. The reader knows how far it has told each, and tells the rest.
Rule 2: a position is a number that says what was told: in the history minus the number of messages, in the order in which they
were made; behind it the time of the newest row (milliseconds), and how many parts of that very time there were.
Rule 3: a database that cannot be read just now is read when something happens to it again.
"""

from __future__ import annotations

from typing import Protocol

from trunkline.dialects.elsewhere.transcripts import Timed
from trunkline.dialects.opencode.rows import Row
from trunkline.discovery.follow import Following, OnSignals, Prepare

PAGE = 50
"""Messages of the history that are read at a time."""

ROWS = 500
"""Rows that are read at a time behind it."""

REMEMBERED = 1_000
"""Rows before the position that the reader sees again after a restart."""

_SAME_TIME = 1 << 12
_FIRST = (-1, "")

Message = tuple[Row, list[Row]]


class RowReading(Protocol):
    """Reads one session's rows."""

    def message(self, row: Row, parts: list[Row], *, may_end: bool = True) -> list[Timed]:
        """What a message and these of its parts say that was not told yet."""


class RowSource(Protocol):
    """One session's rows; each method looks at the disk, and raises OSError where that fails."""

    def newest(self) -> int:
        """The time of the newest row, in milliseconds; 0 where there is none."""

    def messages(self, after: tuple[int, str], most: int) -> list[Message]:
        """The next messages behind one (when it was made, its id), each with all of its parts."""

    def changes(self, since: int, most: int) -> tuple[list[Message], list[Row]]:
        """What was written since, and all of these rows."""

    def before(self, until: int, most: int) -> list[Message]:
        """What was written last up to a time, that included."""


class RowFollower(Following):
    """Reads one session's rows."""

    def __init__(self, source: RowSource, reading: RowReading, files: frozenset[str], folder: str, position: int,
                 on_signals: OnSignals, *, prepare: Prepare | None = None) -> None:
        super().__init__(files, folder, position, on_signals, prepare)
        self._source = source
        self._reading = reading
        self._cursor = _FIRST
        self._mark = 0

    async def catch_up(self) -> None:
        """Hand over every message of the history, then every row behind it."""
        while self.position <= 0:
            await self._flowing.wait()
            told, count = await self._lane.run(self._page)
            if not count and not self._mark:
                return  # there is nothing yet
            await self._hand_over(told, self.position - count if count else behind_all_of(self._mark))
        while True:
            await self._flowing.wait()
            told, position = await self._lane.run(self._changes)
            if position == self.position:
                return
            await self._hand_over(told, position)

    def _remember(self) -> None:
        if self.position < 0:
            left = -self.position
            while left > 0 and (messages := self._next(min(left, PAGE))):
                left -= len(messages)
                for row, parts in messages:
                    self._reading.message(row, parts)
            return
        until, count = divmod(self.position, _SAME_TIME)
        try:
            messages = self._source.before(until, REMEMBERED)
        except OSError:
            return
        same = sorted(row.id for _, parts in messages for row in parts if row.updated == until)
        later = set(same[count:])
        for row, parts in messages:
            self._reading.message(row, [part for part in parts if part.id not in later], may_end=row.updated <= until)

    def _page(self) -> tuple[list[Timed], int]:
        if self._mark == 0:
            try:
                self._mark = self._source.newest()
            except OSError:
                return [], 0
        messages = self._next(PAGE)
        return [timed for row, parts in messages for timed in self._reading.message(row, parts)], len(messages)

    def _next(self, most: int) -> list[Message]:
        try:
            messages = self._source.messages(self._cursor, most)
        except OSError:
            return []
        if messages:
            self._cursor = (messages[-1][0].created, messages[-1][0].id)
        return messages

    def _changes(self) -> tuple[list[Timed], int]:
        since, _ = divmod(self.position, _SAME_TIME)
        try:
            messages, rows = self._source.changes(since, ROWS)
        except OSError:
            return [], self.position
        newest = max((row.updated for row in rows), default=since)
        count = min(sum(part.updated == newest for _, parts in messages for part in parts), _SAME_TIME - 1)
        told = [timed for row, parts in messages for timed in self._reading.message(row, parts)]
        position = newest * _SAME_TIME + count
        return told, position if told or newest > since else self.position


def behind_all_of(newest: int) -> int:
    """The position behind all rows up to a time, those of that very time included."""
    return newest * _SAME_TIME + _SAME_TIME - 1
