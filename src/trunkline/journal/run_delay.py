"""How long a thread was ready to run and got no processor: a busy machine is not a slow disk.

Rule: where the system does not say (only Linux has schedstat), it is nothing, and a busy machine passes for a slow disk.
"""

from __future__ import annotations

import os
from contextlib import suppress

_READ_BYTES = 64


class RunDelay:
    """The delays of the thread that made it. Asked before and after every commit on the loop: a microsecond each."""

    def __init__(self) -> None:
        self._file = -1
        with suppress(OSError):
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """A reading, for ``since``."""
        return os.pread(self._file, _READ_BYTES, 0) if self._file >= 0 else b""

    def since(self, before: bytes) -> float:
        """Seconds of delay since a reading."""
        return _delay_s(self.read()) - _delay_s(before)

    def close(self) -> None:
        """Let the file go."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _delay_s(reading: bytes) -> float:
    fields = reading.split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0
