"""Opening a vendor's file for reading, whatever lies at its place.

Rule: only a regular file is opened, and opening never waits. A pipe, a device or a link that somebody put there is an OSError.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str) -> BinaryIO:
    """The file, to be read; OSError for anything that is no regular file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", path)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
