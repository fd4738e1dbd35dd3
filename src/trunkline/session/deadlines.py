"""Time limits of a session: a turn that falls silent, an approval that nobody answers, an agent that nobody uses.

Rule 1: a turn's limit is on silence, not on length; a tool in progress may be silent for longer.
Rule 2: the turn's clock stands still while a person is being waited for.
Rule 3: one timer per limit. Activity moves a timestamp, not the timer, so that it costs nothing per chunk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LOOK_S = 60.0
"""How long a watch looks away at most: the limit becomes shorter when a tool ends, and nothing says so to it."""


class SilenceWatch:
    """Calls ``expired`` once when nothing happened for ``limit()`` seconds while it runs and ``held()`` is false."""

    def __init__(self, held: Callable[[], bool]) -> None:
        self._held = held
        self._limit: Callable[[], float] = lambda: LOOK_S
        self._expired: Callable[[], None] = lambda: None
        self.active_at = 0.0
        """When something happened last, by the loop's clock."""
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, limit: Callable[[], float], expired: Callable[[], None]) -> None:
        """Begin to watch, or begin anew."""
        self.stop()
        self._limit, self._expired = limit, expired
        self._loop = asyncio.get_running_loop()
        self.on_activity()
        self._arm(self._loop, self._limit())

    def on_activity(self) -> None:
        """Something happened."""
        if self._loop is not None:
            self.active_at = self._loop.time()

    def stop(self) -> None:
        """The turn is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, loop: asyncio.AbstractEventLoop, delay_s: float) -> None:
        self._timer = loop.call_later(min(delay_s, LOOK_S), self._check)

    def _check(self) -> None:
        if self._held():
            self.on_activity()
        loop = asyncio.get_running_loop()
        left = self.active_at + self._limit() - loop.time()
        if left > 0:
            self._arm(loop, left)
            return
        self._timer = None
        self._expired()


class Alarms:
    """Named one-shot timers: one per open approval, and the few others a session needs."""

    def __init__(self) -> None:
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def set(self, name: str, delay_s: float, ring: Callable[[], object]) -> None:
        """(Re)start the timer of that name."""
        self.clear(name)
        self._timers[name] = asyncio.get_running_loop().call_later(delay_s, self._ring, name, ring)

    def is_set(self, name: str) -> bool:
        """Whether the timer of that name runs."""
        return name in self._timers

    def clear(self, name: str) -> None:
        """Stop the timer of that name, if it runs."""
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def clear_all(self) -> None:
        """Stop every timer."""
        for name in list(self._timers):
            self.clear(name)

    def _ring(self, name: str, ring: Callable[[], object]) -> None:
        self._timers.pop(name, None)
        ring()
