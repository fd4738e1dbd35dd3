"""What a relay has started: its agents, and apart from them its helpers; the CPU time of processes, and the cores of agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from benchmarks.machine import cpu_s

PROC = Path("/proc")
AGENT = b"\0-IS\0"
"""In an agent's command line: the flags of the interpreter that runs it, which no relay has."""


AGENT_MB = 5
"""What an agent takes with its keeper: 3 and 1 of their own, and what the system keeps for them."""


class Below(NamedTuple):
    """The processes below one."""

    helpers: list[int]
    agents: list[int]


def below(root: int) -> Below:
    """All that a process has started, and what those have started."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found, open_ = Below([], []), [root]
    while open_:
        for child in children.get(open_.pop(), []):
            (found.agents if _is_agent(child) else found.helpers).append(child)
            open_.append(child)
    return found


def cpu_of(pids: list[int]) -> float:
    """Seconds of all of them together; one that has ended counts no more."""
    total = 0.0
    for pid in pids:
        try:
            total += cpu_s(pid)
        except ProcessLookupError:
            continue
    return total


def waited_s(pid: int) -> float:
    """How long a process's first thread was ready to run and got no core."""
    return int((PROC / str(pid) / "schedstat").read_text().split()[1]) / 1e9


def room_for(agents: int) -> bool:
    """Whether the machine has the memory for so many agents more, and as much again."""
    [available] = [line.split()[1] for line in (PROC / "meminfo").read_text().splitlines() if line.startswith("MemAvailable:")]
    return 2 * agents * AGENT_MB < int(available) / 1024


def keep_to(pids: list[int], cores: set[int]) -> None:
    """Let processes run on these cores only."""
    for pid in pids:
        try:
            os.sched_setaffinity(pid, cores)
        except ProcessLookupError:
            continue


def _parent(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return None


def _is_agent(pid: int) -> bool:
    try:
        return AGENT in (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False  # it is gone
