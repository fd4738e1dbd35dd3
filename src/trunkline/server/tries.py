"""How often somebody may be wrong: failed logins and pairings, counted per address.

Rule: failures count also when the right secret is named afterwards; what is remembered of addresses is bounded.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from trunkline.errors import TooManyRequests

TRIES = 10
TRIES_WITHIN_S = 60.0
ADDRESSES = 1_000


class FailedTries:
    """How often an address failed to log in lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, most: int = TRIES,
                 within_s: float = TRIES_WITHIN_S) -> None:
        self._clock = clock
        self._most = most
        self._within_s = within_s
        self._failures: dict[str, deque[float]] = {}

    def check(self, address: str) -> None:
        """TooManyRequests when this address has used up its tries."""
        recent = self._recent(address)
        if len(recent) >= self._most:
            wait_s = int(recent[0] + self._within_s - self._clock()) + 1
            raise TooManyRequests(f"too many failed tries; try again in {wait_s} s", details={"retryAfterS": wait_s})

    def failed(self, address: str) -> None:
        """Count a failure."""
        recent = self._recent(address)
        recent.append(self._clock())
        self._failures.pop(address, None)
        self._failures[address] = recent
        while len(self._failures) > ADDRESSES:
            del self._failures[next(iter(self._failures))]

    def _recent(self, address: str) -> deque[float]:
        recent = self._failures.get(address, deque())
        while recent and recent[0] <= self._clock() - self._within_s:
            recent.popleft()
        return recent
