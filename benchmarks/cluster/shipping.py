"""(D) Entries per second to the stream, against the journal that they come from.

Busy sessions, each with the next entry as soon as the last one is committed, through a hub's own committer into its journal:
first alone, and then with the shipper behind it, until the stream has the last one.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import uvloop

from benchmarks.cluster.world import connection_to, servers
from benchmarks.machine import cpu_s
from benchmarks.scenarios import Figure, Scale
from tests.tooling.nats import NatsServer
from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.ledger import Ledger
from trunkline.cluster.shipping.shipper import Shipper
from trunkline.errors import StorageError
from trunkline.journal.base import Entry
from trunkline.journal.committer import Committer
from trunkline.journal.stores.sqlite.store import SqliteJournal

LEAST_RATIO = 0.6
ENTRIES = 20_000
BODY = os.urandom(24).hex().encode() + b" and words that agents say, " * 33
"""1 KB, of which most can be packed, as text can."""


class Took(NamedTuple):
    """One run: the journal alone, the journal and the stream, and this process's and the servers' CPU of the latter."""

    alone_s: float
    shipped_s: float
    cpu_us: float
    servers_us: float


def shipping(scale: Scale) -> list[Figure]:
    """For 1, 10 and 100 busy sessions, on one server and three."""
    figures: list[Figure] = []
    for replicas in (1, 3):
        with servers(replicas) as found:
            for sessions in (1, 10, 100):
                count = max(sessions, scale.of(ENTRIES) // sessions * sessions)
                took = [_run(found, sessions, count) for _ in range(max(1, scale.rounds // 2))]
                figures.append(_figure(took, sessions, replicas, count))
    return figures


def _figure(took: list[Took], sessions: int, replicas: int, count: int) -> Figure:
    ratio = statistics.median(each.alone_s / each.shipped_s for each in took)
    alone_s, shipped_s, own, theirs = (statistics.median(figures) for figures in zip(*took, strict=True))
    has_goal = replicas == 1 and sessions > 1
    return Figure(f"D  {sessions} sessions on {replicas}: journal, stream, ratio",
                  f"{count / alone_s:,.0f} {count / shipped_s:,.0f}/s {ratio:.2f} ({own:.0f}+{theirs:.0f} us)",
                  f">= {LEAST_RATIO}" if has_goal else "reported", ratio >= LEAST_RATIO if has_goal else None)


def _run(found: Sequence[NatsServer], sessions: int, count: int) -> Took:
    with TemporaryDirectory(prefix="trunkline-bench-") as folder:
        return uvloop.run(_both(found, Path(folder), sessions, count))


async def _both(found: Sequence[NatsServer], folder: Path, sessions: int, count: int) -> Took:
    async with SqliteJournal(folder / "alone.db") as journal:
        alone_s = await _write(journal, None, sessions, count, "alone")
    return Took(alone_s, *await shipped(found, folder, sessions, count))


async def shipped(found: Sequence[NatsServer], folder: Path, sessions: int, count: int, kind: type[Connection] = Connection
                  ) -> tuple[float, float, float]:
    """Seconds until the stream has all, and microseconds of this process's and the servers' CPU for an entry."""
    connection = await connection_to(found, "box", kind)
    async with SqliteJournal(folder / "shipped.db") as journal:
        shipper = Shipper(connection, journal, Ledger(folder / "ledger.db"), pool="box", incarnation="i1")
        await shipper.open()
        used, theirs = time.process_time(), servers_s(found)
        shipped_s = await _write(journal, shipper, sessions, count, os.urandom(4).hex())
        used, theirs = time.process_time() - used, servers_s(found) - theirs
        await shipper.close()
    await connection.close()
    return shipped_s, used / count * 1e6, theirs / count * 1e6


async def _write(journal: SqliteJournal, shipper: Shipper | None, sessions: int, count: int, name: str) -> float:
    """Seconds until all is committed, and shipped where it is."""
    committer = Committer(journal, on_committed=None if shipper is None else shipper.committed)
    begin = time.perf_counter()
    busy = [_Busy(committer, f"{name}-{number}", count // sessions) for number in range(sessions)]
    for each in busy:
        each.next()
    for each in busy:
        await each.done
        if shipper is not None:
            await shipper.shipped(each.name, count // sessions)
    took_s = time.perf_counter() - begin
    await committer.close()
    return took_s


class _Busy:
    """A session that always has something to say."""

    def __init__(self, committer: Committer, name: str, count: int) -> None:
        self.name, self._committer, self._left, self._seq = name, committer, count, 0
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = self._loop.create_future()
        committer.register(name, self)

    def next(self) -> None:
        """Say one more."""
        self._seq += 1
        entry = Entry(seq=self._seq, at=self._seq, event=BODY, update=b"{}")
        self._committer.submit_alone(self.name, [entry], entry.size())

    def committed(self, entries: list[Entry], size: int) -> None:
        """It is stored: the next one, once others had their turn."""
        self._left -= 1
        if self._left:
            self._loop.call_soon(self.next)
        else:
            self.done.set_result(None)

    def failed(self, error: StorageError, entries: list[Entry]) -> None:
        """It cannot be measured."""
        self.done.set_exception(error)


def servers_s(found: Sequence[NatsServer]) -> float:
    """The servers' CPU time."""
    return sum(cpu_s(server.pid) for server in found)
