"""Opening files that somebody else put there: to read them, or to add to one.

Rule 1: only a plain file is opened, and opening never waits. A pipe, a socket, a device is an OSError (ENXIO), also where it
came between our look and the opening.
Rule 2: whoever reads says how much at most. The size that a file claims is believed by nobody.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, Literal

from trunkline.threads import check_off_loop

NOT_PLAIN = "not a plain file"
_F_GETPATH = 50
"""macOS: asks for the path of a descriptor. Python names it only there."""
_PATH_BYTES = 1024


def open_plain(path: str | os.PathLike[str], *, folder: int | None = None, follow: bool = False) -> BinaryIO:
    """A plain file, to be read. ``folder`` is the descriptor that the name is in; links count only where one follows them."""
    check_off_loop()
    # Looked at first: to open a device, or the end of a pipe, may be to do something.
    check_plain(os.stat(path, dir_fd=folder, follow_symlinks=follow).st_mode, path)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    return _plain(os.open(path, flags, dir_fd=folder), "rb", path)


def open_plain_end(path: str | os.PathLike[str]) -> BinaryIO:
    """A plain file that is there, to be added to; links do not count. A pipe that came in its place is not waited for."""
    check_off_loop()
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW
    return _plain(os.open(path, flags), "ab", path)


def _plain(descriptor: int, mode: Literal["rb", "ab"], path: str | os.PathLike[str]) -> BinaryIO:
    try:
        check_plain(os.fstat(descriptor).st_mode, path)
        return open(descriptor, mode)
    except BaseException:
        os.close(descriptor)
        raise


def check_plain(mode: int, path: str | os.PathLike[str]) -> None:
    """OSError for the mode of anything that is no plain file; a link is one that was not to be followed."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", os.fspath(path))
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "is a link", os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.ENXIO, NOT_PLAIN, os.fspath(path))


def read_beginning(path: str | os.PathLike[str], most: int, *, follow: bool = False) -> bytes:
    """The first bytes of a file, at most so many."""
    with open_plain(path, follow=follow) as file:
        return file.read(most)


def read_whole(path: str | os.PathLike[str], most: int, *, follow: bool = False) -> bytes:
    """All of a file; OSError (EFBIG) where that is more than so many bytes."""
    with open_plain(path, follow=follow) as file:
        if os.fstat(file.fileno()).st_size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise OSError(errno.EFBIG, f"larger than {most} bytes", os.fspath(path))


def path_of(descriptor: int) -> str | None:
    """Where an open file or folder is now; None where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return _asked_path(descriptor)


def _asked_path(descriptor: int) -> str | None:
    import fcntl

    if not hasattr(fcntl, "F_GETPATH"):
        return None
    try:
        answer: bytes = fcntl.fcntl(descriptor, _F_GETPATH, bytes(_PATH_BYTES))
    except OSError:
        return None
    return os.fsdecode(answer.rstrip(b"\0"))
