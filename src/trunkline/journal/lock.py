"""The right to be the only writer of a data folder.

Rule 1: whoever holds ``hub.lock`` is the hub of this folder. The kernel gives it up with the process, however that ends.
Rule 2: what is no plain file in its place is an error that names it, and nobody waits for it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from pathlib import Path

from trunkline.dialects.outside import is_whole_number
from trunkline.errors import StorageError

PATIENCE_S = 0.2
"""Others look whether the lock is held by holding it for an instant; a hub that starts waits that long out."""

NAME = "hub.lock"

MEND = "while no hub runs here it may be removed, the next one makes its own"
"""What to do about one that cannot be used."""


class FolderLock:
    """The lock of one data folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._descriptor = -1

    def take(self) -> bool:
        """Become the holder; False where another process is."""
        descriptor = _opened(self.path, os.O_RDWR | os.O_CREAT)
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
            descriptor = _opened(self.path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _number(os.read(descriptor, 32).strip())
        finally:
            os.close(descriptor)
        return None


def _opened(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise StorageError(f"cannot use {path}: {error.strerror}; {MEND}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"cannot use {path}: it is not a plain file; {MEND}")
    return descriptor


def _number(text: bytes) -> int:
    """A pid; 0 where somebody else wrote there."""
    return int(text) if is_whole_number(text) else 0


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
