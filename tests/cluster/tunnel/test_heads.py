"""What a request, its answer and its end begin with: no credential passes, and only a few errors do."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.cluster.tunnel.heads import (
    BODY_BYTES,
    HEAD_BYTES,
    Claim,
    ReplyHead,
    RequestHead,
    decode_ending,
    decode_reply,
    decode_request,
    encode_ending,
    encode_head,
    passed_on,
)
from trunkline.errors import Invalid, NodeAway, NodeSilent, NotOwner, TooLarge, TrunklineError, Unauthorized

HEAD = RequestHead(method="POST", path="/sessions/s1/commands", query=b"a=1", headers=[(b"accept", b"application/json")],
                   body=b"{}", claim=Claim("t1", "phone (t1)", "control"), session="s1", epoch=3)
GOLDEN = (
    "88a66d6574686f64a4504f5354a470617468b52f73657373696f6e732f73312f636f6d6d616e6473a57175657279c403613d31a768656164657273"
    "9192c406616363657074c4106170706c69636174696f6e2f6a736f6ea4626f6479c4027b7da5636c61696d93a27431aa70686f6e6520287431"
    "29a7636f6e74726f6ca773657373696f6ea27331a565706f636803")
"""What version 1 opens a tunnel with; it never changes."""


def test_a_request_of_version_1_stays_as_it_is() -> None:
    assert encode_head(HEAD).hex() == GOLDEN
    assert decode_request(bytes.fromhex(GOLDEN)) == HEAD


def test_an_answer_and_an_end_of_version_1_stay_as_they_are() -> None:
    for made, golden in (
        (encode_head(ReplyHead(200, [(b"a", b"b")])), "82a6737461747573ccc8a7686561646572739192c40161c40162"),
        (encode_ending(NotOwner("moved", details={"epoch": 4})),
         "83a4636f6465a96e6f745f6f776e6572a76d657373616765a56d6f766564a764657461696c7381a565706f636804"),
    ):
        assert made.hex() == golden


def test_fields_that_a_later_writer_adds_are_no_fault() -> None:
    later = msgspec.msgpack.encode({**msgspec.to_builtins(HEAD, builtin_types=(bytes,)), "colour": "blue"})
    assert decode_request(later) == HEAD


def test_no_header_that_may_hold_a_credential_passes() -> None:
    kept = (b"accept", b"*/*")
    secret = [(b"authorization", b"Bearer x"), (b"cookie", b"a=b"), (b"set-cookie", b"a=b"), (b"proxy-authorization", b"x")]
    assert passed_on([*secret, kept, (b"transfer-encoding", b"chunked")]) == [kept]
    assert decode_request(encode_head(RequestHead(method="GET", path="/", headers=[*secret, kept]))).headers == [kept]
    assert decode_reply(encode_head(ReplyHead(200, [*secret, kept]))).headers == [kept]


def test_a_head_that_could_not_have_come_over_http_is_refused() -> None:
    for head, error in (
        (RequestHead(method="GET", path="/", headers=[(b"x", bytes(HEAD_BYTES))]), TooLarge),
        (RequestHead(method="GET", path="/", query=bytes(HEAD_BYTES + 1)), TooLarge),
        (RequestHead(method="GET", path="no slash"), Invalid),
        (RequestHead(method="GET", path="/", headers=[(b"Authorization", b"Bearer x")]), Invalid),
        (RequestHead(method="GET", path="/", headers=[(b"x", b"a\r\nset-cookie: b")]), Invalid),
        (RequestHead(method="GET", path="/", scheme="javascript"), Invalid),
        (RequestHead(method="POST", path="/", body=bytes(BODY_BYTES + 1)), Invalid),
    ):
        with pytest.raises(error):
            decode_request(encode_head(head))


@given(st.binary(max_size=60))
@settings(max_examples=examples(200), deadline=None)
def test_whatever_comes_is_a_head_or_an_error_of_the_tree(data: bytes) -> None:
    for read in (decode_request, decode_reply):
        try:
            read(data)
        except TrunklineError:
            continue
    decode_ending(data)


def test_an_answer_has_a_status_of_http_and_logs_nobody_out() -> None:
    for status in (20, 100, 103, 401, 600):
        with pytest.raises(NodeSilent, match=f"status {status}"):
            decode_reply(encode_head(ReplyHead(status)))


def test_an_answer_cannot_write_more_headers_than_it_has() -> None:
    for header in ((b"x", b"a\r\nset-cookie: b"), (b"x", b"a\x00"), (b"x\r\ny", b"a"), (b"", b"a"), (b"a b", b"c"), (b"X", b"a")):
        with pytest.raises(NodeSilent, match="a header that is none"):
            decode_reply(encode_head(ReplyHead(200, [header])))


def test_an_end_says_why() -> None:
    assert decode_ending(encode_ending(None)) is None
    for error in (NodeAway("gone"), NotOwner("moved", details={"epoch": 4})):
        told = decode_ending(encode_ending(error))
        assert (type(told), told and told.message, told and told.details) == (type(error), error.message, error.details)


def test_an_end_makes_nobody_log_out() -> None:
    told = decode_ending(encode_ending(Unauthorized("log in again")))
    assert isinstance(told, NodeSilent)
