"""(t) What the hub adds to an agent's own start when a session is created: the first of a hub, and those after it.

The bare side starts the same program over pipes and says ``initialize`` and ``session/new``. Both are interleaved. The first
session is asked for as soon as the hub answers, and again in hubs that had a moment to rest.
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
    firsts = [_first(0.0) for _ in range(scale.rounds)]
    rested = [_first(REST_S) for _ in range(scale.rounds)]
    bare, later = _later(max(3, scale.of(LATER)) * max(1, scale.rounds // 2))
    own = statistics.median(bare)
    added = statistics.median(through - without for through, without in zip(later, bare, strict=True))
    first = statistics.median(rested) - own
    return [
        Figure("t  agent's own start, initialize, session/new", f"{own:.1f} ms", "", None),
        Figure("t  added to it by the hub, p50", f"{added:.1f} ms", "<= 20 ms", added <= ADDED_MOST_MS),
        Figure("t  the same for a hub's first session, rested", f"{first:.1f} ms", "<= 20 ms", first <= ADDED_MOST_MS),
        Figure("t  the same, right after its first answer", f"{statistics.median(firsts) - own:.1f} ms", "reported", None),
    ]


def _first(rest_s: float) -> float:
    with HubProcess() as hub:
        api = Api(hub)
        api.call("GET", "/healthz")
        time.sleep(rest_s)
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
