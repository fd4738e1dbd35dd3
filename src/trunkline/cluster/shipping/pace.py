"""How much of the loop's time shipping may take. What waits is merged: less time makes larger messages, not fewer entries.

Rule 1: a session that says a word now and then never waits: time that was not used is saved up.
Rule 2: the commit path goes first. While agents are loud, shipping has its share and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Final

SHARE: Final = 0.10
"""Of all time. Commits have half as much again for streamed text (``journal/committer.py``)."""
SAVED_S: Final = 0.01
MESSAGE_S: Final = 0.00013
SHARED_BY: Final = 4
"""What a message costs beside its bytes, on both ways: measured 125 us with one in flight, and 35 to 40 us with ten and more,
which share wake-ups and writes: as if so many shared it."""
BYTE_S: Final = 1e-9
"""What a byte costs the loop: encoding and copying; what is large is packed in a thread."""


class Pace:
    """The share that is left."""

    def __init__(self, clock_s: Callable[[], float] = perf_counter) -> None:
        self._clock_s = clock_s
        self._left_s = SAVED_S
        self._at = clock_s()
        self.busy = 0
        """Sessions that have something on its way."""

    async def turn(self) -> None:
        """Wait until a message may be made."""
        self._save_up()
        if self._left_s < 0:
            await asyncio.sleep(-self._left_s / SHARE)

    def charge(self, size: int) -> None:
        """One of so many bytes is made."""
        self._save_up()
        self._left_s -= MESSAGE_S / min(max(self.busy, 1), SHARED_BY) + size * BYTE_S

    def _save_up(self) -> None:
        now = self._clock_s()
        self._left_s = min(SAVED_S, self._left_s + (now - self._at) * SHARE)
        self._at = now
