"""What webhooks and pushes have in common before anything is sent: they follow the hub, and let things wait for their time.

Rule 1: each is a reader like any other: a position in the hub's feed. No session knows of it.
Rule 2: what waits is bounded; one thing more is dropped, and the log says so.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Protocol

from trunkline.errors import StorageError
from trunkline.feeds.hub import Placed
from trunkline.hub import PendingAsk, SessionView
from trunkline.journal.base import RowFilter

STORAGE_PAUSE_S = 5.0


class Clock:
    """Time as deliveries know it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


class Followed(Protocol):
    """The entries of all sessions, in an order that stays: a hub's, or a cluster's."""

    @property
    def last_pos(self) -> int:
        """The newest position."""

    @property
    def closed(self) -> bool:
        """No more will come."""

    async def wait(self, after: int) -> None:
        """Return when there is more than this, or another reason to look."""

    async def read(self, *, after: int, limit: int = ...) -> list[Placed]:
        """What comes behind a position."""


class Source(Protocol):
    """What is told of: a hub's sessions, or all of a cluster's."""

    @property
    def everything(self) -> Followed:
        """Their entries."""

    def pending(self) -> list[PendingAsk]:
        """What waits for a person."""

    async def list(self, which: RowFilter, /) -> list[SessionView]:
        """Sessions."""


async def read_next(feed: Followed, position: int, clock: Clock, log: logging.Logger) -> tuple[list[Placed], int]:
    """Wait for something new; returns it and the position behind it. Nothing, after a pause, while the journal cannot be read."""
    await feed.wait(position)
    newest = feed.last_pos
    try:
        found = await feed.read(after=position)
    except StorageError as error:
        log.warning("deliveries wait for the journal: %s", error.message)
        await clock.sleep(STORAGE_PAUSE_S)
        return [], position
    # Nothing found: what was there has been deleted since.
    return found, found[-1][1].pos if found else newest


class Tasks:
    """Pieces of work, each in a task of its own. ``what`` names them in the log."""

    def __init__(self, most: int, log: logging.Logger, what: str) -> None:
        self._most = most
        self._log = log
        self._what = what
        self._running: dict[asyncio.Task[None], tuple[Hashable, Callable[[], None]]] = {}

    def __len__(self) -> int:
        return len(self._running)

    def count(self, owner: Hashable) -> int:
        """How many are this owner's."""
        return sum(each == owner for each, _ in self._running.values())

    def start(self, work: Coroutine[Any, Any, None], dropped: Callable[[], None] = lambda: None, owner: Hashable = None) -> None:
        """Begin one; returns at once. ``dropped`` is called where there is no room for it, or when it has failed."""
        if len(self._running) >= self._most:
            self._log.warning("%d %s wait already: one is dropped", self._most, self._what)
            work.close()
            dropped()
            return
        task = asyncio.create_task(work)
        self._running[task] = owner, dropped
        task.add_done_callback(self._on_end)

    async def settled(self) -> None:
        """Wait until nothing is left."""
        while self._running:
            await asyncio.wait(self._running)

    async def close(self) -> None:
        """Stop everything; what is stopped is not done."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        _, dropped = self._running.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            dropped()
            self._log.error("%s: one failed", self._what, exc_info=error)
