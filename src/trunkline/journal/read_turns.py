"""Turns: who reads a page of the journal next.

A page takes a reader's thread, and with it the interpreter, for some milliseconds; whoever replays a session asks for hundreds.

Rule 1: PAGES_AT_ONCE are read at a time, fewer than there are threads: what is no page (a list of sessions) never waits for one.
Rule 2: every other turn is the one's who waits longest, so that everybody comes to an end. The turns between are those of whoever
        had the fewest lately; of several, of whom the fewest wait before for the same session. So whoever is new, or reads what
        others do not, waits for a few pages, however many replay.
Rule 3: turns are counted by task: a request, a stream, a socket. One that did without for FORGOTTEN_S is new again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

PAGES_AT_ONCE = 1
"""Two would take turns with the interpreter, and both with the loop."""

FORGOTTEN_S = 1.0
"""A replay comes again within some milliseconds; who comes later was not in anybody's way."""


class _Had(NamedTuple):
    """Turns that a task had, and when the last one ended."""

    turns: int
    ended: float


class _Place:
    """One who waits. ``rank`` is lower for whoever goes first among the new."""

    __slots__ = ("about", "granted", "rank")

    def __init__(self, about: str, rank: tuple[int, int]) -> None:
        self.about = about
        self.rank = rank
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class ReadTurns:
    """Lets a few in at a time. For one loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free = PAGES_AT_ONCE
        self._line: dict[_Place, None] = {}
        self._about: Counter[str] = Counter()
        self._had: WeakKeyDictionary[asyncio.Task[object], _Had] = WeakKeyDictionary()
        self._is_for_new = True

    @asynccontextmanager
    async def taken(self, about: str) -> AsyncIterator[None]:
        """Wait for a turn to read something of ``about``, and have it."""
        task = asyncio.current_task()
        assert task is not None
        had = self._had_lately(task)
        await self._enter(about, had)
        try:
            yield
        finally:
            self._had[task] = _Had(had + 1, self._clock())
            self._leave()

    def _had_lately(self, task: asyncio.Task[object]) -> int:
        had = self._had.get(task)
        return 0 if had is None or self._clock() - had.ended > FORGOTTEN_S else had.turns

    async def _enter(self, about: str, had: int) -> None:
        if self._free > 0:
            self._free -= 1
            return
        place = _Place(about, (had, self._about[about]))
        self._line[place] = None
        self._about[about] += 1
        try:
            await place.granted
        except asyncio.CancelledError:
            if not place.granted.cancelled():  # the turn was granted meanwhile: it is the next one's
                self._leave()
            elif place in self._line:
                self._remove(place)
            raise

    def _leave(self) -> None:
        while self._line:
            first = self._next()
            self._remove(first)
            if not first.granted.done():
                first.granted.set_result(None)
                self._is_for_new = not self._is_for_new
                return
        self._free += 1

    def _next(self) -> _Place:
        return min(self._line, key=lambda place: place.rank) if self._is_for_new else next(iter(self._line))

    def _remove(self, place: _Place) -> None:
        del self._line[place]
        self._about[place.about] -= 1
        if not self._about[place.about]:
            del self._about[place.about]
