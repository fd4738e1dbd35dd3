"""The JSON-RPC peer: what it takes, what it refuses, and that it never loses the line beside a bad one."""

from __future__ import annotations

import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tests.dialects.jsonrpc.peers import AFTER, BEFORE, comparable, on_wire, received, sent, streams, values
from tests.tooling.rows import every_row
from trunkline.dialects import jsonrpc
from trunkline.dialects.acp.methods import FS_READ_TEXT_FILE
from trunkline.dialects.error_codes import ErrorCode
from trunkline.dialects.jsonrpc import (
    Malformed,
    Message,
    Notification,
    Peer,
    Request,
    Response,
    RpcError,
)

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


@every_row("token", [b"2", b'"1"', b"1.0", b"null", b"-1", b"99999999999999999999999", b"[1]"])
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


@every_row(("data", "code"), [
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


def test_a_request_by_too_long_an_id_is_refused() -> None:
    peer, messages = on_wire(id="i" * jsonrpc.ID_BYTES, method=FS_READ_TEXT_FILE, params={})
    assert [type(message) for message in messages] == [Malformed]
    assert b'"id":null,"error"' in b"".join(peer.data_to_send())
    peer, messages = on_wire(id="i" * (jsonrpc.ID_BYTES - 2), method=FS_READ_TEXT_FILE, params={})
    assert [type(message) for message in messages] == [jsonrpc.Request]


def test_the_id_of_a_request_does_not_hold_its_line() -> None:
    tracemalloc.start()
    try:
        ids = [request.id for _ in range(8) for request in on_wire(
            id=7, method=FS_READ_TEXT_FILE, params={"x": "p" * 1_000_000})[1] if isinstance(request, jsonrpc.Request)]
        assert len(ids) == 8
        assert tracemalloc.get_traced_memory()[0] < 4_000_000, "the lines are gone"
    finally:
        tracemalloc.stop()
