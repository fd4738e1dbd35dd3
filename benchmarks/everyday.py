"""The everyday case: many sessions that write a little each. Each row stands beside a bare pipe of the same agents and run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.relays.bare import Bare
from benchmarks.relays.hub import TheHub
from benchmarks.relays.relay import Pace, Window
from benchmarks.relays.workloads import Rung, everyday, holds, middle, saturation
from benchmarks.scenarios import Figure, Scale

SESSIONS, PER_SECOND, TEXT, WINDOW_S = 100, 20, 80, 3.0
"""TEXT is without the stamp of 21 bytes: a chunk has some 100, a line some 250."""

RUNGS = (100, 200, 300, 450, 600)

DELIVERY_MOST, CPU_MOST = 10.0, 7.0
"""In bare pipes: half a millisecond where a pipe takes 0.05, and 70 us of CPU where reading one takes 10."""


def the_everyday_case(scale: Scale) -> list[Figure]:
    """(t) a hundred sessions at 20 chunks/s, one reader each: from a chunk's write to its arrival, and the hub's CPU for it."""
    pace = Pace(scale.of(SESSIONS), PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
    with Bare() as bare, TheHub() as hub:
        found = everyday([bare, hub], pace, scale.rounds)
    ours, pipe = found[TheHub.name], found[Bare.name]
    p50, p99, cpu = _paired(ours, pipe, "p50_ms"), _paired(ours, pipe, "p99_ms"), _paired(ours, pipe, "cpu_us")
    us, lost = middle(ours), sum(window.lost for window in ours)
    return [
        Figure(f"t  delivery, {pace.sessions} sessions, p50", f"{us.p50_ms:.2f} ms = {p50:.1f} x pipe", "<= 10 x",
               p50 <= DELIVERY_MOST),
        Figure("t  the same, p99", f"{us.p99_ms:.1f} ms = {p99:.1f} x pipe", "reported", None),
        Figure("t  hub CPU per chunk", f"{us.cpu_us:.0f} us = {cpu:.1f} x reading a pipe", "<= 7 x", cpu <= CPU_MOST),
        Figure("t  CPU of keepers per chunk", f"{us.helpers_us:.1f} us", "reported", None),
        Figure("t  chunks lost", str(lost), "0", lost == 0),
    ]


def how_many_sessions(scale: Scale) -> list[Figure]:
    """(u) more and more sessions at 20 chunks/s, one reader each, until the hub is late."""
    pace = Pace(0, PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
    with Bare() as bare, TheHub() as hub:
        found = saturation([bare, hub], [scale.of(rung) for rung in RUNGS], pace, max(1, scale.rounds // 2))
    ours, pipe = found[TheHub.name], found[Bare.name]
    rows = [figure for rung, of_pipe in zip(ours, pipe, strict=False) for figure in _rung(rung, of_pipe)]
    held, reached = holds(ours)
    lost = sum(rung.window.lost for rung in ours)
    told = f"{held:.0f}" + ("" if reached else " and more")
    return [*rows, Figure("u  sessions until p99 passes 100 ms", told, "reported", None),
            Figure("u  chunks lost", str(lost), "0", lost == 0)]


def _rung(rung: Rung, pipe: Rung) -> list[Figure]:
    ours, bare, head = rung.window, pipe.window, f"u  {rung.sessions} sessions"
    return [
        Figure(f"{head}, delivery p50", f"{ours.p50_ms:.2f} ms = {ours.p50_ms / bare.p50_ms:.1f} x pipe", "", None),
        Figure(f"{head}, delivery p99", f"{ours.p99_ms:.1f} ms = {ours.p99_ms / bare.p99_ms:.1f} x pipe", "", None),
        Figure(f"{head}, hub's share of a core", f"{ours.share:.2f}, waits for one {ours.waited:.2f}", "", None),
    ]


def _paired(ours: Sequence[Window], pipe: Sequence[Window], field: str) -> float:
    """The median of paired ratios."""
    ratios: list[float] = [getattr(us, field) / max(getattr(it, field), 1e-9) for us, it in zip(ours, pipe, strict=True)]
    return statistics.median(ratios)


SCENARIOS = {"t": the_everyday_case, "u": how_many_sessions}
