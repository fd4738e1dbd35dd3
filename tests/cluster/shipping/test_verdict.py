"""The table of answers: each row says what is known, and no row guesses."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.shipping.verdict import (
    Again,
    Ended,
    Foreign,
    Full,
    Moved,
    Refused,
    Stored,
    Taken,
    WentBack,
    of_answer,
    of_last,
)
from trunkline.cluster.wire import Mark


@every_row(("answer", "means"), [
    (Ack(7), Stored(20, 7)),
    (Ack(7, duplicate=True), Stored(20, 7)),
    (Refusal(400, 10164, "wrong last sequence"), Again()),
    (Refusal(409, 10158, "duplicate message id is in process"), Again()),
    (Refusal(400, 10071, "wrong last sequence: 12"), Moved(12)),
    (Refusal(400, 10071, "wrong last sequence: 0"), Moved(0)),
    (Refusal(503, 10077, "maximum bytes exceeded"), Full("maximum bytes exceeded")),
    (Refusal(500, 10047, "account resources exceeded"), Full("account resources exceeded")),
    (Refusal(400, 10060, "expected stream does not match"), Refused("expected stream does not match (10060)")),
    (Refusal(400, 10071, "in words that we do not know"), Refused("in words that we do not know (10071)")),
])
def test_an_answer_means(answer: Ack | Refusal, means: object) -> None:
    assert of_answer(answer, 20) == means


@every_row(("last", "means"), [
    # The owner of epoch 3 has shipped up to 10; its next group, 11 to 20, met a fence that moved to message 50.
    ((Mark("entries", 3, 20, None), 50), Stored(20, 50)),
    ((Mark("entries", 3, 10, None), 50), Stored(10, 50)),
    ((Mark("entries", 3, 40, None), 50), Stored(40, 50)),
    ((Mark("entries", 3, 41, None), 50), Foreign(50, "a message speaks of entry 41, and this node has 40")),
    ((Mark("later", 3, 20, None), 50), Stored(20, 50)),
    ((Mark("later", 3, 0, None), 50), Foreign(50, "a message of kind 'later' names no entries")),
    ((Mark("claim", 4, 0, 20), 50), Taken(4, 20)),
    ((Mark("claim", 4, 0, 10), 50), Taken(4, 10)),
    ((Mark("entries", 4, 25, 12), 50), Taken(4, 12)),
    ((Mark("end", 4, 0, 12), 50), Taken(4, 12)),
    ((Mark("entries", 3, 6, None), 50), WentBack(6, 50, 3)),
    ((Mark("claim", 3, 0, 2), 50), WentBack(2, 50, 3)),
    ((Mark("claim", 3, 0, 10), 50), Stored(10, 50)),
    ((Mark("entries", 2, 10, None), 50), WentBack(10, 50, 2)),
    (None, WentBack(0, 0, 0)),
    ((Mark("later", 4, 0, None), 50), Taken(4, 0)),
    ((Mark("end", 3, 0, 20), 50), Ended()),
])
def test_the_last_message_means(last: tuple[Mark, int] | None, means: object) -> None:
    assert of_last(last, epoch=3, shipped=10, newest=40) == means
