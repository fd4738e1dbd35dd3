"""The gate: one writer at a time, and nobody who waits is overtaken.

A plain lock lets a busy writer take it again and again while housekeeping waits. So whoever is willing to wait first stands in
the doorway, and whoever only tries finds the doorway taken.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial


class WriteGate:
    """A lock for threads that may wait (``held``), and for the loop, which may not (``try_enter``)."""

    def __init__(self) -> None:
        self._doorway = threading.Lock()
        self._inside = threading.Lock()
        self.is_waited_for = self._doorway.locked
        self.enter_at_once = partial(self._inside.acquire, False)
        """The two halves of ``try_enter``, for whoever enters once per chunk: a call of Python's less."""
        self.leave = self._inside.release
        """Give back what ``try_enter`` took."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the gate, and hold it."""
        with self._doorway:
            self._inside.acquire()
        try:
            yield
        finally:
            self._inside.release()

    def try_enter(self) -> bool:
        """Take the gate if nobody has it or waits for it; then ``leave`` must follow."""
        return not self._doorway.locked() and self._inside.acquire(False)
