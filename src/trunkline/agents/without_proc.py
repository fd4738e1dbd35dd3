"""The table of processes where there is no ``/proc`` (macOS): by psutil, as far as the system lets us.

Rule: imported only there. Another user's process has no marker for us, and neither has one whose environment the system hides.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import psutil

TICKS = 100
"""Of a second, as start times are told elsewhere."""


class Found(NamedTuple):
    """What is told of one process."""

    pid: int
    parent: int
    group: int
    session: int
    start_time: int
    environment: dict[str, str] | None
    """None where it is not ours to read."""


def processes() -> list[Found]:
    """Every live process."""
    return [found for process in psutil.process_iter() if (found := look(process.pid)) is not None]


def look(pid: int) -> Found | None:
    """One process; None when it is gone or a zombie."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        start_time = int(process.create_time() * TICKS)
        return Found(pid, process.ppid(), os.getpgid(pid), os.getsid(pid), start_time, _environment(process))
    except (psutil.Error, OSError):
        return None


def _environment(process: psutil.Process) -> dict[str, str] | None:
    try:
        environment: dict[str, str] = process.environ()
        return environment
    except (psutil.Error, OSError):
        return None
