"""Reads a file of the hub's own, whole: its settings, its tokens, what it owes.

Rule: whatever lies in its place, nobody waits for it and no memory is eaten. Every command reads its settings by this, so it
loads nothing but what Python has loaded already.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

OWN_MOST: Final = 16 << 20
"""Bytes of such a file that are read: some ten thousand tokens."""


def read_own(path: str | os.PathLike[str]) -> bytes:
    """All of it; OSError where it is no plain file, or is too large. Commands call it, and a hub at its start."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if os.fspath(path) == os.devnull:
            return b""  # as people name no file
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO, "not a plain file", os.fspath(path))
        content = file.read(OWN_MOST + 1)
    if len(content) > OWN_MOST:
        raise OSError(errno.EFBIG, f"larger than {OWN_MOST >> 20} MiB", os.fspath(path))
    return content
