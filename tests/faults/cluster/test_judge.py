"""Those who count can count: what is lost, twice, out of order, of two owners or not in the stream is found."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.faults.cluster.judge import TOKEN, Counts, History, check_requests, lost, steps_back, unlike
from tests.faults.cluster.keys import Keys
from tests.faults.cluster.load import Seen, Tally, play
from tests.faults.cluster.net import Link
from tests.faults.cluster.servers import refusals
from tests.tooling.nats import NatsServer
from tests.tooling.wire import Packet, Reply
from trunkline.cluster import subjects


def shown(*packets: tuple[int, bytes]) -> Seen:
    seen = Seen()
    for number, data in packets:
        seen.take(Packet(number, data))
    return seen


def test_what_was_shown_and_is_gone_or_changed_is_lost() -> None:
    truth = History(dict(shown((1, b"a"), (3, b"c")).shown), Counter())
    assert lost(shown((1, b"a"), (3, b"c")), truth) == 0
    assert lost(shown((1, b"a"), (2, b"b"), (3, b"other")), truth) == 2


def test_what_comes_twice_or_late_is_counted() -> None:
    seen = shown((1, b"a"), (3, b"c"), (3, b"c"), (2, b"b"))
    assert (seen.twice, seen.disorder, seen.last) == (1, 1, 3)


def test_a_stream_that_is_short_long_or_out_of_order_is_told() -> None:
    def of_one(*seqs: int) -> int:
        return unlike([(1, seq) for seq in seqs], 3)

    assert of_one(1, 2, 3) == 0
    assert all((of_one(1, 3), of_one(1, 2, 2, 3), of_one(1, 3, 2), of_one(2, 3), of_one(1, 2), of_one()))


def test_numbers_may_be_left_out_where_another_owner_took_over_and_nowhere_else() -> None:
    assert unlike([(1, 1), (1, 2), (2, 50), (2, 51)], 51) == 0
    assert unlike([(1, 1), (1, 2), (2, 2), (2, 3)], 3) == 1
    assert unlike([(1, 1), (2, 50), (2, 52)], 52) == 1


def test_an_owner_that_writes_behind_its_successor_is_counted() -> None:
    assert (steps_back([1, 1, 2, 2]), steps_back([1, 2, 1, 2])) == (0, 1)


def test_what_a_key_does_not_allow_is_told(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys", {"web": "gateway"}, "farm")

    async def go(url: str) -> None:
        async with connected(url, node="web", credentials=keys.file("web")) as web:
            await web.client.publish("tl.watching.web", b"")
            await web.client.flush()
            assert refusals([server]) == []
            await web.client.publish(subjects.journal("farm", "ses_1"), b"")
            await eventually(lambda: refusals([server]))

    with NatsServer(tmp_path / "nats", more=keys.config) as server:
        run(go(server.url))


def test_faults_are_told_and_the_rest_is_not() -> None:
    assert (Counts(shown=3, lost=1) + Counts(shown=2)).faults == {"lost": 1}


def test_a_prompts_token_is_found_where_it_is_shown() -> None:
    packet = json.dumps({"type": "user_message_chunk", "content": {"type": "text", "text": play("ses_1:7")}}).encode()
    found = TOKEN.search(packet)
    assert found is not None and found[1] == b"ses_1:7"


def test_a_request_without_an_answer_is_counted_as_hung() -> None:
    tally = Tally()

    def never() -> Reply:
        raise TimeoutError

    assert tally.ask("a prompt", never) is None
    with pytest.raises(AssertionError, match="over their deadline"):
        check_requests(tally)


def test_a_link_stands_still_one_way_and_loses_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = Link(server.getsockname()[1])
        with socket.create_connection(("127.0.0.1", link.port), 10) as client:
            inside, _ = server.accept()
            inside.settimeout(10)
            link.stall(forth=False)
            client.sendall(b"forth")
            assert inside.recv(10) == b"forth"
            inside.sendall(b"back")
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(10)
            link.mend()
            client.settimeout(10)
            assert client.recv(10) == b"back"
            link.cut()
            with pytest.raises(OSError):
                while client.recv(10):
                    pass
                raise ConnectionResetError
            inside.close()
        link.close()


def test_a_link_that_was_closed_leaves_no_thread() -> None:
    before = threading.active_count()
    Link(1).close()
    until = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < until
        time.sleep(0.01)
