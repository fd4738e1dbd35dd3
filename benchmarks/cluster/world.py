"""Servers with their streams made, and hubs that are nodes of the cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import HubProcess
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import subjects
from trunkline.cluster.connection import Address, Connection
from trunkline.cluster.streams import Sizes, configs, make_all

SIZES = Sizes(journal=1 << 30, parts=64 << 20, checkpoints=64 << 20, tables=64 << 20)
QUIET_S = 0.3
QUIET_WITHIN_S = 120.0


@contextmanager
def servers(replicas: int) -> Iterator[list[NatsServer]]:
    """One server or three, which end with the block."""
    with TemporaryDirectory(prefix="trunkline-bench-") as folder:
        if replicas == 1:
            with NatsServer(Path(folder)) as one:
                asyncio.run(_make([one]))
                yield [one]
        else:
            with NatsCluster(Path(folder)) as three:
                asyncio.run(_make(three.servers))
                yield three.servers


def node(found: Sequence[NatsServer], name: str, *, role: str = "hub", commit: str = "local") -> HubProcess:
    """A hub that is a node; it starts with its block. Its gateways may do all."""
    addresses = [word for server in found for word in ("--cluster", server.url)]
    return HubProcess(flags=[*addresses, "--node", name, "--role", role, "--commit", commit, "--gateways", "*"])


def wait_shipped(server: NatsServer) -> None:
    """Wait until nothing has come to the journal's stream for a moment."""
    until, last, since = time.monotonic() + QUIET_WITHIN_S, -1, time.monotonic()
    while time.monotonic() < until:
        now = stored_bytes(server)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > QUIET_S:
            return
        time.sleep(0.05)
    raise RuntimeError("the stream is still growing")


def stored_bytes(server: NatsServer) -> int:
    """How much the journal's stream has."""
    for account in server.ask("/jsz?streams=1").get("account_details", ()):
        for stream in account.get("stream_detail", ()):
            if stream["name"] == subjects.JOURNAL:
                return int(stream["state"]["bytes"])
    raise RuntimeError("there is no such stream")


@contextmanager
def hubs(*made: HubProcess) -> Iterator[tuple[HubProcess, ...]]:
    """All of them, until the end of the block."""
    started: list[HubProcess] = []
    try:
        for hub in made:
            started.append(hub.__enter__())
        yield made
    finally:
        for hub in reversed(started):
            hub.__exit__(None, None, None)


async def connection_to(found: Sequence[NatsServer], name: str, kind: type[Connection] = Connection) -> Connection:
    """A node's connection, up."""
    connection = kind(Address(servers=tuple(server.url for server in found), node=name))
    await connection.start()
    await connection.wait_up(30)
    return connection


async def _make(found: Sequence[NatsServer]) -> None:
    connection = await connection_to(found, "admin")
    await make_all(connection, configs(len(found), SIZES))
    await connection.close()
