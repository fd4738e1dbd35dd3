"""How long readers at the end may be called for: a commit must not hold the loop for as long as all of them take.

Rule: within one turn of the loop, whatever number of feeds and commits it has, calls take MOST_S, and as long as the last of them
took beyond that. Whoever is not come to goes on by itself, in a turn of its own.
"""

from __future__ import annotations

import asyncio
from time import perf_counter

MOST_S = 0.01
"""A thousand readers who share what they get take as long; 50 ms is what a callback may take, and a commit has more to do."""

NOTED_S = 0.001
"""What takes less is not taken into account: nearly all of it, and to note it would cost more."""


class CallTime:
    """What is left of it in this turn."""

    __slots__ = ("left_s",)

    def __init__(self) -> None:
        self.left_s = MOST_S
        """Seconds."""

    def begin(self) -> float:
        """Until when readers may be called now, by ``perf_counter``."""
        return perf_counter() + self.left_s

    def end(self, until: float) -> None:
        """The calls that had so long are over."""
        left_s = until - perf_counter()
        if left_s > self.left_s - NOTED_S:
            return
        if self.left_s == MOST_S:
            asyncio.get_running_loop().call_soon(self._renew)
        self.left_s = left_s

    def _renew(self) -> None:
        self.left_s = MOST_S
