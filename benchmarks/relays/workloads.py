"""What is measured of relays, each in turns: paced sessions, how many of them a relay holds, echoes, new sessions, fan-out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.relays.processes import room_for
from benchmarks.relays.relay import Pace, Relay, Window

LATE_MS = 100.0
"""Who waits longer than this for a word notices it."""

REST_S = 0.02

Named = dict[str, list[float]]


class Rung(NamedTuple):
    """So many sessions at once, and what that brought."""

    sessions: int
    window: Window


def in_turns(relays: Sequence[Relay], rounds: int) -> Iterator[Relay]:
    """Every relay once per round, in an order that turns about."""
    for number in range(rounds):
        yield from relays if number % 2 == 0 else reversed(relays)


def paced(relays: Sequence[Relay], pace: Pace, rounds: int) -> dict[str, list[Window]]:
    """The same sessions at the same pace, through each relay."""
    found: dict[str, list[Window]] = {relay.name: [] for relay in relays}
    for relay in relays:
        relay.grow(pace.sessions)
    for relay in in_turns(relays, rounds):
        found[relay.name].append(relay.window(pace))
    return found


def saturation(relays: Sequence[Relay], rungs: Sequence[int], pace: Pace, rounds: int, most_ms: float) -> dict[str, list[Rung]]:
    """More and more sessions, while there is memory; a relay whose p99 is beyond the most climbs no further."""
    found: dict[str, list[Rung]] = {relay.name: [] for relay in relays}
    climbing = list(relays)
    for sessions in rungs:
        if not climbing or not room_for(sessions * len(climbing)):
            break
        for name, windows in paced(climbing, pace._replace(sessions=sessions), rounds).items():
            found[name].append(Rung(sessions, middle(windows)))
        climbing = [relay for relay in climbing if found[relay.name][-1].window.p99_ms < most_ms]
    return found


def echoes(relays: Sequence[Relay], turns: int, rounds: int, rest_s: float = 0.0) -> Named:
    """Milliseconds from a prompt to the first word of its answer, the median of each round; turns do not overlap."""
    for relay in relays:
        relay.grow(1)
        relay.echo_s()
    found: Named = {relay.name: [] for relay in relays}
    for relay in in_turns(relays, rounds):
        found[relay.name].append(1000 * statistics.median(relay.echo_s(rest_s) for _ in range(turns)))
    return found


def creations(relays: Sequence[Relay], times: int, rounds: int) -> Named:
    """Milliseconds until a new session can be prompted, the median of each round; a relay's first session is not counted."""
    for relay in relays:
        relay.create_s()
    found: Named = {relay.name: [] for relay in relays}
    for relay in in_turns(relays, rounds):
        found[relay.name].append(1000 * statistics.median(relay.create_s() for _ in range(times)))
    return found


def middle(windows: Sequence[Window]) -> Window:
    """The median of each figure; what was lost is lost in all of them together."""
    columns = [statistics.median(column) for column in zip(*windows, strict=True)]
    return Window(*columns)._replace(lost=sum(window.lost for window in windows))


def paired(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of two runs of one round each."""
    return statistics.median(our / max(their, 1e-9) for our, their in zip(ours, theirs, strict=True))


def added(through: Sequence[float], without: Sequence[float]) -> list[float]:
    """What each round took more than the same round without anything in between."""
    return [with_it - bare for with_it, bare in zip(through, without, strict=True)]


def holds(rungs: Sequence[Rung]) -> tuple[float, bool]:
    """How many sessions until the p99 stays late, between two rungs by its logarithm; whether that was reached at all."""
    in_time = [number for number, rung in enumerate(rungs) if rung.window.p99_ms < LATE_MS]
    if not in_time:
        return float(rungs[0].sessions), True
    last = in_time[-1]
    return (float(rungs[-1].sessions), False) if last == len(rungs) - 1 else (_crossing(rungs[last], rungs[last + 1]), True)


def _crossing(under: Rung, over: Rung) -> float:
    low, high = math.log(max(under.window.p99_ms, 0.01)), math.log(over.window.p99_ms)
    return under.sessions + (math.log(LATE_MS) - low) / (high - low) * (over.sessions - under.sessions)
