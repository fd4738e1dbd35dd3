"""A cluster's log, bounded: what others send must not fill this machine's disk with lines about it.

Rule: of one kind of line so many in a while; the last of them says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

MOST: Final = 100
PER_S: Final = 60.0


class Quiet(logging.Filter):
    """Lets through so many records of one text, whatever is put into it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._began = clock()
        self._counts: dict[object, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written."""
        if self._clock() - self._began >= PER_S:
            self._begin_anew()
        count = self._counts[record.msg] = self._counts.get(record.msg, 0) + 1
        if count > MOST:
            return False
        if count == MOST:
            record.msg = f"{record.msg} (and no more of these lines within {PER_S:g} s)"
        return True

    def _begin_anew(self) -> None:
        self._began = self._clock()
        self._counts.clear()
