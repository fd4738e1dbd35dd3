"""What runs on this machine, by what it carries: every hub of the tests has a HOME of its own, and so has all it starts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

WITHIN_S = 60.0
"""What comes at all comes long before: it is for a machine that is busy with others."""
POLL_S = 0.01
LONGEST_POLL_S = 0.05
"""How often it is looked whether something holds: at first often, then at each tenth of the time that was waited. A look may go
through all processes of the machine, and takes time from those that are waited for."""


class Process(NamedTuple):
    """A process: its id, its parent's, its state letter and its command line."""

    pid: int
    parent: int
    state: str
    command: str


def processes_with(variable: str) -> list[Process]:
    """Processes whose environment has exactly this ``NAME=value``; zombies have no environment any more."""
    wanted = variable.encode()
    return _known(pid for pid in _pids() if wanted in _file(pid, "environ").split(b"\0"))


def processes_named(token: str) -> list[Process]:
    """Processes that have ``token`` among their arguments; zombies have no arguments any more."""
    wanted = token.encode()
    return _known(pid for pid in _pids() if wanted in _file(pid, "cmdline").split(b"\0"))


def below(pid: int) -> list[Process]:
    """All descendants of a process, zombies included."""
    return _below(pid, _all())


def children_of(pid: int) -> list[Process]:
    """The direct children of a process, zombies included."""
    return [process for process in _all() if process.parent == pid]


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return _process(pid).state != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def freeze(pid: int) -> None:
    """Stop a process, all of it: where the machine is busy, other threads go on until one of them has read the signal."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: all(state in "TtZX" for state in _thread_states(pid)), f"process {pid} stands still")


def inside(pid: int, name: str) -> Path:
    """What a process of ours has in memory or open (``name`` below its folder in /proc). A hub and its keepers hide that from
    everybody but root: who runs the tests as somebody else goes without this one."""
    if os.geteuid() != 0:
        pytest.skip("only root may look into a hub")
    return Path(f"/proc/{pid}/{name}")


def resident_bytes(pid: int) -> int:
    """Memory that the process has in use."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def eventually(holds: Callable[[], object], what: str, within_s: float = WITHIN_S) -> None:
    """Wait until it holds, for things that tell nobody when they happen (processes, files)."""
    began = time.monotonic()
    while not holds():
        waited_s = time.monotonic() - began
        assert waited_s < within_s, f"not within {within_s:g} s: {what}"
        time.sleep(min(max(POLL_S, waited_s / 10), LONGEST_POLL_S))


def _thread_states(pid: int) -> list[str]:
    states = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        line = _file(pid, f"task/{thread}/stat")
        states += line.rpartition(b")")[2].decode().split()[:1]
    return states


def _below(pid: int, everybody: list[Process]) -> list[Process]:
    found = [process for process in everybody if process.parent == pid]
    return found + [deeper for child in found for deeper in _below(child.pid, everybody)]


def _all() -> list[Process]:
    return _known(_pids())


def _pids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _known(pids: Iterable[int]) -> list[Process]:
    found = []
    for pid in pids:
        try:
            found.append(_process(pid))
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended while we looked
    return found


def _process(pid: int) -> Process:
    head, _, tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    state, parent, *_ = tail.split()
    return Process(pid, int(parent), state, head.partition("(")[2])


def _file(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
