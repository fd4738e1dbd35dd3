"""Where standard output leads: to a terminal, a file, or a pipe whose other end may be the terminal where somebody is asked.

Rule: what was written before something is asked is read by then. Who reads a pipe writes it on when they like, and else what an
agent said last would stand below the ask.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import stat
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

LOOK_S = 0.02
SETTLE_S = 0.2
"""Until a reader that has read something has written it, too."""
SLOW_S = 3.0
"""A reader that takes longer than this is told of."""


class Outlet:
    """A stream that is written to while somebody may be asked elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._descriptor = -1
        self._status: os.stat_result | None = None
        with suppress(OSError, ValueError):  # a stream may have no file
            self._descriptor = out.fileno()
            self._status = os.fstat(self._descriptor)

    @property
    def is_stored(self) -> bool:
        """Whether what is written goes to a file, or nowhere: then nobody reads it where they are asked."""
        if self._status is None:
            return False
        is_null = stat.S_ISCHR(self._status.st_mode) and self._status.st_rdev == os.stat(os.devnull).st_rdev
        return stat.S_ISREG(self._status.st_mode) or is_null

    async def drained(self, tell: Callable[[], None]) -> None:
        """Wait until all that was written to a pipe was read; ``tell`` where that takes long."""
        if self._status is None or not stat.S_ISFIFO(self._status.st_mode):
            return
        waited = 0.0
        while self._unread():
            await asyncio.sleep(LOOK_S)
            if waited < SLOW_S <= waited + LOOK_S:
                tell()
            waited += LOOK_S
        await asyncio.sleep(SETTLE_S)

    def _unread(self) -> bool:
        """Whether there is something in the pipe that its reader will read yet."""
        looking = select.poll()
        looking.register(self._descriptor, 0)
        if looking.poll(0):  # the reader has left
            return False
        (count,) = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))
        return bool(count)
