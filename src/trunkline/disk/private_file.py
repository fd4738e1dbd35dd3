"""A small file of the hub's own that only its owner may read: tokens, subscriptions, what is owed to whom.

Rule 1: it is replaced whole. A reader, and a hub that comes after a crash, sees the old one or the new one.
Rule 2: it is written off the loop, one write after the other, and the last one has all that was changed before it. Whoever has to
answer for a change waits for ``saved``; where there is no loop (a command, a test) it is written at once.
Rule 3: what cannot be written is logged, and raised to whoever waits. It stays owed: the next change or ``saved`` tries again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from trunkline.errors import Invalid, StorageError, Unavailable
from trunkline.threads import Lane, check_off_loop

log = logging.getLogger("trunkline.server")


class PrivateFile:
    """One such file. ``content`` says what is to be in it now; it is called on the loop."""

    def __init__(self, path: Path, content: Callable[[], bytes]) -> None:
        self.path = path
        self._content = content
        self._owed: StorageError | None = None
        """What to say while something is not on disk."""
        self._writing: asyncio.Task[None] | None = None
        self._again = False
        self._lane = Lane(1)

    def save_soon(self) -> None:
        """Something changed."""
        self._owed = StorageError(f"{self.path} is not written yet")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._write(self._content())
            self._owed = None
            return
        self._start()

    async def saved(self) -> None:
        """Wait until every change is on disk; StorageError where that cannot be."""
        if self._owed is not None and self._writing is None:
            self._start()
        if self._writing is not None:
            await asyncio.shield(self._writing)
        if self._owed is not None:
            raise self._owed

    def _start(self) -> None:
        self._again = True
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_all())

    async def _write_all(self) -> None:
        try:
            while self._again:
                self._again = False
                await self._lane.run(self._write, self._content())
            self._owed = None
        except (StorageError, Unavailable) as error:  # the task's boundary: it is logged, and raised to whoever waits
            self._owed = StorageError(error.message)
            log.warning("a change is not kept: %s", error.message)
        finally:
            self._writing = None

    def _write(self, content: bytes) -> None:
        try:
            write_private(self.path, content)
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from error


def write_private(path: Path, content: bytes) -> None:
    """Replace a file by one that only its owner may read. It blocks."""
    half = path.with_name(f".{path.name}.part")
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
    half.replace(path)


def replace_private(path: Path, content: bytes) -> None:
    """Put a file in place of another in one step, closed to others, and on the disk before it counts. Blocks."""
    check_off_loop()
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, target)
        except BaseException:
            with suppress(FileNotFoundError):  # it may have got its name already
                half.unlink()
            raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error


def read_private(path: Path, most: int, *, close: bool = True) -> str | None:
    """The text of a file that only its owner may write, its first bytes at most; None where there is none. One that others may
    read is closed to them, unless ``close`` is off. A pipe does not make us wait, nor a huge file eat the memory."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    try:
        _check_owner(path, os.fstat(descriptor))
        with open(descriptor, "rb", closefd=False) as file:
            if close and os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
            return file.read(most).decode("utf-8")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8: {error}") from error
    finally:
        os.close(descriptor)


def _check_owner(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Invalid(f"{path} is not a plain file")
    if found.st_uid not in (os.geteuid(), 0):
        raise Invalid(f"{path} belongs to somebody else")
    if found.st_mode & 0o022:
        raise Invalid(f"{path} may be written by others; close it with: chmod 600 {path}")
