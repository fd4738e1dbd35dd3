"""(F) Five hundred readers of one session at each of three gateways, and none at the owner."""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.cluster.delivery import known
from benchmarks.cluster.world import hubs, node, servers
from benchmarks.machine import HubProcess, cpu_s
from benchmarks.scenarios import TEXT, Figure, ReaderProcess, Scale
from benchmarks.wire import Api, stream_request
from tests.tooling.nats import NatsServer

GATEWAYS, READERS, RATE, SECONDS = 3, 500, 20, 5


def crowd(scale: Scale) -> list[Figure]:
    """All delivered, how fast, and what a frame takes of a gateway's CPU."""
    readers, count = scale.of(READERS), RATE * SECONDS
    with servers(1) as found, hubs(node(found, "box"), *_gateways(found)) as (owner, *gateways):
        api = Api(owner)
        session = api.new_session()
        api.send(session, "echo")
        after = api.wait_idle(session)["lastSeq"]
        asked = [[stream_request(known(hub, session), session, after)] * readers for hub in gateways]
        reading = [ReaderProcess(hub.host, hub.port, each, count + 2, 120) for hub, each in zip(gateways, asked, strict=True)]
        used, own = _cpu_s(gateways), cpu_s(owner.pid)
        began = time.monotonic()
        api.send(session, f"pace {count} {TEXT} {RATE}")
        seen = [each.result() for each in reading]
        used, own = _cpu_s(gateways) - used, cpu_s(owner.pid) - own
    frames = sum(sum(each["frames"]) for each in seen)
    wanted = GATEWAYS * readers * (count + 2)
    late_s = max(each["last_at"] for each in seen) - began - SECONDS
    return [
        Figure(f"F  frames, {GATEWAYS} gateways x {readers} readers", f"{frames:,} of {wanted:,}", "all", frames == wanted),
        Figure("F  the last reader had the last one after", f"{max(0.0, late_s):.2f} s", "reported", None),
        Figure("F  CPU per frame, gateways", f"{used / frames * 1e6:.1f} us", "reported", None),
        Figure("F  CPU per chunk, owner", f"{own / count * 1e6:.0f} us", "reported", None),
    ]


def _gateways(found: Sequence[NatsServer]) -> list[HubProcess]:
    return [node(found, f"web{number}", role="gateway") for number in range(GATEWAYS)]


def _cpu_s(gateways: Sequence[HubProcess]) -> float:
    return sum(cpu_s(hub.pid) for hub in gateways)
