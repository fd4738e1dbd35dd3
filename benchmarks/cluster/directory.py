"""(G) Ten thousand sessions of other nodes in the directory: how long a gateway takes to start with them, to list and to filter
them, and what each takes of its memory, at rest and with a reader."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.cluster.delivery import known
from benchmarks.cluster.world import connection_to, hubs, node, servers
from benchmarks.machine import HubProcess, rss_mb
from benchmarks.scenarios import Figure, Scale
from benchmarks.wire import Api, open_stream
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.table import Table

SESSIONS, READ, AT_ONCE = 10_000, 200, 64
WITHIN_S = 60.0
FARM = "farm"


def directory(scale: Scale) -> list[Figure]:
    """A gateway without them and one with them, the same rows asked for again and again."""
    count, read = scale.of(SESSIONS), scale.of(READ)
    with servers(1) as found, hubs(node(found, "box"), node(found, "web", role="gateway")) as (owner, gateway):
        own = _sessions(owner, read)
        known(gateway, own[-1])
        held_mb = _held(gateway, own)
        with hubs(node(found, "empty", role="gateway")) as (empty,):
            _settle()
            empty_mb = rss_mb(empty.pid)
        asyncio.run(_fill(found, own[0], count))
        with hubs(node(found, "full", role="gateway")) as (full,):
            loaded_s = _until_listed(full, count) - full.started_at
            _settle()
            full_mb = rss_mb(full.pid)
            listed, filtered = (_times_ms(full, path) for path in ("/sessions", f"/sessions?node={FARM}&status=idle"))
    return [
        Figure(f"G  start to a list with {count:,} sessions", f"{loaded_s:.2f} s", "reported", None),
        Figure("G  a page of the list / filtered, p50", f"{listed:.1f} / {filtered:.1f} ms", "reported", None),
        Figure("G  memory per remote session in the list", f"{(full_mb - empty_mb) * 1024 / count:.1f} KB", "reported", None),
        Figure("G  memory per remote session with a reader", f"{held_mb * 1024 / read:.0f} KB", "reported", None),
    ]


def _sessions(owner: HubProcess, count: int) -> list[str]:
    """Sessions that have said something, and rest."""
    api = Api(owner)
    made = [api.new_session() for _ in range(count)]
    for session in made:
        api.send(session, "echo")
    for session in made:
        api.wait_idle(session)
    return made


def _held(gateway: HubProcess, sessions: Sequence[str]) -> float:
    """Megabytes more at the gateway with a reader of each session."""
    open_stream(gateway, sessions[0], 0).close()
    _settle()
    before = rss_mb(gateway.pid)
    streams = [open_stream(gateway, session, 0) for session in sessions]
    for stream in streams:
        stream.recv(1 << 16)
    _settle()
    held = rss_mb(gateway.pid) - before
    for stream in streams:
        stream.close()
    return held


async def _fill(found: Sequence[NatsServer], like: str, count: int) -> None:
    """Rows of another node's sessions, each like that of a real one."""
    connection = await connection_to(found, "filler")
    table = Table(connection, subjects.SESSIONS)
    stream, key = subjects.bucket_stream(subjects.SESSIONS), subjects.key(subjects.SESSIONS, subjects.session_key("box", like))
    stored = await jetstream.last_message(connection, stream, key)
    assert stored is not None, "the directory has no row of a session"
    row = json.loads(stored.data)
    turns = asyncio.Semaphore(AT_ONCE)

    async def put(number: int) -> None:
        async with turns:
            made = _row(row, number)
            await table.put(subjects.session_key(FARM, made["id"]), json.dumps(made).encode())

    await asyncio.gather(*(put(number) for number in range(count)))
    await connection.close()


def _row(like: dict[str, Any], number: int) -> dict[str, Any]:
    session_id, at = f"ses_{number:08d}", like["updated_at"] - number * 1000
    own = {"id": session_id, "title": f"Session {number}"}
    return {**like, **own, "pool": FARM, "owner": FARM, "updated_at": at, "summary": {**like["summary"], **own}}


def _until_listed(gateway: HubProcess, count: int) -> float:
    """When the last of them is found."""
    api, until = Api(gateway), time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        if api.call("GET", f"/sessions?text=Session%20{count - 1}")["sessions"]:
            return time.monotonic()
        time.sleep(0.02)
    raise RuntimeError("the gateway does not list them all")


def _times_ms(gateway: HubProcess, path: str) -> float:
    api, took = Api(gateway), []
    for _ in range(30):
        begin = time.perf_counter()
        api.call("GET", path)
        took.append((time.perf_counter() - begin) * 1000)
    return statistics.median(took)


def _settle() -> None:
    """Let what was begun come to its end."""
    time.sleep(2)
