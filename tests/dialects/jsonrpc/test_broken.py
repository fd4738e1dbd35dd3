"""Lines that cannot be read: nobody waits for one whose id can be."""

from __future__ import annotations

import time

import pytest

from tests.dialects.jsonrpc.peers import received, sent
from tests.tooling.rows import every_row
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc import (
    MAX_LINE,
    Malformed,
    Peer,
    Response,
)
from trunkline.dialects.jsonrpc.broken import concerned
from trunkline.dialects.jsonrpc.lines import LARGE_LINE


@pytest.mark.parametrize(("line", "answered"), [
    (rb'{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"path":"\ud800"}}', 7),
    (rb'{"jsonrpc":"2.0","method":"m","params":{"a":["\udc00"]},"id":"x"}', "x"),
    (rb'{"id":1,"method":"\udbff"}', 1),
    (rb'{"id":"\ud800","method":"m"}', None),
])
def test_a_request_with_half_a_surrogate_pair_is_refused_by_its_id(line: bytes, answered: object) -> None:
    """Whoever asked waits for an answer: as noise it would wait for ever."""
    peer = Peer()
    [message] = received(line + b"\n", peer)
    assert isinstance(message, Malformed) and message.line == line
    [answer] = sent(peer)
    error = answer["error"]
    assert isinstance(error, dict) and (answer["id"], error["code"]) == (answered, ErrorCode.PARSE_ERROR)


LONG = b"x" * (LARGE_LINE + 1)
UNREADABLE = {
    "half a surrogate pair": rb'"\ud83d"', "no UTF-8": b'"\xff\xfe"', "too deep": b"[" * 100_000 + b"]" * 100_000,
    "cut short": b'{"a":',
    "long, with half a surrogate pair": b'"' + LONG + rb'\ud83d"', "long, and no UTF-8": b'"' + LONG + b'\xff"',
    "longer than a line may be": b'"' + b"y" * (MAX_LINE // 8) + b'"',
}


def with_limit() -> Peer:
    """A peer to which the longest of the lines here is too long."""
    return Peer(limit=MAX_LINE // 8)


@pytest.mark.parametrize("value", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_answer_that_cannot_be_read_ends_what_waits_for_it(value: bytes) -> None:
    """As noise it would be waited for until the agent counts as silent."""
    peer = with_limit()
    ours, other = peer.send_request("session/prompt"), peer.send_request("session/set_mode")
    peer.data_to_send()
    malformed, answer = received(b'{"jsonrpc":"2.0","id":%d,"result":{"x":%b}}\n' % (ours, value), peer)
    assert isinstance(malformed, Malformed)
    assert isinstance(answer, Response) and answer.id == ours
    assert answer.error is not None and "cannot be read" in answer.error.message
    assert list(peer.pending) == [other] and sent(peer) == []


@pytest.mark.parametrize("value", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_request_that_cannot_be_read_is_refused_by_its_id(value: bytes) -> None:
    peer = with_limit()
    [message] = received(b'{"jsonrpc":"2.0","id":"a-7","method":"fs/write_text_file","params":{"x":%b}}\n' % value, peer)
    assert isinstance(message, Malformed)
    [answer] = sent(peer)
    assert answer["id"] == "a-7" and "error" in answer


@every_row("value", [value for name, value in UNREADABLE.items() if not name.startswith(("cut", "longer"))])
def test_an_id_at_the_end_is_found_too(value: bytes) -> None:
    peer = with_limit()
    ours = peer.send_request("session/prompt")
    peer.data_to_send()
    _, answer = received(b'{"jsonrpc":"2.0","result":%b,"id":%d}\n' % (value, ours), peer)
    assert isinstance(answer, Response) and answer.error is not None
    received(b'{"method":"m","params":{"id":1,"x":%b},"jsonrpc":"2.0","id":8}\n' % value, peer)
    assert [each["id"] for each in sent(peer)] == [8]


@every_row("line", [
    b'{"params":{"id":1,"x":"\xff"},"method":"m"}', b'{"params":"\xff","x":{"id":1}}', b'"id":1,"result":"\xff"}',
    b'{"id":1,"level":"\xff"}', b'{"id":99,"result":"\xff"}', b'{"result":"' + LONG + b'\xff","x":{"id":1}}', b"[" * 9000,
    b'{"id":1,"x":' + b"[" * 300_000,
])
def test_a_line_whose_id_cannot_be_read_off_it_is_noise(line: bytes) -> None:
    peer = Peer()
    ours = peer.send_request("session/prompt")
    peer.data_to_send()
    [message] = received(line + b"\n", peer)
    assert isinstance(message, Malformed) and list(peer.pending) == [ours] and sent(peer) == []


@pytest.mark.parametrize("token", [b'"\xff"', rb'"\ud800"', b'{"a":"\xff"}', b'"%b\xff"' % (b"x" * 400)])
def test_an_id_that_cannot_be_said_again_is_null(token: bytes) -> None:
    peer = Peer()
    received(b'{"id":%b,"method":"m"}\n' % token, peer)
    assert [answer["id"] for answer in sent(peer)] == [None]


def test_to_find_whom_a_line_concerns_takes_little_however_it_is_made() -> None:
    hostile = [b'{"id":1,' * 100_000, b'{"id":"' + b"\\" * 500_000, b',"id":1' * 100_000 + b"}", b'{"' + b'a":"' * 200_000,
               b"{" + b" " * 600_000, b'{"id"' + b" " * 600_000 + b"}"]
    began = time.process_time()
    for line in hostile:
        concerned(line)
    assert time.process_time() - began < 1.0
