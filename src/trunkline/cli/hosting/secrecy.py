"""Keeps the hub's token, and all else in its memory, from other programs of the same user: the agents run as that user.

Rule 1: the token is wiped where the kernel put it. What ``/proc/PID/environ`` shows is the block of variables that the process
began with; taking a variable out of ``os.environ`` changes nothing there.
Rule 2: nobody but the superuser looks into a hub: it is not dumpable, so its memory, its variables and its descriptors are
closed to the same user, and it leaves no core. ``--debuggable`` opens it again.
Rule 3: this comes before anything else of a hub, and imports next to nothing.

On macOS Rule 1 holds; Rule 2 is the system's own there (another program's memory takes a debugger's rights).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Final

TOKEN: Final = "TRUNKLINE_TOKEN"

PR_SET_DUMPABLE: Final = 4
"""Of ``linux/prctl.h``."""

_taken: dict[str, str] = {}
"""What was taken out of the environment, by name."""


def keep_secrets() -> None:
    """Take the token out of the environment for good, and close this process to its own user."""
    libc = ctypes.CDLL(None)
    if TOKEN in os.environ:
        _wipe(libc, os.fsencode(TOKEN))
        _taken[TOKEN] = os.environ.pop(TOKEN)
    _set_dumpable(libc, False)


def allow_debuggers() -> None:
    """Let programs of the same user look into this process after all."""
    _set_dumpable(ctypes.CDLL(None), True)


def environment() -> Mapping[str, str]:
    """The variables that this process was started with, the token included; for whoever reads settings, and nobody else."""
    return {**os.environ, **_taken}


def _wipe(libc: ctypes.CDLL, name: bytes) -> None:
    """Overwrite every entry of this name in the block of variables; a block may have several."""
    libc.getenv.restype = ctypes.c_void_p
    while (value := libc.getenv(name)) is not None:
        length = len(ctypes.string_at(value))
        before = len(name) + 1
        ctypes.memset(value - before, 0, before + length)


def _set_dumpable(libc: ctypes.CDLL, dumpable: bool) -> None:
    if sys.platform == "linux" and libc.prctl(PR_SET_DUMPABLE, int(dumpable), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot be closed to other programs (prctl)")
