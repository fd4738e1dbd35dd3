"""A line and the answers that real servers do not give on demand: it sends the same again until the group's fate is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from nats.aio.msg import Msg

from tests.journal.samples import entries
from tests.tooling.rows import every_row
from tests.virtual_time import run_in_virtual_time
from trunkline.cluster import jetstream, wire
from trunkline.cluster.shipping.line import Line
from trunkline.cluster.shipping.outbox import Outbox
from trunkline.cluster.shipping.pace import Pace
from trunkline.cluster.shipping.verdict import Ended, Taken
from trunkline.errors import ClusterDenied, ClusterUnavailable, NodeAway, NodeSilent
from trunkline.journal.base import Entry

Answer = dict[str, Any] | Exception | Callable[[str], Msg]


class Scripted:
    """Answers requests one by one, and keeps what was asked."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def wait_until_up(self) -> None: ...

    async def request(self, subject: str, body: bytes = b"", *, headers: dict[str, str] | None = None, within_s: float = 5
                      ) -> Msg:
        self.asked.append((subject, dict(headers or {})))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(subject) if callable(answer) else Msg(None, data=json.dumps(answer).encode())  # type: ignore[arg-type]


class ScriptedWay:
    """What a line needs of its node."""

    pool, owner, incarnation = "box", "box", "i1"

    def __init__(self, answers: list[Answer]) -> None:
        self.connection: Any = Scripted(answers)
        self.pace = Pace()
        self.troubles: list[str] = []
        self.lost: list[int] = []
        self.ended: list[Taken | Ended] = []

    def stored(self, line: Line) -> None: ...

    def trouble(self, line: Line, why: str) -> None:
        self.troubles.append(why)

    def went_back(self, line: Line, lost: int) -> None:
        self.lost.append(lost)

    def taken(self, line: Line, by: Taken | Ended) -> None:
        self.ended.append(by)


class NoJournal:
    """Everything is in memory."""

    async def read(self, session_id: str, **limits: Any) -> list[Entry]:
        raise AssertionError("the journal is not needed")


def refusal(err_code: int, description: str = "no") -> Answer:
    return {"error": {"code": 400, "err_code": err_code, "description": description}}


def last(seq: int, mark: dict[str, str]) -> Answer:
    """A replica's answer to what the last message is."""
    def answer(subject: str) -> Msg:
        headers = {**mark, "Nats-Subject": "tl.j.box.ses_1", "Nats-Sequence": str(seq)}
        return Msg(None, subject=subject, headers=headers)  # type: ignore[arg-type]

    return answer


ACK: Answer = {"stream": "TL_J", "seq": 9}


def ship(answers: list[Answer]) -> tuple[ScriptedWay, Line]:
    """A session with entries 1 to 3, of which nothing is shipped, met by these answers."""
    async def go() -> tuple[ScriptedWay, Line]:
        way = ScriptedWay(answers)
        line = Line(way, Outbox("ses_1", NoJournal(), 0, 0))
        line.outbox.add(entries(1, 3), 60)
        line.wake()
        await line.shipped(3)
        return way, line

    return run_in_virtual_time(go())


@every_row("between", [
    [refusal(jetstream.IN_FLIGHT)], [refusal(jetstream.DUPLICATE_IN_PROCESS)], [NodeSilent("timeout")],
    [NodeAway("no responders")], [ClusterUnavailable("disconnected")], [refusal(503, "temporarily")],
    [refusal(jetstream.STREAM_FULL)], [refusal(jetstream.ACCOUNT_FULL)], [ClusterDenied("not permitted")],
    [refusal(jetstream.IN_FLIGHT)] * 12 + [NodeSilent("timeout")] * 6 + [NodeAway("no leader")] * 6,
])
def test_the_same_is_sent_again_until_it_is_stored(between: list[Answer]) -> None:
    way, line = ship([*between, ACK])
    assert (line.fence, line.outbox.shipped, line.outbox.is_empty) == (9, 3, True)
    groups = [(headers[wire.SEQ], headers[jetstream.FENCE]) for _, headers in way.connection.asked]
    assert groups == [("1-3", "0")] * (len(between) + 1)
    assert all(jetstream.MSG_ID not in headers for _, headers in way.connection.asked)


def test_a_retry_of_what_went_through_is_known_by_the_last_message() -> None:
    """On one server the second try is refused: the group itself is what moved the fence."""
    _, line = ship([NodeSilent("the answer was lost"), refusal(jetstream.WRONG_LAST, "wrong last sequence: 9"),
                    last(9, wire.entries_headers(1, 1, 3))])
    assert (line.fence, line.outbox.shipped) == (9, 3)


def test_a_replica_that_lags_is_not_believed() -> None:
    way, line = ship([refusal(jetstream.WRONG_LAST, "wrong last sequence: 9"), last(4, wire.entries_headers(1, 1, 1)),
                      refusal(jetstream.WRONG_LAST, "wrong last sequence: 9"), last(9, wire.entries_headers(1, 1, 3))])
    assert (line.fence, line.outbox.shipped, way.lost) == (9, 3, [])


@pytest.mark.parametrize("why", [refusal(10060, "another stream"), refusal(jetstream.STREAM_FULL, "full")])
def test_what_somebody_should_look_at_is_told(why: Answer) -> None:
    way, _ = ship([why, ACK])
    assert len(way.troubles) == 1


def test_a_fault_of_ours_does_not_stop_a_session_for_good() -> None:
    way, line = ship([ValueError("a fault"), ACK])
    assert line.outbox.shipped == 3 and way.troubles == ["ValueError('a fault')"]
