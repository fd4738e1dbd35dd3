"""Which running program has a session: by what the system says of processes, never by asking or stopping one.

Rule 1: nothing is locked to find out whether it is locked. The kernel's list of locks says it.
Rule 2: where the system does not tell (macOS has no such lists), nobody is said to run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

from trunkline import decoders
from trunkline.agents.process_table import start_time
from trunkline.dialects.outside import BROKEN, is_whole_number
from trunkline.discovery.files import entries
from trunkline.disk.reading import open_plain, read_beginning

LOCKS = "/proc/locks"
LOCKS_MOST = 4 << 20
"""Bytes of the kernel's list of locks that are read."""

RECORD_MOST = 64 << 10
"""Bytes of a program's record of itself that are read."""

CLOCKS_US = 2_000_000
"""How far the times of the kernel and of a program's clock may be apart."""
PSEUDO_TERMINALS = range(136, 144)
"""The kernel's numbers for devices ``/dev/pts/N``."""

WORDS_MOST = 4096
"""Bytes of a command line that are looked at."""


def is_running(pid: int, began: str = "") -> bool:
    """Whether a process is there; ``began``: and is the one that began then, in the kernel's ticks, not a later one."""
    if not 0 < pid < 1 << 31:
        return False
    ticks = start_time(pid)
    return ticks is not None and (not began or began == str(ticks))


def was_there(pid: int, at: float) -> bool:
    """Whether a process that is there had begun by then (UTC, microseconds): what was written of it before is of another one."""
    return began_at(pid) <= at + CLOCKS_US


class _Record(msgspec.Struct, rename="camel"):
    """What a program writes of itself while it runs. ``procStart`` ends in when it began, in the kernel's ticks."""

    pid: Annotated[int, msgspec.Meta(ge=1)]
    session_id: str
    proc_start: str = ""
    started_at: int | float = 0
    """When it began by its own clock, in milliseconds."""
    status: str = ""

    @property
    def runs(self) -> bool:
        """Whether it is about a process that is there. Older programs do not write when it began as the kernel counts it."""
        began = self.proc_start.rpartition(":")[2]
        if not is_running(self.pid, began):
            return False
        return bool(began) or not self.started_at or was_there(self.pid, self.started_at * 1000)


def registered(folder: str) -> dict[str, int]:
    """Sessions that running programs say they have open, in a folder of records (``<pid>.json``), with the pid of each."""
    found: dict[str, int] = {}
    for entry in entries(folder):
        if not entry.name.endswith(".json"):
            continue
        record = _record(entry.path)
        if record is not None and record.runs:
            found[record.session_id] = record.pid
    return found


def state_of(folder: str, pid: int) -> str | None:
    """What a running program says that it does, in its record; "" where it does not say, None where it does not run."""
    record = _record(os.path.join(folder, f"{pid}.json"))
    if record is None or record.pid != pid:
        return "" if is_running(pid) else None
    return record.status if record.runs else None


def _record(path: str) -> _Record | None:
    try:
        return decoders.decode(read_beginning(path, RECORD_MOST), _Record)
    except (OSError, *BROKEN):
        return None  # it is none of these


def lock_holders(paths: Iterable[str]) -> dict[str, list[int]]:
    """Which processes hold a lock on each of these files; those that nobody holds are left out."""
    held: dict[tuple[int, int], list[int]] = {}
    for place, pid in _held_locks():
        if pid not in held.setdefault(place, []):
            held[place].append(pid)
    found: dict[str, list[int]] = {}
    for path in paths if held else ():
        try:
            info = os.lstat(path)
        except OSError:
            continue
        pids = held.get((info.st_dev, info.st_ino))
        if pids:
            found[path] = pids
    return found


def folder_of(pid: int) -> str:
    """The folder that a process works in; "" where that is not ours to know."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def began_at(pid: int) -> int:
    """When a process began: UTC, microseconds; 0, before everything, where that is not known."""
    ticks = start_time(pid)
    if ticks is None:
        return 0
    try:
        up_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    except (AttributeError, OSError):
        return 0
    return int((time.time() - up_s + ticks / os.sysconf("SC_CLK_TCK")) * 1e6)


def idle_seconds(pid: int) -> float | None:
    """How long no key was pressed in the terminal of a process, as the terminal's own device says; None where it has none, or
    that is not known. The kernel counts in steps of eight seconds."""
    try:
        with open_plain(f"/proc/{pid}/stat") as file:
            device = int(file.read(WORDS_MOST).rpartition(b")")[2].split()[4])
        if os.major(device) not in PSEUDO_TERMINALS:
            return None
        number = (os.major(device) - PSEUDO_TERMINALS.start) * 256 + os.minor(device)
        return max(0.0, time.time() - os.stat(f"/dev/pts/{number}").st_atime)
    except (OSError, ValueError, IndexError, OverflowError):
        return None


def programs(names: frozenset[str]) -> Iterator[tuple[int, str, int]]:
    """Running programs of one of these names, also where an interpreter runs them: pid, the folder that each works in, when it
    began."""
    try:
        pids = [name for name in os.listdir("/proc") if is_whole_number(name)]
    except OSError:
        return
    for pid in map(int, pids):
        try:
            with open_plain(f"/proc/{pid}/cmdline") as file:
                words = os.fsdecode(file.read(WORDS_MOST)).split("\0")[:3]
        except OSError:
            continue  # it has ended, or is somebody else's
        if names & {os.path.basename(word) for word in words if not word.startswith("-")}:
            yield pid, folder_of(pid), began_at(pid)


def _held_locks() -> Iterator[tuple[tuple[int, int], int]]:
    """Device and inode of every file on which somebody holds a lock, with the pid."""
    try:
        with open_plain(LOCKS) as file:
            text = file.read(LOCKS_MOST)
    except OSError:
        return
    for line in text.split(b"\n"):
        words = line.split()
        # 1: FLOCK ADVISORY WRITE 4711 08:02:1234 0 EOF; who waits for one has "->" behind the number.
        if len(words) != 8 or not is_whole_number(words[4]):
            continue
        major, _, rest = words[5].partition(b":")
        minor, _, inode = rest.partition(b":")
        try:
            device = os.makedev(int(major, 16), int(minor, 16))
        except (ValueError, OverflowError):
            continue
        if is_whole_number(inode):
            yield (device, int(inode)), int(words[4])
