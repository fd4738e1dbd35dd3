"""What the runs say, as tables for docs/performance.md: every figure, whether it flatters or not, and goals beside ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.run import CLIMBING, Measured, Run
from benchmarks.peers.sandbox_agent import SandboxAgent
from benchmarks.relays.bare import Bare
from benchmarks.relays.hub import TheHub
from benchmarks.relays.relay import Window
from benchmarks.relays.workloads import Rung, added, holds, middle, paired

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- bench-peers: begin -->", "<!-- bench-peers: end -->"
NONE = "–"
CANNOT = "cannot"

Found = dict[str, Measured]


class Goal(NamedTuple):
    """One figure, mostly a ratio to the peer that stores nothing, and how high it may be (or how low, where more is better)."""

    what: str
    ratio: float | None
    bound: float
    more_is_better: bool = False
    beside: str = SandboxAgent.name

    @property
    def met(self) -> bool:
        """Whether the goal was reached."""
        if self.ratio is None:
            return False
        return self.ratio >= self.bound if self.more_is_better else self.ratio <= self.bound


def goals(run: Run) -> list[Goal]:
    """The hub beside that peer, and flat out beside a pipe."""
    us, peer, bare = (run.relays[relay.name] for relay in (TheHub, SandboxAgent, Bare))
    return [
        Goal("everyday delivery, p50", paired(_column(us.everyday, "p50_ms"), _column(peer.everyday, "p50_ms")), 4.0),
        Goal("everyday CPU per chunk", paired(_column(us.everyday, "cpu_us"), _column(peer.everyday, "cpu_us")), 1.2),
        Goal("echo added, closed loop", _added_ratio(us.echoes_ms, peer.echoes_ms, bare.echoes_ms), 1.6),
        Goal("echo added, after rest", _added_ratio(us.rested_ms, peer.rested_ms, bare.rested_ms), 1.6),
        Goal("fan-out, CPU per frame", paired(_column(us.fan_out, "cpu_us"), _column(peer.fan_out, "cpu_us")), 0.7),
        Goal("new session, added", _added_ratio(us.creations_ms, peer.creations_ms, bare.creations_ms), 1.0),
        Goal("start", paired(us.starts_ms, peer.starts_ms), 6.0),
        Goal("sessions until p99 passes 100 ms", _held_ratio(us.rungs, peer.rungs), 0.8, more_is_better=True),
        Goal("flat out, chunks/s", run.flat_out.ratio, 0.5, more_is_better=True, beside=Bare.name),
        Goal("flat out, chunks lost", run.flat_out.lost, 0, beside=NONE),
    ]


def render(run: Run, rounds: int) -> str:
    """All tables."""
    day, found = time.strftime("%Y-%m-%d", time.gmtime()), run.relays
    return "\n".join([f"Run of {day}, {rounds} rounds; {len(run.flat_out.carried)} flat out.", "", *_figures(found), "",
                      *_goals(goals(run)), "", *_ladder(found)])


def write(text: str, page: Path = PAGE) -> None:
    """Put the tables between their marks."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _figures(found: Found) -> list[str]:
    head = ["", "CPU per chunk, µs", "delivery p50 / p99, ms", "echo added, closed loop / after rest, ms",
            "new session, added = in all, ms", "start, ms", "CPU per frame, 100 readers, µs", "sessions until p99 passes 100 ms",
            "chunks lost"]
    return [_row(head), _row(["---"] * len(head)), *(_row(_cells(name, found)) for name in found)]


def _cells(name: str, found: Found) -> list[str]:
    it, bare = found[name], found[Bare.name]
    day, is_bare = middle(it.everyday), name == Bare.name
    echo = [NONE if is_bare else f"+{statistics.median(added(ours, theirs)):.2f}"
            for ours, theirs in ((it.echoes_ms, bare.echoes_ms), (it.rested_ms, bare.rested_ms))]
    whole = statistics.median(it.creations_ms)
    created = f"{whole:.1f}" if is_bare else f"{statistics.median(added(it.creations_ms, bare.creations_ms)):+.1f} = {whole:.1f}"
    lost = sum(window.lost for window in [*it.everyday, *it.fan_out]) + sum(rung.window.lost for rung in it.rungs[1:])
    return [f"**{name}**" if name == TheHub.name else name, _cpu(day), f"{day.p50_ms:.2f} / {day.p99_ms:.1f}", " / ".join(echo),
            created, NONE if is_bare else f"{statistics.median(it.starts_ms):.0f}",
            f"{middle(it.fan_out).cpu_us:.1f}" if it.fan_out else CANNOT, _held(it.rungs) if name in CLIMBING else NONE,
            f"{lost:,}"]


def _cpu(window: Window) -> str:
    keepers = f" (helpers {window.helpers_us:.1f})" if window.helpers_us >= 0.05 else ""
    return f"{window.cpu_us:.0f}{keepers}"


def _held(rungs: Sequence[Rung]) -> str:
    count, reached = holds(rungs)
    return f"{count:.0f}" if reached else f"{count:.0f} and more"


def _goals(goals: Sequence[Goal]) -> list[str]:
    lines = [_row([TheHub.name, "beside", "ratio", "goal", ""]), _row(["---"] * 5)]
    for goal in goals:
        lines.append(_row([goal.what, goal.beside, *_told(goal), "met" if goal.met else "missed"]))
    return lines


def _told(goal: Goal) -> tuple[str, str]:
    """What was reached, and what was to be; a count is no ratio."""
    if goal.beside == NONE:
        return f"{goal.ratio:,.0f}", f"{goal.bound:,.0f}"
    return NONE if goal.ratio is None else f"{goal.ratio:.2f} ×", f"{'≥' if goal.more_is_better else '≤'} {goal.bound:.1f} ×"


def _ladder(found: Found) -> list[str]:
    counts = sorted({rung.sessions for measured in found.values() for rung in measured.rungs})
    lines = [_row(["delivery p50 / p99, ms (share of a core)", *(f"{count} sessions" for count in counts)]),
             _row(["---"] * (len(counts) + 1))]
    for name, measured in found.items():
        by_count = {rung.sessions: rung.window for rung in measured.rungs}
        lines.append(_row([name, *(_step(by_count.get(count)) for count in counts)]))
    return lines


def _step(window: Window | None) -> str:
    return NONE if window is None else f"{window.p50_ms:.2f} / {window.p99_ms:.1f} ({window.share:.2f})"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _column(windows: Sequence[Window], field: str) -> list[float]:
    return [getattr(window, field) for window in windows]


def _held_ratio(ours: Sequence[Rung], theirs: Sequence[Rung]) -> float | None:
    """None where neither was brought to its end: that tells nothing of either."""
    (our, our_end), (their, their_end) = holds(ours), holds(theirs)
    return our / their if our_end or their_end else None


def _added_ratio(ours: Sequence[float], theirs: Sequence[float], bare: Sequence[float]) -> float | None:
    """Of medians, since what is added may be next to nothing in a round; none where the peer adds nothing at all."""
    our, their = statistics.median(added(ours, bare)), statistics.median(added(theirs, bare))
    return our / their if their > 0 else None
