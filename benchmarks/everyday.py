"""The everyday case: many sessions that write a little each. Each row stands beside a bare pipe of the same agents and run."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence

from benchmarks.machine import HERE, cpu_s
from benchmarks.relays.bare import Bare
from benchmarks.relays.hub import TheHub
from benchmarks.relays.relay import Pace, Window
from benchmarks.relays.workloads import Rung, added, creations, holds, middle, paced, paired, saturation
from benchmarks.scenarios import Figure, ReaderProcess, Scale

SESSIONS, PER_SECOND, TEXT, WINDOW_S = 100, 20, 80, 3.0
"""TEXT is without the stamp of 21 bytes: a chunk has some 100, a line some 250."""

RUNGS = (100, 200, 300, 450, 600)
HOPELESS_MS = 2000.0
"""A hub that is this late is not asked for more."""

DELIVERY_MOST, CPU_MOST = 10.0, 3.0
"""In bare pipes: half a millisecond where a pipe takes 0.05, and 70 us of CPU where reading a pipe takes 23."""

CREATIONS = 10
CREATION_MOST_MS = 20.0

READERS, FRAMES_PER_SECOND = 100, 50
FAN_OUT_MOST = 1.5
"""In frames that a server only writes: 12 us where a write to a socket takes 8."""


def the_everyday_case(scale: Scale) -> list[Figure]:
    """(t) a hundred sessions at 20 chunks/s, one reader each: from a chunk's write to its arrival, and the hub's CPU for it."""
    pace = Pace(scale.of(SESSIONS), PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
    with Bare() as bare, TheHub() as hub:
        found = paced([bare, hub], pace, scale.rounds)
    ours, pipe = found[TheHub.name], found[Bare.name]
    p50, p99, cpu = (paired(_column(ours, field), _column(pipe, field)) for field in ("p50_ms", "p99_ms", "cpu_us"))
    us = middle(ours)
    return [
        Figure(f"t  delivery, {pace.sessions} sessions, p50", f"{us.p50_ms:.2f} ms = {p50:.1f} x pipe", "<= 10 x",
               p50 <= DELIVERY_MOST),
        Figure("t  the same, p99", f"{us.p99_ms:.1f} ms = {p99:.1f} x pipe", "reported", None),
        Figure("t  hub CPU per chunk", f"{us.cpu_us:.0f} us = {cpu:.1f} x reading a pipe", "<= 3 x", cpu <= CPU_MOST),
        Figure("t  CPU of keepers per chunk", f"{us.helpers_us:.1f} us", "reported", None),
        Figure("t  chunks lost", str(us.lost), "0", us.lost == 0),
    ]


def how_many_sessions(scale: Scale) -> list[Figure]:
    """(u) more and more sessions at 20 chunks/s, one reader each, until the hub is late."""
    pace = Pace(0, PER_SECOND, TEXT, max(1.0, WINDOW_S * scale.factor))
    with Bare() as bare, TheHub() as hub:
        found = saturation([bare, hub], [scale.of(rung) for rung in RUNGS], pace, max(1, scale.rounds // 2), HOPELESS_MS)
    ours, pipe = found[TheHub.name], found[Bare.name]
    rows = [figure for rung, of_pipe in zip(ours, pipe, strict=False) for figure in _rung(rung, of_pipe)]
    held, reached = holds(ours)
    lost = sum(rung.window.lost for rung in ours)
    told = f"{held:.0f}" + ("" if reached else " and more")
    return [*rows, Figure("u  sessions until p99 passes 100 ms", told, "reported", None),
            Figure("u  chunks lost", str(lost), "0", lost == 0)]


def a_new_session(scale: Scale) -> list[Figure]:
    """(v) what the hub adds to an agent's own start, until a new session can be prompted."""
    with Bare() as bare, TheHub() as hub:
        found = creations([bare, hub], scale.of(CREATIONS), scale.rounds)
    ours, pipe = found[TheHub.name], found[Bare.name]
    more, ratio = statistics.median(added(ours, pipe)), paired(ours, pipe)
    return [Figure("v  a new session", f"{statistics.median(ours):.1f} ms = {ratio:.1f} x pipe", "reported", None),
            Figure("v  the same, added to the agent's own start", f"{more:.1f} ms", "<= 20 ms", more <= CREATION_MOST_MS)]


def fan_out(scale: Scale) -> list[Figure]:
    """(w) one session with a hundred readers: the hub's CPU per frame, beside a server that only writes frames."""
    readers, seconds = scale.of(READERS), max(1.0, WINDOW_S * scale.factor)
    ours: list[Window] = []
    raw: list[float] = []
    with TheHub() as hub:
        hub.fan_out(readers)
        for _ in range(scale.rounds):
            ours.append(hub.window(Pace(1, FRAMES_PER_SECOND, TEXT, seconds)))
            raw.append(_raw_frame_us(readers, int(FRAMES_PER_SECOND * seconds)))
    ratio, us = paired(_column(ours, "cpu_us"), raw), middle(ours)
    return [Figure(f"w  hub CPU per frame, {readers} readers", f"{us.cpu_us:.1f} us = {ratio:.2f} x raw server", "<= 1.5 x",
                   ratio <= FAN_OUT_MOST),
            Figure("w  delivery to all of them, p50", f"{us.p50_ms:.2f} ms", "reported", None),
            Figure("w  frames lost", str(us.lost), "0", us.lost == 0)]


def _rung(rung: Rung, pipe: Rung) -> list[Figure]:
    ours, bare, head = rung.window, pipe.window, f"u  {rung.sessions} sessions"
    return [
        Figure(f"{head}, delivery p50", f"{ours.p50_ms:.2f} ms = {ours.p50_ms / bare.p50_ms:.1f} x pipe", "", None),
        Figure(f"{head}, delivery p99", f"{ours.p99_ms:.1f} ms = {ours.p99_ms / bare.p99_ms:.1f} x pipe", "", None),
        Figure(f"{head}, hub's share of a core", f"{ours.share:.2f}, waits for one {ours.waited:.2f}", "", None),
    ]


def _column(windows: Sequence[Window], field: str) -> list[float]:
    return [getattr(window, field) for window in windows]


def _raw_frame_us(readers: int, count: int) -> float:
    """CPU per frame of a server that writes the same frames at the same pace, straight to the sockets."""
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.rawserver"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, cwd=HERE.parent)
    assert server.stdin is not None and server.stdout is not None
    port = int(server.stdout.readline())
    process = ReaderProcess("127.0.0.1", port, [b"GET / HTTP/1.1\r\n\r\n"] * readers, count, 60)
    used = cpu_s(server.pid)
    server.stdin.write(f"{count} {TEXT} {FRAMES_PER_SECOND} {readers}\n".encode())
    server.stdin.flush()
    frames: int = sum(process.result()["frames"])
    used = cpu_s(server.pid) - used
    server.stdin.close()
    server.wait(10)
    return used / frames * 1e6


SCENARIOS: dict[str, Callable[[Scale], list[Figure]]] = {
    "t": the_everyday_case, "u": how_many_sessions, "v": a_new_session, "w": fan_out,
}
