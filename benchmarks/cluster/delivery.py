"""(C) How much later a reader at another node has what a reader at the owner has: chunks that say when they were written, read at
both by one process."""

from __future__ import annotations

import re
import select
import socket
import statistics
import time

from benchmarks.cluster.world import hubs, node, servers
from benchmarks.machine import HubProcess
from benchmarks.scenarios import Figure, Scale
from benchmarks.wire import Api, open_stream

MOST_MS = 2.0
PER_SECOND = 100
STAMP = re.compile(rb'"text":"(\d{6,})"')
WITHIN_S = 60.0


def delivery(scale: Scale) -> list[Figure]:
    """One server and three."""
    return [*_delivery(scale, 1), *_delivery(scale, 3)]


def _delivery(scale: Scale, replicas: int) -> list[Figure]:
    count = scale.of(1000)
    with servers(replicas) as found, hubs(node(found, "box"), node(found, "web", role="gateway")) as (owner, gateway):
        api = Api(owner)
        session = api.new_session()
        api.send(session, "echo")
        after = api.wait_idle(session)["lastSeq"]
        streams = [open_stream(hub, session, after) for hub in (owner, known(gateway, session))]
        api.send(session, f"stamp {count} {PER_SECOND}")
        came = _arrivals(streams, count)
    at_owner, at_gateway = ([(when - int(stamp)) / 1e6 for stamp, when in each.items()] for each in came)
    added = [(came[1][stamp] - came[0][stamp]) / 1e6 for stamp in came[0]]
    p50, p99 = statistics.median(added), statistics.quantiles(added, n=100)[98]
    where = f"{replicas} server{'s' * (replicas > 1)}"
    return [
        Figure(f"C  written to read, owner / gateway, p50, {where}",
               f"{statistics.median(at_owner):.2f} / {statistics.median(at_gateway):.2f} ms", "", None),
        Figure(f"C  added at another node, p50, {where}", f"{p50:.2f} ms", f"<= {MOST_MS:g} ms", p50 <= MOST_MS),
        Figure(f"C  added at another node, p99, {where}", f"{p99:.2f} ms", "reported", None),
    ]


def known(gateway: HubProcess, session: str) -> HubProcess:
    """The gateway, once it knows the session."""
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        try:
            Api(gateway).call("GET", f"/sessions/{session}")
            return gateway
        except RuntimeError:
            time.sleep(0.05)
    raise RuntimeError("the gateway never heard of the session")


def _arrivals(streams: list[socket.socket], count: int) -> list[dict[bytes, int]]:
    """When each chunk came on each stream, by when it was written."""
    came: list[dict[bytes, int]] = [{} for _ in streams]
    held = [b"" for _ in streams]
    until = time.monotonic() + WITHIN_S
    while any(len(each) < count for each in came):
        ready, _, _ = select.select(streams, [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise RuntimeError(f"{[len(each) for each in came]} of {count} came")
        for stream in ready:
            number, data, now = streams.index(stream), stream.recv(1 << 16), time.monotonic_ns()
            whole, end, rest = (held[number] + data).rpartition(b"\n\n")
            held[number] = rest
            for found in STAMP.finditer(whole + end):
                came[number].setdefault(found[1], now)
    return came
