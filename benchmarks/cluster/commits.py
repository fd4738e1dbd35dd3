"""(B) What being in a cluster costs a commit: the same chunks through a hub of its own and through one that ships them.
(E) What ``--commit all`` adds to the way from a prompt to its echo."""

from __future__ import annotations

import statistics
import time

from benchmarks.cluster.world import hubs, node, servers, wait_shipped
from benchmarks.machine import HubProcess, cpu_s
from benchmarks.scenarios import TEXT, Echo, Figure, ReaderProcess, Scale
from benchmarks.wire import Api, stream_request

LEAST_RATIO = 0.85
MANY, RATE, WINDOW_S = 100, 20, 4


def commits(scale: Scale) -> list[Figure]:
    """Flat out with one session, and the CPU of many that write a little."""
    count, windows = scale.of(100_000), max(1, scale.rounds // 2)
    rates: list[tuple[float, float]] = []
    with servers(1) as found, hubs(HubProcess(), node(found, "box")) as (alone, member):
        flat = [_FlatOut(alone), _FlatOut(member)]
        for _ in range(scale.rounds):
            first, second = flat[0].rate(count), flat[1].rate(count)
            wait_shipped(found[0])
            rates.append((first, second))
        paced = [_Paced(hub, scale.of(MANY)) for hub in (alone, member)]
        cpu = [[each.cpu_us() for each in paced] for _ in range(windows)]
    ratio = statistics.median(second / first for first, second in rates)
    us = [statistics.median(each[way] for each in cpu) for way in (0, 1)]
    return [
        Figure("B  chunks/s, a hub alone", f"{statistics.median(first for first, _ in rates):,.0f}", "", None),
        Figure("B  chunks/s, in a cluster (local)", f"{statistics.median(second for _, second in rates):,.0f}", "", None),
        Figure("B  ratio", f"{ratio:.2f}", f">= {LEAST_RATIO}", ratio >= LEAST_RATIO),
        Figure(f"B  CPU a chunk, {scale.of(MANY)} sessions, alone / cluster", f"{us[0]:.0f} / {us[1]:.0f} us", "reported", None),
    ]


def everywhere(scale: Scale) -> list[Figure]:
    """An echo at a hub that commits locally, and at those that wait for one server and for three."""
    turns = scale.of(200)
    with servers(1) as one, servers(3) as three, hubs(
            node(one, "here"), node(one, "one", commit="all"), node(three, "three", commit="all")) as (local, on_one, on_three):
        echoes = [Echo(local), Echo(on_one), Echo(on_three)]
        took = [[echo.once() * 1000 for echo in echoes] for _ in range(turns)]
    p50 = [statistics.median(each[way] for each in took) for way in range(3)]
    return [
        Figure("E  an echo, local, p50", f"{p50[0]:.2f} ms", "", None),
        Figure("E  added by all, one server, p50", f"{p50[1] - p50[0]:.2f} ms", "reported", None),
        Figure("E  added by all, three servers, p50", f"{p50[2] - p50[0]:.2f} ms", "reported", None),
    ]


class _FlatOut:
    """One session whose agent writes as fast as it can."""

    def __init__(self, hub: HubProcess) -> None:
        self._hub, self._api = hub, Api(hub)
        self._session = self._api.new_session()

    def rate(self, count: int) -> float:
        """Chunks per second to a reader in another process."""
        after = self._api.wait_idle(self._session)["lastSeq"]
        reader = ReaderProcess(self._hub.host, self._hub.port, [stream_request(self._hub, self._session, after)], count + 2, 120)
        begin = time.monotonic()
        self._api.send(self._session, f"burst {count} {TEXT}")
        seen = reader.result()
        return float(count / (seen["last_at"] - begin))


class _Paced:
    """Many sessions that write a little each, and nobody who reads."""

    def __init__(self, hub: HubProcess, sessions: int) -> None:
        self._hub, self._api, self._count = hub, Api(hub), sessions
        self._sessions = [self._api.new_session() for _ in range(sessions)]

    def cpu_us(self) -> float:
        """The hub's CPU time per chunk."""
        for session in self._sessions:
            self._api.wait_idle(session)
            self._api.send(session, f"pace {RATE * (WINDOW_S + 2)} {TEXT} {RATE}")
        time.sleep(1)
        used, begin = cpu_s(self._hub.pid), time.monotonic()
        time.sleep(WINDOW_S)
        return (cpu_s(self._hub.pid) - used) / (self._count * RATE * (time.monotonic() - begin)) * 1e6
