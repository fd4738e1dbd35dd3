"""Every process of the machine, and one of them: whose child it is, when it began, which marker it carries, what it runs.

Rule 1: the kernel's own files (``/proc``) tell it where they are, psutil where they are not (macOS). Both say the same; psutil
takes four times as long, so it is not used on Linux, and not loaded there.
Rule 2: looking at all of them runs in a thread, and callers that wait for it share the next look, so that stopping 200 agents at
once costs a few looks, not 200.
Rule 3: another user's process has no marker for us, and neither has one whose environment the system hides.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from trunkline.agents.environment import MARKER
from trunkline.agents.keeper import proc

if TYPE_CHECKING:
    import psutil

HAS_PROC = os.path.isdir("/proc/self")

TICKS_WITHOUT_PROC = 100
"""Of a second, in which start times are counted where the kernel does not say."""

ANCESTORS_MOST = 64

_MARKER_ENTRY = MARKER.encode() + b"="


class Identity(NamedTuple):
    """A process that cannot be taken for another one: the pid may be given out again, the two together never are."""

    pid: int
    start_time: int


class Member(NamedTuple):
    """One process as ``/proc`` shows it.

    ``marker`` is None without one or when its environment is not ours to read, and empty when it has no environment at all.
    """

    pid: int
    parent: int
    group: int
    session: int
    start_time: int
    marker: str | None

    @property
    def identity(self) -> Identity:
        """What distinguishes it from every other process of this boot."""
        return Identity(self.pid, self.start_time)

    def carries(self, marker: str) -> bool:
        """Whether its marker is ``marker`` or one below it."""
        return self.marker is not None and (self.marker == marker or self.marker.startswith(marker + "."))


ProcessTable = dict[int, Member]


def start_time(pid: int) -> int | None:
    """When the process began, in clock ticks; None when it is gone or a zombie."""
    if not HAS_PROC:
        found = _by_psutil(pid)
        return None if found is None else found.start_time
    fields = _stat(pid)
    return None if fields is None else int(fields[19])


def parent_of(pid: int) -> int | None:
    """Whose child it is; None when it is gone."""
    if HAS_PROC:
        return proc.parent_of(pid)
    found = _by_psutil(pid)
    return None if found is None else found.parent


def with_ancestors(pid: int) -> set[int]:
    """A process, and those that it comes from, as far as they are still there."""
    found: set[int] = set()
    at: int | None = pid
    while at is not None and at > 1 and at not in found and len(found) < ANCESTORS_MOST:
        found.add(at)
        at = parent_of(at)
    return found


def command_line(pid: int) -> list[str]:
    """Its arguments; none when it is gone, a zombie, or not ours to look into."""
    if HAS_PROC:
        return proc.command_line(pid)
    import psutil

    try:
        return list(psutil.Process(pid).cmdline())
    except (psutil.Error, OSError):
        return []


def ticks_now() -> int:
    """Now, in the unit of ``Member.start_time``."""
    if not HAS_PROC:
        return int(time.time() * TICKS_WITHOUT_PROC)
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def ticks_of(seconds: float) -> float:
    """So many seconds in that unit."""
    return seconds * (os.sysconf("SC_CLK_TCK") if HAS_PROC else TICKS_WITHOUT_PROC)


_scan_lock = threading.Lock()
_last_scan: tuple[float, ProcessTable] = (0.0, {})


def scan() -> ProcessTable:
    """Every live process; blocking. A scan that began after this call was made serves it too."""
    global _last_scan
    called_at = time.monotonic()
    with _scan_lock:
        began_at, table = _last_scan
        if began_at <= called_at:
            began_at = time.monotonic()
            table = _table()
            _last_scan = (began_at, table)
        return table


def _table() -> ProcessTable:
    look = _member if HAS_PROC else _by_psutil
    return {member.pid: member for pid in _pids() if (member := look(pid))}


def _pids() -> list[int]:
    if not HAS_PROC:
        import psutil

        return list(psutil.pids())
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _member(pid: int) -> Member | None:
    fields = _stat(pid)
    if fields is None:
        return None
    return Member(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), _marker(pid))


def _stat(pid: int) -> list[bytes] | None:
    """The fields of ``/proc/PID/stat`` from the state on (the name before them may hold anything); None for the dead."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read(4096).rpartition(b")")[2].split()
    except OSError:
        return None
    return fields if len(fields) > 19 and fields[0] not in (b"Z", b"X") else None


def _marker(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            environ = file.readall()
    except OSError:
        return None
    if not environ:
        return ""
    for entry in environ.split(b"\0") if _MARKER_ENTRY in environ else ():
        if entry.startswith(_MARKER_ENTRY):
            return entry[len(_MARKER_ENTRY) :].decode("ascii", "replace")
    return None


def _by_psutil(pid: int) -> Member | None:
    """One process where there is no ``/proc``; None when it is gone or a zombie."""
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            began = int(process.create_time() * TICKS_WITHOUT_PROC)
            return Member(pid, process.ppid(), os.getpgid(pid), os.getsid(pid), began, _marker_by_psutil(process))
    except (psutil.Error, OSError):
        return None


def _marker_by_psutil(process: psutil.Process) -> str | None:
    import psutil

    try:
        marker: str | None = process.environ().get(MARKER)
        return marker
    except (psutil.Error, OSError):
        return None
