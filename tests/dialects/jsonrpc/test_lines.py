"""Bytes to lines: junk, long lines, the end of the input, wherever the bytes are cut."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.dialects.jsonrpc.peers import AFTER, BEFORE, cuts, in_pieces, received, sent, streams
from tests.tooling.rows import every_row
from trunkline.dialects import jsonrpc
from trunkline.dialects.jsonrpc import (
    KEPT_OF_MALFORMED,
    LineSplitter,
    Malformed,
    Notification,
    Peer,
)

JUNK = {
    "a log line": b"Loading configuration ...",
    "a log line in brackets": b"[INFO] starting",
    "a scalar": b"42",
    "a string": b'"hello"',
    "an object that is no message": b'{"level":"info","msg":"ready"}',
    "a cut object": b'{"jsonrpc":"2.0","method":"m","params":{"a":',
    "two objects on one line": BEFORE.strip() + AFTER.strip(),
    "invalid UTF-8 in a string": b'{"jsonrpc":"2.0","method":"m","params":{"t":"\xff\xfe"}}',
    "invalid UTF-8 in a log line": b"caf\xe9",
    "a cut UTF-8 sequence": '{"method":"m","params":"é"}'.encode()[:-3] + b'"}',
    "a surrogate in UTF-8": b'{"method":"m","params":"\xed\xa0\x80"}',
    "a lone surrogate": b'{"jsonrpc":"2.0","method":"m","params":{"t":"\\ud83d"}}',
    "a lone surrogate in the method": b'{"jsonrpc":"2.0","method":"\\udc00"}',
    "100k-deep arrays": b'{"method":"m","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100k-deep objects": b'{"method":"m","params":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    "a 100k-deep batch": b"[" * 100_000 + b"]" * 100_000,
    "unclosed nesting": b"[" * 100_000,
    "a NUL": b"\x00",
    "NaN": b'{"method":"m","params":NaN}',
    "a comment": b'{"method":"m"} // done',
    "a tab in a string": b'{"method":"a\tb"}',
}


@every_row("junk", JUNK.values())
def test_junk_is_malformed_and_the_lines_around_it_survive(junk: bytes) -> None:
    peer = Peer()
    messages = received(BEFORE + junk + b"\n" + AFTER, peer)
    assert len(messages) == 3
    first, middle, last = messages
    assert first == Notification("before", None)
    assert last == Notification("after", Raw(b'{"n":1}'))
    assert isinstance(middle, Malformed)
    assert middle.line == junk[:KEPT_OF_MALFORMED]
    assert middle.size == len(junk)
    assert middle.why
    assert peer.data_to_send() == [], "noise is never answered"


@every_row("junk", JUNK.values())
def test_junk_byte_by_byte_is_the_same_junk(junk: bytes) -> None:
    data = BEFORE + junk[:20_000] + b"\n" + AFTER
    assert in_pieces(data, list(range(len(data)))) == in_pieces(data, [])


def test_invalid_utf8_split_over_two_reads_is_still_found() -> None:
    peer = Peer()
    peer.receive_data(b'{"method":"m","params":"\xff')
    peer.receive_data(b'"}\n' + AFTER)
    bad, good = peer.messages_received()
    assert isinstance(bad, Malformed) and "UTF-8" in bad.why
    assert isinstance(good, Notification)


def test_a_character_split_over_two_reads_is_whole_again() -> None:
    line = '{"method":"m","params":"\N{ROCKET}é"}\n'.encode()
    peer = Peer()
    peer.receive_data(line[:25])
    peer.receive_data(line[25:])
    [message] = peer.messages_received()
    assert message == Notification("m", Raw('"\N{ROCKET}é"'.encode()))


def test_carriage_returns_before_the_newline_are_no_part_of_the_message() -> None:
    assert received(BEFORE.replace(b"\n", b"\r\n") + AFTER) == received(BEFORE + AFTER)


@pytest.mark.parametrize("blank", [b"", b"\r", b"   ", b"\t\r"])
def test_blank_lines_are_ignored(blank: bytes) -> None:
    assert received(blank + b"\n" + BEFORE + blank + b"\n" + blank + b"\n" + AFTER) == received(BEFORE + AFTER)


def test_a_byte_order_mark_is_reported_and_its_message_survives() -> None:
    mark, first, last = received(b"\xef\xbb\xbf" + BEFORE + AFTER)
    assert mark == Malformed(b"\xef\xbb\xbf", "byte order mark", 3)
    assert first == Notification("before", None)
    assert isinstance(last, Notification)


def test_a_line_of_byte_order_marks_is_malformed_not_endless() -> None:
    messages = received(b"\xef\xbb\xbf " * 50_000 + b"\n" + AFTER)
    assert [type(message) for message in messages] == [Malformed, Malformed, Notification]


def test_a_byte_order_mark_before_a_request_that_is_not_served_is_answered_too() -> None:
    peer = Peer(methods=[])
    [mark] = received(b'\xef\xbb\xbf{"id":1,"method":"m"}\n', peer)
    assert isinstance(mark, Malformed)
    assert sent(peer)[0]["id"] == 1


# -- long lines --------------------------------------------------------------------------------------------------------


def test_a_line_over_the_limit_is_dropped_and_reported_in_its_place() -> None:
    long = b'{"method":"' + b"x" * 10_000 + b'"}'
    for step in (1, 7, 4096, 1_000_000):
        peer = Peer(limit=8192)
        data = BEFORE + long + b"\n" + AFTER
        for start in range(0, len(data), step):
            peer.receive_data(data[start : start + step])
        first, middle, last = peer.messages_received()
        assert isinstance(first, Notification) and isinstance(last, Notification)
        assert middle == Malformed(long[:KEPT_OF_MALFORMED], "longer than 8192 bytes", len(long))


def test_a_line_at_the_limit_is_taken() -> None:
    line = b'{"method":"%b"}' % (b"x" * 100)
    assert received(line + b"\n", Peer(limit=len(line))) == [Notification("x" * 100, None)]


def test_an_endless_line_holds_no_more_than_the_limit() -> None:
    splitter = LineSplitter(limit=1000)
    for _ in range(1000):
        assert splitter.feed(b"x" * 100) == []
    assert len(splitter._held) <= KEPT_OF_MALFORMED


@pytest.mark.parametrize("text", ["a", "é"])
def test_a_50_mb_line_takes_under_half_a_second_of_cpu(text: str) -> None:
    body = text.encode() * (50_000_000 // len(text.encode()))
    data = b'{"jsonrpc":"2.0","method":"m","params":{"t":"' + body + b'"}}\n' + AFTER
    blocks = [data[start : start + 65_536] for start in range(0, len(data), 65_536)]
    peer = Peer()
    began = time.process_time()
    for block in blocks:
        peer.receive_data(block)
    took = time.process_time() - began
    long, after = peer.messages_received()
    assert isinstance(long, Notification) and long.params is not None and len(bytes(long.params)) == len(body) + 8
    assert isinstance(after, Notification)
    assert took < 0.5


def test_cost_is_linear_when_a_line_comes_byte_by_byte() -> None:
    def cpu(size: int) -> float:
        peer = Peer()
        byte = b"x"
        began = time.process_time()
        for _ in range(size):
            peer.receive_data(byte)
        return time.process_time() - began

    small = min(cpu(50_000) for _ in range(3))
    large = min(cpu(400_000) for _ in range(3))
    assert large < small * 8 * 3


# -- end of input ------------------------------------------------------------------------------------------------------


def test_a_last_line_without_newline_counts_at_the_end() -> None:
    peer = Peer()
    peer.receive_data(BEFORE + AFTER.rstrip())
    assert len(peer.messages_received()) == 1
    peer.receive_eof()
    assert peer.messages_received() == [Notification("after", Raw(b'{"n":1}'))]
    peer.receive_eof()
    assert peer.messages_received() == []


def test_a_cut_last_line_is_malformed_at_the_end() -> None:
    peer = Peer()
    peer.receive_data('{"method":"é'.encode()[:-1])
    peer.receive_eof()
    [message] = peer.messages_received()
    assert isinstance(message, Malformed)


def test_an_over_long_last_line_is_reported_at_the_end() -> None:
    peer = Peer(limit=10)
    peer.receive_data(b"x" * 50)
    peer.receive_eof()
    assert peer.messages_received() == [Malformed(b"x" * 50, "longer than 10 bytes", 50)]


@given(streams, cuts)
def test_bytes_split_at_arbitrary_places_give_the_same_messages(data: bytes, where: list[int]) -> None:
    assert in_pieces(data, where) == in_pieces(data, [])


@given(streams)
def test_bytes_one_at_a_time_give_the_same_messages(data: bytes) -> None:
    assert in_pieces(data, list(range(len(data)))) == in_pieces(data, [])


@given(st.binary(max_size=400), cuts)
def test_arbitrary_bytes_split_at_arbitrary_places_give_the_same_messages(data: bytes, where: list[int]) -> None:
    def small() -> Peer:
        return Peer(limit=64, methods=["m"])

    assert in_pieces(data, where, small) == in_pieces(data, [], small)


def test_a_long_line_of_very_many_values_is_dropped_and_reported_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc.lines, "LARGE_LINE", 1000)
    monkeypatch.setattr(jsonrpc.lines, "VALUES_MOST", 500)
    peer = Peer()
    for data in (b'{"method":"a"}\n{"method":"b","params":[', b"1," * 700, b"1," * 700, b'1]}\n{"method":"c"}\n'):
        peer.receive_data(data)
    first, dropped, last = peer.messages_received()
    assert isinstance(dropped, Malformed)
    assert (dropped.why, dropped.size) == ("more than 500 values in one line", 2827)
    assert [each.method for each in (first, last) if isinstance(each, Notification)] == ["a", "c"]
