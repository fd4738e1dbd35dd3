"""What a line is, by what it carries."""

from __future__ import annotations

import pytest
from msgspec import Raw

from tests.dialects.jsonrpc.peers import BEFORE, received
from tests.tooling.rows import every_row
from trunkline.dialects.jsonrpc import (
    Malformed,
    Notification,
    Peer,
    Request,
    Response,
    broken,
)


def test_a_line_with_method_and_no_id_is_a_notification() -> None:
    [message] = received(b'{"jsonrpc":"2.0","method":"session/update","params":{"a": [1, 2]}}\n')
    assert message == Notification("session/update", Raw(b'{"a": [1, 2]}'))


def test_a_notification_without_params_has_none() -> None:
    assert received(BEFORE) == [Notification("before", None)]


def test_a_line_with_method_and_id_is_a_request() -> None:
    [message] = received(b'{"jsonrpc":"2.0","id":"p1","method":"fs/read_text_file","params":{}}\n')
    assert message == Request(Raw(b'"p1"'), "fs/read_text_file", Raw(b"{}"))


@every_row(
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


@every_row(
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


def test_a_line_that_is_no_object_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(broken, "_read_again", read.append)
    peer = Peer()
    peer.receive_data(b'x\n"id\n7 8\n {"id":1,\n')
    assert [type(message) for message in peer.messages_received()] == [Malformed] * 4
    assert [line.strip() for line in read] == [b'{"id":1,']
