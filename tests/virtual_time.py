"""Loops whose time is the test's: nobody sleeps.

``VirtualTimeLoop``: the clock stands still while there is work and jumps to the next timer when there is none. For tests without
threads, sockets and processes. ``MovableTimeLoop``: time passes as it does, and a test lets more of it pass at once.
For the others.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.aio import loop_turns

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Where a real selector would sleep, time passes instead."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found:
            return found
        if timeout is None:
            raise AssertionError("the test waits for something that will never happen")
        self.now += timeout
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Its clock jumps by itself."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def hold(self, seconds: float) -> None:
        """Let time pass within a callback, as one does that waits for a disk."""
        self._clock.now += seconds


class MovableTimeLoop(asyncio.SelectorEventLoop):
    """Its clock is moved on by ``time_passes``."""

    def __init__(self) -> None:
        self._ahead_s = 0.0
        super().__init__()

    def time(self) -> float:
        return super().time() + self._ahead_s

    def move(self, seconds: float) -> None:
        """Time passes at once."""
        self._ahead_s += seconds


STEPS = 20
"""In so many steps the clock is moved, so that a timer that is set anew on the way is due on the way too."""


async def time_passes(seconds: float) -> None:
    """So much time passes on one of these loops, and all that is due in it happens."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop, MovableTimeLoop):
        assert isinstance(loop, VirtualTimeLoop), "on this loop it would be a sleep"
        await asyncio.sleep(seconds)
        return
    for _ in range(STEPS):
        loop.move(seconds / STEPS)
        await loop_turns()


def run_in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end; no real time passes."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
