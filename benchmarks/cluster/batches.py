"""(H) Messages one by one, or one atomic batch for each round of all sessions: what the shipper's choice costs or saves.

The same groups under the same fences, both ways in turns: each session with one message in flight, as the shipper sends them, and
one batch with a message of each session. At last the shipper itself, over a connection that batches.
``python -m benchmarks.cluster.batches SECONDS`` counts for longer what is refused.

Rule: a message that was refused, or got no answer, is counted and sent again unless the stream has it.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import uvloop
from nats.aio.msg import Msg

from benchmarks.cluster.shipping import BODY, ENTRIES, servers_s, shipped
from benchmarks.cluster.world import connection_to, servers
from benchmarks.scenarios import Figure, Scale
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import ANSWER_WITHIN_S, Address, Connection
from trunkline.cluster.jetstream import EXPECTED_STREAM, FENCE, Ack, Refusal
from trunkline.errors import ClusterUnavailable, NodeAway, NodeSilent
from trunkline.journal.base import Entry

ROUNDS = {1: 100, 3: 500}
"""On one server a batch waits for the disk, so that few take long enough."""
GROUP = wire.entries_body([Entry(seq=seq, at=seq, event=BODY, update=b"{}") for seq in range(1, 5)])
"""Four entries of 1 KB, packed: what (D) ships in one message of a hundred sessions."""
SINGLES, BATCHES = "singles", "batches"
COUNTED_SESSIONS = 20
AGAIN_S = 0.005
SHIPPED_SESSIONS = 100
MOST_A_BATCH = 1000
"""The servers take no more."""

Message = tuple[str, bytes, dict[str, str]]


class Took(NamedTuple):
    """One run: seconds until all was stored, the median from sending to its answer, and CPU of this process and the servers."""

    all_s: float
    answer_s: float
    own_s: float
    servers_s: float


def batches(scale: Scale) -> list[Figure]:
    """For 10 and 100 sessions, on one server and on three."""
    figures: list[Figure] = []
    for replicas in (1, 3):
        with servers(replicas) as found:
            for sessions in (10, 100):
                figures += uvloop.run(_compare(found, sessions, max(2, scale.of(ROUNDS[replicas])), scale.rounds))
            if replicas == 3:
                figures.append(uvloop.run(_ship_both_ways(found, scale.of(ENTRIES), scale.rounds)))
    return figures


async def refusals(found: Sequence[NatsServer], seconds: float) -> Figure:
    """What single messages were told but "stored", of how many."""
    connection = await connection_to(found, "box")
    run = Run(connection, COUNTED_SESSIONS)
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        await run.singles(10)
    await connection.close()
    what = f"H  {COUNTED_SESSIONS} sessions on {len(found)}, {seconds:g} s: refused"
    return Figure(what, f"{_told(run.told)} of {len(run.answers_s):,}", "reported", None)


async def _compare(found: Sequence[NatsServer], sessions: int, rounds: int, times: int) -> list[Figure]:
    connection = await connection_to(found, "box")
    took: dict[str, list[Took]] = {SINGLES: [], BATCHES: []}
    told: dict[str, Counter[str]] = {SINGLES: Counter(), BATCHES: Counter()}
    for number in range(times):
        for way in (SINGLES, BATCHES) if number % 2 == 0 else (BATCHES, SINGLES):
            run = Run(connection, sessions)
            took[way].append(await _measured(found, run, run.singles if way == SINGLES else run.batches, rounds))
            told[way].update(run.told)
    await connection.close()
    return _figures(f"H  {sessions} sessions on {len(found)}", sessions * rounds, took, told)


def _figures(what: str, count: int, took: dict[str, list[Took]], told: dict[str, Counter[str]]) -> list[Figure]:
    """Each with its ratio, singles to batches: the median of pairs."""
    def pair(pick: Callable[[Took], float], form: str, unit: str) -> str:
        values = [[pick(each) for each in took[way]] for way in (SINGLES, BATCHES)]
        ratio = statistics.median(one / max(other, 1e-9) for one, other in zip(*values, strict=True))
        return f"{' / '.join(format(statistics.median(each), form) for each in values)} {unit}, {ratio:.2f}"

    return [
        Figure(f"{what}: messages/s", pair(lambda each: count / each.all_s, ",.0f", "a s"), "reported", None),
        Figure(f"{what}: until all is stored", pair(lambda each: each.all_s * 1000, ",.0f", "ms"), "reported", None),
        Figure(f"{what}: until one is, p50", pair(lambda each: each.answer_s * 1000, ".1f", "ms"), "reported", None),
        Figure(f"{what}: client's CPU", pair(lambda each: each.own_s / count * 1e6, ".0f", "us"), "reported", None),
        Figure(f"{what}: servers' CPU", pair(lambda each: each.servers_s / count * 1e6, ".0f", "us"), "reported", None),
        Figure(f"{what}: refused", f"{_told(told[SINGLES])} / {_told(told[BATCHES])}", "reported", None),
    ]


async def _measured(found: Sequence[NatsServer], run: Run, go: Callable[[int], Awaitable[None]], rounds: int) -> Took:
    used, theirs, begin = time.process_time(), servers_s(found), time.perf_counter()
    await go(rounds)
    all_s = time.perf_counter() - begin
    return Took(all_s, statistics.median(run.answers_s), time.process_time() - used, servers_s(found) - theirs)


class Run:
    """Sessions of a run's own, and what was told of their messages."""

    def __init__(self, connection: Connection, sessions: int) -> None:
        name = token_hex(4)
        self.connection = connection
        self.subjects = [subjects.journal("box", f"{name}-{number}") for number in range(sessions)]
        self.fences = [0] * sessions
        self.told: Counter[str] = Counter()
        self.answers_s: list[float] = []

    async def singles(self, rounds: int) -> None:
        """Each session with one in flight."""
        await asyncio.gather(*(self._one_by_one(index, rounds) for index in range(len(self.subjects))))

    async def batches(self, rounds: int) -> None:
        """One batch in flight, with a message of each session."""
        for _ in range(rounds):
            await self._settle(range(len(self.subjects)), self._batch)

    async def _one_by_one(self, index: int, rounds: int) -> None:
        for _ in range(rounds):
            await self._settle((index,), self._single)

    async def _settle(self, which: Sequence[int], send: Callable[[list[Message]], Awaitable[Ack | Refusal]]) -> None:
        """Send a message of each of these sessions until all are stored."""
        begin = time.perf_counter()
        while True:
            answer = await self._told(send, which)
            if await self._is_stored(which, answer):
                break
            await asyncio.sleep(AGAIN_S)
        self.answers_s.append(time.perf_counter() - begin)

    async def _is_stored(self, which: Sequence[int], answer: Ack | None) -> bool:
        if answer is not None:
            for place, index in enumerate(reversed(which)):
                self.fences[index] = answer.seq - place
            return True
        last = [await jetstream.last_message(self.connection, subjects.JOURNAL, self.subjects[index]) for index in which]
        before = [self.fences[index] for index in which]
        now = [0 if each is None else each.seq for each in last]
        for index, seq in zip(which, now, strict=True):
            self.fences[index] = seq
        return all(seq > was for seq, was in zip(now, before, strict=True))  # all or none: only its answer got lost

    async def _told(self, send: Callable[[list[Message]], Awaitable[Ack | Refusal]], which: Sequence[int]) -> Ack | None:
        try:
            answer = await send([self._message(index) for index in which])
        except (ClusterUnavailable, NodeAway, NodeSilent) as error:
            self.told[type(error).__name__] += 1
            return None
        if isinstance(answer, Ack):
            return answer
        self.told[str(answer.err_code)] += 1
        return None

    def _message(self, index: int) -> Message:
        headers = {**wire.entries_headers(1, 1, 4), EXPECTED_STREAM: subjects.JOURNAL, FENCE: str(self.fences[index])}
        return self.subjects[index], GROUP, headers

    async def _single(self, messages: list[Message]) -> Ack | Refusal:
        return await jetstream.publish(self.connection, *messages[0])

    async def _batch(self, messages: list[Message]) -> Ack | Refusal:
        return await jetstream.publish_batch(self.connection, token_hex(8), messages)


def _told(told: Counter[str]) -> str:
    return " ".join(f"{count} x {name}" for name, count in told.items()) or "0"


class InRounds(Connection):
    """A connection that sends what the shipper sends in atomic batches: all that waits when the last batch is stored."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._waiting: list[tuple[Message, asyncio.Future[Msg]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def request(self, subject: str, body: bytes = b"", *, headers: dict[str, str] | None = None,
                      within_s: float = ANSWER_WITHIN_S) -> Msg:
        """As ever, and with others' where it goes to the journal's stream."""
        if not subject.startswith("tl.j.") or headers is None or "Nats-Batch-Id" in headers:
            return await super().request(subject, body, headers=headers, within_s=within_s)
        answer: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self._waiting.append(((subject, body, headers), answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    async def _send(self) -> None:
        await asyncio.sleep(0)  # all who are at it now
        while self._waiting:
            these, self._waiting = self._waiting[:MOST_A_BATCH], self._waiting[MOST_A_BATCH:]
            stored = await jetstream.publish_batch(self, token_hex(8), [message for message, _ in these])
            for (message, answer), back in zip(these, reversed(range(len(these))), strict=True):
                if isinstance(stored, Ack):
                    answer.set_result(Msg(self.client, data=msgspec.json.encode({"seq": stored.seq - back})))
                else:  # alone each learns its own fate
                    subject, body, headers = message
                    answer.set_result(await super().request(subject, body, headers=headers))
        self._sending = None


async def _ship_both_ways(found: Sequence[NatsServer], count: int, times: int) -> Figure:
    """The shipper of (D) over a connection that sends singly, and over one that batches."""
    took: dict[type[Connection], list[tuple[float, float, float]]] = {Connection: [], InRounds: []}
    for number in range(times):
        for kind in (Connection, InRounds) if number % 2 == 0 else (InRounds, Connection):
            with TemporaryDirectory(prefix="trunkline-bench-") as folder:
                took[kind].append(await shipped(found, Path(folder), SHIPPED_SESSIONS, count, kind))
    ratios = [statistics.median(one[at] / other[at] for one, other in zip(took[Connection], took[InRounds], strict=True))
              for at in range(3)]
    rates = [count / statistics.median(each[0] for each in took[kind]) for kind in (Connection, InRounds)]
    return Figure(f"H  {SHIPPED_SESSIONS} sessions on {len(found)}, shipped: time, client's and servers' CPU",
                  f"{rates[0]:,.0f} / {rates[1]:,.0f} a s; {' '.join(f'{ratio:.2f}' for ratio in ratios)}", "reported", None)


def main() -> int:
    """Count refusals on three servers."""
    with servers(3) as found:
        figure = uvloop.run(refusals(found, float(sys.argv[1])))
    print(f"{figure.what}: {figure.value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
