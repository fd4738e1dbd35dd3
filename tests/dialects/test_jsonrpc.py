"""The JSON-RPC peer: what it takes, what it refuses, and that it never loses the line beside a bad one."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.tooling.rows import every_row
from trunkline.dialects import jsonrpc
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc import (
    KEPT_OF_MALFORMED,
    MAX_LINE,
    LineSplitter,
    Malformed,
    Message,
    Notification,
    Peer,
    Request,
    Response,
    RpcError,
    broken,
)
from trunkline.dialects.jsonrpc.broken import concerned
from trunkline.dialects.jsonrpc.lines import LARGE_LINE

BEFORE = b'{"jsonrpc":"2.0","method":"before"}\n'
AFTER = b'{"jsonrpc":"2.0","method":"after","params":{"n":1}}\n'


def received(data: bytes, peer: Peer | None = None) -> list[Message]:
    peer = peer or Peer()
    peer.receive_data(data)
    return peer.messages_received()


def sent(peer: Peer) -> list[dict[str, object]]:
    return [json.loads(line) for line in peer.data_to_send()]


def comparable(messages: list[Message]) -> list[object]:
    """Messages as plain values: Raw compares by bytes."""
    return [_plain(message) for message in messages]


def _plain(value: object) -> object:
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, msgspec.Struct):
        return (type(value).__name__, *(_plain(getattr(value, name)) for name in value.__struct_fields__))
    return value


def in_pieces(data: bytes, cuts: list[int], make: Callable[[], Peer] = Peer) -> list[object]:
    peer = make()
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        peer.receive_data(data[start:end])
    peer.receive_eof()
    return comparable(peer.messages_received())


# -- what a line may be ------------------------------------------------------------------------------------------------


def test_a_line_with_method_and_no_id_is_a_notification() -> None:
    [message] = received(b'{"jsonrpc":"2.0","method":"session/update","params":{"a": [1, 2]}}\n')
    assert message == Notification("session/update", Raw(b'{"a": [1, 2]}'))


def test_a_notification_without_params_has_none() -> None:
    assert received(BEFORE) == [Notification("before", None)]


def test_a_line_with_method_and_id_is_a_request() -> None:
    [message] = received(b'{"jsonrpc":"2.0","id":"p1","method":"fs/read_text_file","params":{}}\n')
    assert message == Request(Raw(b'"p1"'), "fs/read_text_file", Raw(b"{}"))


@pytest.mark.parametrize(
    "token",
    [b"0", b"-7", b"9223372036854775808", b"1.50", b"1e3", b'"1"', b'"a\\u00e9\\n"', b"null", b"true", b"[1, 2]", b'{"a": 1}'],
)
def test_a_request_id_of_any_json_type_is_echoed_byte_for_byte(token: bytes) -> None:
    peer = Peer()
    [message] = received(b'{"id":%b,"method":"m"}\n' % token, peer)
    assert isinstance(message, Request)
    peer.send_result(message.id, b'{"ok":true}')
    peer.send_error(message.id, -32603, "no")
    first, second = peer.data_to_send()
    assert first == b'{"jsonrpc":"2.0","id":%b,"result":{"ok":true}}\n' % token
    assert second == b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32603,"message":"no"}}\n' % token


def test_key_order_does_not_matter() -> None:
    [message] = received(b'{"params":{"b":2},"method":"m","id":3,"jsonrpc":"2.0"}\n')
    assert message == Request(Raw(b"3"), "m", Raw(b'{"b":2}'))


# -- answers -----------------------------------------------------------------------------------------------------------


def test_an_answer_finds_its_request() -> None:
    peer = Peer()
    first = peer.send_request("initialize", b'{"protocolVersion":1}')
    second = peer.send_request("session/new")
    assert dict(peer.pending) == {first: "initialize", second: "session/new"}
    messages = received(b'{"id":%d,"result":{"x":1}}\n{"id":%d,"result":{}}\n' % (second, first), peer)
    assert messages == [Response(second, Raw(b'{"x":1}')), Response(first, Raw(b"{}"))]
    assert not peer.pending


def test_an_error_answer_carries_code_message_and_data() -> None:
    peer = Peer()
    our_id = peer.send_request("m")
    [message] = received(b'{"id":%d,"error":{"code":-32000,"message":"log in","data":{"k": 1}}}\n' % our_id, peer)
    assert message == Response(our_id, error=RpcError(-32000, "log in", Raw(b'{"k": 1}')))


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (b'{"code":"400","message":"bad"}', 400, "bad"),
        (b'{"code":"E_X","message":"bad"}', -32603, "bad"),
        (b'{"message":"bad"}', -32603, "bad"),
        (b'{"code":-1,"message":{"text":"bad"}}', -1, '{"text":"bad"}'),
        (b'{"code":-1}', -1, '{"code":-1}'),
        (b'"just text"', -32603, '"just text"'),
        (b"[1]", -32603, "[1]"),
    ],
)
def test_an_error_in_any_shape_still_ends_its_request(error: bytes, code: int, message: str) -> None:
    peer = Peer()
    our_id = peer.send_request("m")
    [answer] = received(b'{"id":%d,"error":%b}\n' % (our_id, error), peer)
    assert isinstance(answer, Response) and answer.error is not None
    assert (answer.error.code, answer.error.message) == (code, message)
    assert not peer.pending


@pytest.mark.parametrize("tail", [b'"result":null', b'"result":null,"error":null', b'"error":null', b'"jsonrpc":"2.0"'])
def test_an_answer_without_a_result_counts_as_null(tail: bytes) -> None:
    peer = Peer()
    our_id = peer.send_request("m")
    assert received(b'{"id":%d,%b}\n' % (our_id, tail), peer) == [Response(our_id, Raw(b"null"))]


@pytest.mark.parametrize("token", [b"2", b'"1"', b"1.0", b"null", b"-1", b"99999999999999999999999", b"[1]"])
def test_an_answer_to_an_unknown_id_is_malformed_and_leaves_the_request_open(token: bytes) -> None:
    peer = Peer()
    our_id = peer.send_request("m")
    [message] = received(b'{"id":%b,"result":{}}\n' % token, peer)
    assert isinstance(message, Malformed)
    assert "unknown request" in message.why
    assert our_id in peer.pending
    assert len(peer.data_to_send()) == 1, "an answer is never answered"


def test_a_second_answer_to_one_request_is_malformed() -> None:
    peer = Peer()
    our_id = peer.send_request("m")
    answer = b'{"id":%d,"result":{}}\n' % our_id
    first, second = received(answer + answer, peer)
    assert isinstance(first, Response)
    assert isinstance(second, Malformed)


def test_an_error_without_an_id_is_malformed() -> None:
    [message] = received(b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}\n')
    assert isinstance(message, Malformed)
    assert message.why == "error without id"


# -- what we do not serve ----------------------------------------------------------------------------------------------


def test_a_request_that_is_not_served_is_answered_at_once_and_not_shown() -> None:
    peer = Peer(methods=["fs/read_text_file"])
    messages = received(b'{"id":1,"method":"craft/drain"}\n{"id":2,"method":"fs/read_text_file"}\n', peer)
    assert [message.method for message in messages if isinstance(message, Request)] == ["fs/read_text_file"]
    [answer] = sent(peer)
    assert answer["id"] == 1
    assert answer["error"] == {"code": ErrorCode.METHOD_NOT_FOUND, "message": "Method not found: craft/drain"}


def test_a_notification_that_nobody_knows_is_shown_and_not_answered() -> None:
    peer = Peer(methods=[])
    assert received(b'{"method":"_x.ai/thing"}\n', peer) == [Notification("_x.ai/thing", None)]
    assert peer.data_to_send() == []


@pytest.mark.parametrize("batch", [b"[]", b'[{"id":1,"method":"m"}]', b' [{"method":"m"},{"method":"n"}]\r', b"[1,2]"])
def test_a_batch_is_refused(batch: bytes) -> None:
    peer = Peer()
    first, middle, last = received(BEFORE + batch + b"\n" + AFTER, peer)
    assert isinstance(first, Notification) and isinstance(last, Notification)
    assert isinstance(middle, Malformed) and "batch" in middle.why
    [answer] = sent(peer)
    assert answer["id"] is None
    assert answer["error"] == {"code": ErrorCode.INVALID_REQUEST, "message": "Batches are not supported"}


@pytest.mark.parametrize("method", [b"7", b"null", b'["m"]'])
def test_a_request_whose_method_is_no_string_is_refused_by_its_id(method: bytes) -> None:
    peer = Peer()
    [message] = received(b'{"id":"x","method":%b}\n' % method, peer)
    assert isinstance(message, Malformed)
    [answer] = sent(peer)
    assert (answer["id"], answer["error"]) == ("x", {"code": ErrorCode.INVALID_REQUEST, "message": "The method must be a string"})


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


@pytest.mark.parametrize("value", [value for name, value in UNREADABLE.items() if not name.startswith(("cut", "longer"))])
def test_an_id_at_the_end_is_found_too(value: bytes) -> None:
    peer = with_limit()
    ours = peer.send_request("session/prompt")
    peer.data_to_send()
    _, answer = received(b'{"jsonrpc":"2.0","result":%b,"id":%d}\n' % (value, ours), peer)
    assert isinstance(answer, Response) and answer.error is not None
    received(b'{"method":"m","params":{"id":1,"x":%b},"jsonrpc":"2.0","id":8}\n' % value, peer)
    assert [each["id"] for each in sent(peer)] == [8]


@pytest.mark.parametrize("line", [
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


# -- junk --------------------------------------------------------------------------------------------------------------

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


# -- sending -----------------------------------------------------------------------------------------------------------


class Params(msgspec.Struct, rename="camel"):
    session_id: str


def test_params_may_be_bytes_structs_or_nothing() -> None:
    peer = Peer()
    peer.send_request("a", Params("s"))
    peer.send_request("b", b'{"x":1}')
    peer.send_request("c", Raw(b"[1]"))
    peer.send_notification("d")
    assert peer.data_to_send() == [
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"sessionId":"s"}}\n',
        b'{"jsonrpc":"2.0","id":2,"method":"b","params":{"x":1}}\n',
        b'{"jsonrpc":"2.0","id":3,"method":"c","params":[1]}\n',
        b'{"jsonrpc":"2.0","method":"d"}\n',
    ]
    assert peer.data_to_send() == []


def test_params_over_several_lines_are_sent_on_one() -> None:
    peer = Peer()
    peer.send_notification("m", b'{\n  "a": "line\\nbreak"\n}')
    [line] = peer.data_to_send()
    assert line.count(b"\n") == 1
    assert json.loads(line)["params"] == {"a": "line\nbreak"}


def test_a_result_may_be_nothing_and_an_error_may_have_data() -> None:
    peer = Peer()
    peer.send_result(Raw(b"1"))
    peer.send_error(Raw(b"2"), -32002, 'no "x"', b'{"uri":"x"}')
    first, second = sent(peer)
    assert first == {"jsonrpc": "2.0", "id": 1, "result": None}
    assert second["error"] == {"code": -32002, "message": 'no "x"', "data": {"uri": "x"}}


def test_cancelling_names_our_request_once_and_only_while_it_is_open() -> None:
    peer = Peer()
    our_id = peer.send_request("session/prompt", b"{}")
    peer.data_to_send()
    peer.send_cancel(our_id)
    assert sent(peer) == [{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": our_id}}]
    [answer] = received(b'{"id":%d,"error":{"code":-32800,"message":"cancelled"}}\n' % our_id, peer)
    assert isinstance(answer, Response) and answer.error is not None and answer.error.code == -32800
    peer.send_cancel(our_id)
    assert peer.data_to_send() == []


def test_the_peers_cancel_is_a_notification_with_its_own_id() -> None:
    [message] = received(b'{"method":"$/cancel_request","params":{"requestId":"perm_1"}}\n')
    assert message == Notification("$/cancel_request", Raw(b'{"requestId":"perm_1"}'))


# -- properties --------------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": values,
        "method": st.text(max_size=10) | st.just("session/update") | values,
        "params": values,
        "result": values,
        "error": values,
    },
)
lines = st.one_of(
    members.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    members.map(lambda value: json.dumps(value).encode()),
    st.lists(members, max_size=2).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
    st.sampled_from([b"", b"\r", b"\xef\xbb\xbf{}", b'{"method":"m"}\r', b"\xef\xbb\xbf", b'"\\ud800"']),
)
streams = st.lists(lines, max_size=12).map(b"\n".join)
cuts = st.lists(st.integers(0, 10_000), max_size=12)


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


@given(streams)
def test_a_good_line_survives_any_neighbours(data: bytes) -> None:
    messages = comparable(received(data + b"\n" + AFTER + data + b"\n"))
    assert ("Notification", "after", b'{"n":1}') in messages


@given(streams)
def test_whatever_comes_what_we_answer_is_a_message(data: bytes) -> None:
    peer = Peer(methods=[])
    received(data + b"\n", peer)
    for line in peer.data_to_send():
        assert line.endswith(b"\n") and line.count(b"\n") == 1
        answer = json.loads(line)
        assert answer["jsonrpc"] == "2.0"
        assert isinstance(answer["error"]["code"], int)


class Wire:
    """Two peers joined by bytes, cut at every ``step``."""

    def __init__(self, step: int) -> None:
        self.client, self.agent, self.step = Peer(), Peer(), step

    def pump(self, source: Peer, target: Peer) -> list[Message]:
        data = b"".join(source.data_to_send())
        for start in range(0, len(data), self.step):
            target.receive_data(data[start : start + self.step])
        return target.messages_received()


@given(st.lists(st.tuples(st.text(min_size=1), values), min_size=1, max_size=6), st.integers(1, 50), values)
def test_two_peers_understand_each_other(asked: list[tuple[str, object]], step: int, answer: object) -> None:
    wire = Wire(step)
    ids = [wire.client.send_request(method, json.dumps(params).encode()) for method, params in asked]
    wire.client.send_notification("done")
    *requests, note = wire.pump(wire.client, wire.agent)
    assert note == Notification("done", None)
    for (method, params), request in zip(asked, requests, strict=True):
        assert isinstance(request, Request) and request.params is not None
        assert (request.method, json.loads(bytes(request.params))) == (method, params)
        wire.agent.send_result(request.id, json.dumps(answer).encode())
    answers = wire.pump(wire.agent, wire.client)
    assert [message.id for message in answers if isinstance(message, Response)] == ids
    for message in answers:
        assert isinstance(message, Response) and message.result is not None
        assert json.loads(bytes(message.result)) == answer
    assert not wire.client.pending


def test_both_sides_may_use_the_same_ids_at_once() -> None:
    wire = Wire(3)
    ours = wire.client.send_request("session/prompt", b"{}")
    theirs = wire.agent.send_request("session/request_permission", b"{}")
    assert ours == theirs
    [asked] = wire.pump(wire.agent, wire.client)
    [prompted] = wire.pump(wire.client, wire.agent)
    assert isinstance(asked, Request) and isinstance(prompted, Request)
    wire.client.send_result(asked.id, b'{"outcome":{"outcome":"cancelled"}}')
    wire.agent.send_result(prompted.id, b'{"stopReason":"cancelled"}')
    assert wire.pump(wire.client, wire.agent) == [Response(theirs, Raw(b'{"outcome":{"outcome":"cancelled"}}'))]
    assert wire.pump(wire.agent, wire.client) == [Response(ours, Raw(b'{"stopReason":"cancelled"}'))]


@pytest.mark.parametrize(("data", "code"), [
    (b"nonsense", -32700), (b"{", -32700), (b"17", -32600), (b'{"jsonrpc":"2.0"}', -32600), (b"\xff", -32700),
])
def test_a_peer_that_complains_answers_what_is_no_message(data: bytes, code: int) -> None:
    peer = Peer(complains=True)
    peer.receive_message(data)
    (line,) = peer.data_to_send()
    answer = json.loads(line)
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    silent = Peer()
    silent.receive_message(data)
    assert silent.data_to_send() == []


def test_an_answer_that_nobody_waits_for_is_never_complained_about() -> None:
    peer = Peer(complains=True)
    peer.receive_message(b'{"jsonrpc":"2.0","id":9,"result":{}}')
    assert peer.data_to_send() == []


def test_a_message_may_have_line_breaks_where_it_is_framed_otherwise() -> None:
    peer = Peer()
    peer.receive_message(b'{"jsonrpc": "2.0",\n "method": "x",\n "params": {"a": "\xc3\xa4"}}')
    (message,) = peer.messages_received()
    assert isinstance(message, Notification) and message.method == "x"


def test_ids_of_ours_begin_where_they_are_told_to() -> None:
    peer = Peer(last_id=41)
    assert peer.send_request("x") == 42


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


def test_a_line_that_is_no_object_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(broken, "_read_again", read.append)
    peer = Peer()
    peer.receive_data(b'x\n"id\n7 8\n {"id":1,\n')
    assert [type(message) for message in peer.messages_received()] == [Malformed] * 4
    assert [line.strip() for line in read] == [b'{"id":1,']
