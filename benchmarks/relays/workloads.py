"""What is measured of relays, each in turns: the everyday case, and how many sessions a relay holds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.relays.relay import Pace, Relay, Window

LATE_MS = 100.0
"""Who waits longer than this for a word notices it."""

HOPELESS_MS = 2000.0
"""A relay that is this late is not asked for more."""


class Rung(NamedTuple):
    """So many sessions at once, and what that brought."""

    sessions: int
    window: Window


def everyday(relays: Sequence[Relay], pace: Pace, rounds: int) -> dict[str, list[Window]]:
    """The same sessions at the same pace, through each relay in turns."""
    found: dict[str, list[Window]] = {relay.name: [] for relay in relays}
    for relay in relays:
        relay.grow(pace.sessions)
    for number in range(rounds):
        for relay in relays if number % 2 == 0 else reversed(relays):
            found[relay.name].append(relay.window(pace))
    return found


def saturation(relays: Sequence[Relay], rungs: Sequence[int], pace: Pace, rounds: int) -> dict[str, list[Rung]]:
    """More and more sessions; a relay that is hopelessly late climbs no further."""
    found: dict[str, list[Rung]] = {relay.name: [] for relay in relays}
    climbing = list(relays)
    for sessions in rungs:
        windows = everyday(climbing, pace._replace(sessions=sessions), rounds)
        for name, of_name in windows.items():
            found[name].append(Rung(sessions, middle(of_name)))
        climbing = [relay for relay in climbing if found[relay.name][-1].window.p99_ms < HOPELESS_MS]
    return found


def middle(windows: Sequence[Window]) -> Window:
    """The median of each figure; what was lost is lost in all of them together."""
    columns = [statistics.median(column) for column in zip(*windows, strict=True)]
    return Window(*columns)._replace(lost=sum(window.lost for window in windows))


def holds(rungs: Sequence[Rung]) -> tuple[float, bool]:
    """How many sessions until the p99 stays late, between two rungs by its logarithm; whether that was reached at all."""
    in_time = [number for number, rung in enumerate(rungs) if rung.window.p99_ms < LATE_MS]
    if not in_time:
        return float(rungs[0].sessions), True
    last = in_time[-1]
    return (float(rungs[-1].sessions), False) if last == len(rungs) - 1 else (_crossing(rungs[last], rungs[last + 1]), True)


def _crossing(below: Rung, above: Rung) -> float:
    low, high = math.log(max(below.window.p99_ms, 0.01)), math.log(above.window.p99_ms)
    part = (math.log(LATE_MS) - low) / (high - low)
    return below.sessions + part * (above.sessions - below.sessions)
