"""Folders and files made inside a folder, and nowhere else, whatever is swapped for a link meanwhile.

Rule 1: a folder is entered one name at a time, each by the descriptor of the one before it and never through a link. So a link
that comes after a path was checked leads nowhere; no path is looked up twice.
Rule 2: a file is written beside its place, under a name that nobody can guess, and gets its own by a rename: a reader never sees
half of it. Both names are in the folder that is held open. What stands there and is no plain file (a pipe, a device) stays.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import BinaryIO

from trunkline.disk.reading import check_plain
from trunkline.threads import check_off_loop

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Where there is O_PATH, a folder need not be readable to be gone through."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV})
"""How file systems say that they have no hard links."""


def enter(root: str, names: Sequence[str], *, make: bool = False) -> int:
    """The descriptor of a folder below ``root``; with ``make``, the folders on the way are made."""
    check_off_loop()
    folder = os.open(root, _FOLDER)
    try:
        for name in names:
            folder = _step(folder, name, make)
        return folder
    except BaseException:
        os.close(folder)
        raise


def _step(folder: int, name: str, make: bool) -> int:
    """The folder of that name in this one, which is closed."""
    if name in ("", ".", ".."):
        raise OSError(errno.EINVAL, "not the name of a folder", name)
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    deeper = os.open(name, _FOLDER, dir_fd=folder)
    os.close(folder)
    return deeper


class NewFile:
    """A file that is being written; ``put`` gives it its place, ``drop`` takes it back. It owns the folder's descriptor."""

    def __init__(self, folder: int) -> None:
        check_off_loop()
        self.size = 0
        self._folder = folder
        self._half = f".{secrets.token_hex(12)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file: BinaryIO = open(os.open(self._half, flags, 0o666, dir_fd=folder), "wb")
        except BaseException:
            os.close(folder)
            raise

    def write(self, chunk: bytes) -> int:
        """Add to it."""
        check_off_loop()
        self.size += len(chunk)
        return self._file.write(chunk)

    def put(self, name: str) -> None:
        """Let it stand in the place of that name, with the permissions of the file that it replaces."""
        try:
            found = _mode_of(self._folder, name)
            if found is not None and not stat.S_ISLNK(found):  # a link is replaced itself: nothing is written through it
                check_plain(found, name)
                os.fchmod(self._file.fileno(), stat.S_IMODE(found))
            self._file.close()
            os.replace(self._half, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            self.drop()
            raise
        os.close(self._folder)

    def put_beside(self, names: Iterable[str]) -> str:
        """Give it the first of these names that is free, and say which; FileExistsError where none is."""
        try:
            self._file.close()
            name = next((name for name in names if self._takes(name)), None)
            if name is None:
                raise FileExistsError(errno.EEXIST, "every name for it is taken")
        except BaseException:
            self.drop()
            raise
        os.close(self._folder)
        return name

    def drop(self) -> None:
        """It never was."""
        with suppress(OSError):  # what was buffered may not fit on the disk: that was raised when it was written
            self._file.close()
        with suppress(OSError):  # it may have got its name already
            os.unlink(self._half, dir_fd=self._folder)
        os.close(self._folder)

    def _takes(self, name: str) -> bool:
        """Whether the name was free and is ours now; a link to the file fails where there is one, a rename would not."""
        try:
            os.link(self._half, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if _mode_of(self._folder, name) is not None:
                return False
            os.replace(self._half, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            return True
        os.unlink(self._half, dir_fd=self._folder)
        return True


def _mode_of(folder: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
