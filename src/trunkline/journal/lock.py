"""The right to be the only writer of a data folder.

Rule: whoever holds ``hub.lock`` is the hub of this folder. The kernel gives it up with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

PATIENCE_S = 0.2
"""Others look whether the lock is held by holding it for an instant; a hub that starts waits that long out."""

NAME = "hub.lock"


class FolderLock:
    """The lock of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._descriptor = -1

    def take(self) -> bool:
        """Become the holder; False where another process is."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked_in_time(descriptor):
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        self._descriptor = descriptor
        return True

    def give_up(self) -> None:
        """Let others have it."""
        os.close(self._descriptor)
        self._descriptor = -1

    def holder(self) -> int | None:
        """The pid of the process that holds the lock; None when nobody does. 0 while it has not written it."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(os.read(descriptor, 32).strip() or b"0")
        finally:
            os.close(descriptor)
        return None


def _locked_in_time(descriptor: int) -> bool:
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up:
                return False
            time.sleep(0.01)
        else:
            return True
