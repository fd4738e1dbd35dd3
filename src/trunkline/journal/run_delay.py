"""How long a thread was ready to run and got no processor: a busy machine is not a slow disk.

Rule: where the system does not say (only Linux has schedstat), it is nothing, and a busy machine passes for a slow disk.
"""

from __future__ import annotations

import os
from contextlib import suppress

_READ_BYTES = 64

MARK_S = 0.05
"""How much longer than what is asked about may be counted. On a machine that was busy just before, a slow disk can so pass for
that machine once, and not twice."""


class RunDelay:
    """The delays of the thread that made it."""

    def __init__(self) -> None:
        self.marked_s = float("-inf")
        """When the mark was made."""
        self._mark = b""
        self._file = -1
        with suppress(OSError):
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """A reading, for ``since``."""
        return os.pread(self._file, _READ_BYTES, 0) if self._file >= 0 else b""

    def since(self, before: bytes) -> float:
        """Seconds of delay since a reading."""
        return _delay_s(self.read()) - _delay_s(before)

    def mark(self, now_s: float) -> None:
        """Count from here on. A mark that is younger than MARK_S stays where it is: a reading takes a sixth of a small commit."""
        if now_s - self.marked_s > MARK_S:
            self._mark, self.marked_s = self.read(), now_s

    def since_mark(self) -> float:
        """Seconds of delay since the mark, which is taken away: what comes next is counted from its own beginning."""
        self.marked_s = float("-inf")
        return self.since(self._mark)

    def close(self) -> None:
        """Let the file go."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _delay_s(reading: bytes) -> float:
    fields = reading.split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0
