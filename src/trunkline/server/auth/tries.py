"""How often somebody may be wrong: tries to log in and to pair, counted per address and over all addresses.

Rule 1: a try is counted before it is checked and given back when it was right, so that tries at the same time count like those
one after another.
Rule 2: who has used up the tries has to wait, also with the right secret: else the limit would be none. That is for secrets that
people choose or type, and so could guess. What the hub made itself nobody guesses: it needs no try, or strangers who are wrong
could keep the owner out.
Rule 3: what is remembered of addresses is bounded.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trunkline.errors import TooManyRequests

TRIES = 10
TRIES_OF_ALL = 100
"""Over all addresses: whoever has many of them still guesses no faster than this."""
TRIES_WITHIN_S = 60.0
ADDRESSES = 1_000
_ALL = ""
"""No address is empty."""


class FailedTries:
    """How often an address failed lately, and all of them together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, most: int = TRIES, of_all: int = TRIES_OF_ALL,
                 within_s: float = TRIES_WITHIN_S) -> None:
        self._clock = clock
        self._most = most
        self._of_all = of_all
        self._within_s = within_s
        self._tries: dict[str, deque[float]] = {}

    @contextmanager
    def counted(self, address: str) -> Iterator[None]:
        """One try, given back where the block ends without an error. TooManyRequests where there is none left."""
        self._check(address, self._most)
        self._check(_ALL, self._of_all)
        at = self._clock()
        for each in (address, _ALL):
            self._count(each, at)
        yield
        for each in (address, _ALL):
            self._give_back(each, at)

    def _check(self, address: str, most: int) -> None:
        recent = self._recent(address)
        if len(recent) >= most:
            wait_s = int(recent[0] + self._within_s - self._clock()) + 1
            raise TooManyRequests(f"too many failed tries; try again in {wait_s} s", details={"retryAfterS": wait_s})

    def _count(self, address: str, at: float) -> None:
        recent = self._recent(address)
        recent.append(at)
        self._tries.pop(address, None)
        self._tries[address] = recent
        while len(self._tries) > ADDRESSES:
            del self._tries[next(iter(self._tries))]

    def _give_back(self, address: str, at: float) -> None:
        recent = self._recent(address)
        if at in recent:
            recent.remove(at)

    def _recent(self, address: str) -> deque[float]:
        recent = self._tries.get(address, deque())
        while recent and recent[0] <= self._clock() - self._within_s:
            recent.popleft()
        return recent
