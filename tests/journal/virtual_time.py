"""A loop whose clock stands still while there is work and jumps to the next timer when there is none."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

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
    """For tests without threads and sockets."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def hold(self, seconds: float) -> None:
        """Let time pass within a callback, as one does that waits for a disk."""
        self._clock.now += seconds


def run_in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end; no real time passes."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
