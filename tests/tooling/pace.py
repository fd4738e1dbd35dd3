"""How fast this machine computes just now, and CPU time as it would be were it quiet.

A thread's CPU time leaves out the time in which others ran instead, but not that they slow it down: where the other half of its
core computes too, the same loop takes up to twice as long, on that clock as well. So a bound on it is for a quiet core, and what
is measured on another is scaled by a loop whose time there is known.

Rule: for bounds that stand far from what is usual. Whoever wants to know a few per cent runs the benchmarks on a quiet machine.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable

QUIET_S = 0.003
"""What ``_compute`` takes on a quiet core of a server of 2023; 0.0055 where the other half of the core is busy."""
SLOWEST = 4.0
"""A machine slower than this is not measured any more: the bounds hold there as they do on this one."""
TRIFLE_S = 0.05
"""Below each bound here as it is: to measure the machine for it would take longer than what is measured."""


def slowness(tries: int = 5) -> float:
    """How many times as long as on a quiet core the same takes now, at worst of some tries."""
    return min(SLOWEST, max(1.0, *(_compute_s() / QUIET_S for _ in range(tries))))


def crowding() -> float:
    """How many want each core, at the mean of the last minute; with the same bound."""
    return min(SLOWEST, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def own_s(work: Callable[[], object]) -> float:
    """The CPU time that this took, as it would be on a quiet core. What the interpreter tidies up meanwhile is not its own: in a
    process with all tests loaded that takes longer than most of what is measured."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        before = slowness(tries=1)
        began = time.thread_time()
        work()
        took_s = time.thread_time() - began
        return took_s if took_s < TRIFLE_S else took_s / max(before, slowness())
    finally:
        if was_on:
            gc.enable()


def _compute_s() -> float:
    began = time.thread_time()
    total = 0
    for number in range(100_000):
        total += number & 7
    return time.thread_time() - began
