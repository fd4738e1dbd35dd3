"""The bytes of a message: what was written is read again, and what is none of ours is refused by its name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.cluster.tunnel.frames import Frame, Kind, decode, decode_count, encode, encode_count
from trunkline.errors import NodeSilent, NodeVersion, TrunklineError

GOLDEN = {
    Kind.OPEN: "010100000000", Kind.HEAD: "010200000001", Kind.PIECE: "010300000002", Kind.LAST: "010400000003",
    Kind.TEXT: "010500000004", Kind.BINARY: "010600000005", Kind.CREDIT: "010700000006", Kind.BEAT: "010800000007",
    Kind.END: "010900000008",
}
"""What version 1 begins with; it never changes."""


@given(st.sampled_from(Kind), st.integers(0, 2**32 - 1), st.binary(max_size=64))
@settings(max_examples=examples(100), deadline=None)
def test_what_is_written_is_read_again(kind: Kind, number: int, body: bytes) -> None:
    assert decode(encode(kind, number, body)) == Frame(kind, number, body)


def test_messages_of_version_1_stay_as_they_are() -> None:
    for number, (kind, head) in enumerate(GOLDEN.items()):
        assert encode(kind, number, b"body").hex() == head + b"body".hex()
        assert decode(bytes.fromhex(head) + b"body") == Frame(kind, number, b"body")


def test_another_version_is_refused_by_its_name() -> None:
    with pytest.raises(NodeVersion, match="version 1 of the tunnel, not version 7") as refused:
        decode(b"\x07whatever that version has to say")
    assert refused.value.details == {"speaks": 1, "got": 7}


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(NodeSilent, match="no messages of kind 99"):
        decode(b"\x01\x63\x00\x00\x00\x00")


@given(st.binary(max_size=40))
@settings(max_examples=examples(300), deadline=None)
def test_whatever_comes_is_a_message_or_an_error_of_the_tree(data: bytes) -> None:
    try:
        frame = decode(data)
    except TrunklineError:
        return
    assert encode(*frame) == data


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(30), deadline=None)
def test_a_credit_is_a_number(count: int) -> None:
    assert decode_count(encode_count(count)) == count


def test_a_credit_without_a_number_is_refused() -> None:
    with pytest.raises(NodeSilent):
        decode_count(b"\x01")
