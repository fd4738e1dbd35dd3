"""(x) What the hub adds to an agent's own start when a session is created: the first of a hub, and those after it.

The bare side starts the same program over pipes and says ``initialize`` and ``session/new``. Both are interleaved. The first
session is asked for by a client that has looked at the list of sessions before, as people and editors do; and, in other hubs, by
the very first request.
"""

from __future__ import annotations

import statistics
import time

from benchmarks.machine import BareAgent, HubProcess
from benchmarks.scenarios import Figure, Scale
from benchmarks.wire import Api

LATER = 20
REST_S = 1.0
ADDED_MOST_MS = 20.0


def creation(scale: Scale) -> list[Figure]:
    """Milliseconds from the request to its answer, less those of the bare start beside it."""
    cold = [_first(looks=False) for _ in range(scale.rounds)]
    expected = [_first(looks=True) for _ in range(scale.rounds)]
    bare, later = _later(max(3, scale.of(LATER)) * max(1, scale.rounds // 2))
    own = statistics.median(bare)
    added = statistics.median(through - without for through, without in zip(later, bare, strict=True))
    first = statistics.median(expected) - own
    return [
        Figure("x  agent's own start, initialize, session/new", f"{own:.1f} ms", "", None),
        Figure("x  added to it by the hub, p50", f"{added:.1f} ms", "<= 20 ms", added <= ADDED_MOST_MS),
        Figure("x  the same for a hub's first session", f"{first:.1f} ms", "<= 20 ms", first <= ADDED_MOST_MS),
        Figure("x  the same, as the hub's very first request", f"{statistics.median(cold) - own:.1f} ms", "reported", None),
    ]


def _first(*, looks: bool) -> float:
    with HubProcess() as hub:
        api = Api(hub)
        if looks:
            api.call("GET", "/sessions")
        time.sleep(REST_S)
        return _through(api)


def _later(count: int) -> tuple[list[float], list[float]]:
    bare, through = [], []
    with HubProcess() as hub:
        api = Api(hub)
        _through(api)
        for _ in range(count):
            bare.append(_bare())
            through.append(_through(api))
    return bare, through


def _through(api: Api) -> float:
    begin = time.perf_counter()
    api.new_session()
    return 1000 * (time.perf_counter() - begin)


def _bare() -> float:
    begin = time.perf_counter()
    with BareAgent():
        return 1000 * (time.perf_counter() - begin)
