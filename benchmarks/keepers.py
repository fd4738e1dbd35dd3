"""What the parent of its own costs that each agent has: memory that nobody shares, and time until the program runs."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.scenarios import Figure, Scale
from trunkline.agents.environment import clean_env
from trunkline.agents.keeper import link
from trunkline.agents.process import AgentProcess, close_nursery

AGENTS = 50
MEMORY_MOST_MB = 3.0
TIME_MOST_MS = 10.0

AHEAD_S = 0.0015
"""How long before its agent's start a new session's keeper is forked: so long its folder is looked at, and its parts are made."""

fork_ahead: Callable[[], None] = getattr(link, "fork_ahead", lambda: None)
"""Older trees, which are measured with these benchmarks too, fork none ahead."""


def keepers(scale: Scale) -> list[Figure]:
    """(r) private memory of a keeper, and the time from asking for an agent to its running."""
    memory_mb, took_ms, ahead_ms = asyncio.run(_measure(max(5, scale.of(AGENTS))))
    return [
        Figure("r  memory of an agent's keeper", f"{memory_mb:.2f} MB", "<= 3 MB", memory_mb <= MEMORY_MOST_MB),
        Figure("r  start of a program under a keeper", f"{took_ms:.1f} ms", "<= 10 ms", took_ms <= TIME_MOST_MS),
        Figure("r  the same where the keeper was forked ahead", f"{ahead_ms:.1f} ms", "reported", None),
    ]


async def _measure(count: int) -> tuple[float, float, float]:
    env, started, times = clean_env((), os.environ), [], []
    for number in range(2 * count + 1):  # the first starts what forks the others; then with and without, in turns
        if number % 2:
            fork_ahead()
        await asyncio.sleep(AHEAD_S)
        begin = time.perf_counter()
        started.append(await AgentProcess.spawn(["cat"], cwd="/", env=env, on_data=_ignore, on_exit=_ignore))
        times.append((time.perf_counter() - begin) * 1000)
    memory = statistics.median(_private_mb(_parent_of(process.pid)) for process in started)
    await asyncio.gather(*(process.stop() for process in started))
    close_nursery()
    return memory, statistics.median(times[2::2]), statistics.median(times[1::2])


def _ignore(told: object) -> None:
    """Nobody is interested."""


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _private_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty"))) / 1024
