"""Numbers and credits: a body arrives as it was sent, in whatever pieces; what is missing or too much is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.cluster.tunnel.flow import PIECE_BYTES, WINDOW, Flow, pieces
from trunkline.cluster.tunnel.frames import Kind, encode, encode_count
from trunkline.errors import NodeSilent


class Pipe:
    """Two ends, and the messages between them in order. ``taken`` is what the far end has used."""

    def __init__(self) -> None:
        self.near, self.far = Flow(), Flow()
        self.under_way: list[bytes] = []
        self.taken: list[bytes] = []
        self.most_held = 0

    def send(self, body: bytes) -> None:
        """All pieces of a body, as far as each has credit; the far end takes what came to make room."""
        for piece in pieces(body):
            if not self.near.may_send:
                self.deliver()
            self.under_way.append(self.near.send(Kind.PIECE, piece))

    def deliver(self) -> None:
        came = [self.far.receive(message) for message in self.under_way]
        self.most_held = max(self.most_held, len(came))
        self.under_way.clear()
        for frame in came:
            self.taken.append(frame.body)
            if (credit := self.far.take()) is not None:
                self.near.receive(credit)


@given(st.lists(st.binary(max_size=300), max_size=60), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_a_body_in_any_pieces_arrives_as_it_was_sent(bodies: list[bytes], data: st.DataObject) -> None:
    pipe = Pipe()
    for body in bodies:
        pipe.send(body)
        if data.draw(st.booleans()):
            pipe.deliver()
    pipe.deliver()
    assert b"".join(pipe.taken) == b"".join(bodies)
    assert pipe.most_held <= WINDOW


@given(st.integers(0, 5 * PIECE_BYTES))
@settings(max_examples=examples(20), deadline=None)
def test_a_long_body_is_cut_into_pieces_that_are_it(length: int) -> None:
    body = bytes(length)
    parts = list(pieces(body))
    assert b"".join(parts) == body
    assert all(0 < len(part) <= PIECE_BYTES for part in parts)


@given(st.integers(1, 30), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_a_message_that_is_lost_is_noticed_with_the_next(count: int, data: st.DataObject) -> None:
    near, far = Flow(), Flow()
    messages = [near.send(Kind.BEAT) for _ in range(count)] + [near.send(Kind.BEAT)]
    lost = data.draw(st.integers(0, count - 1))
    for message in messages[:lost]:
        far.receive(message)
    with pytest.raises(NodeSilent, match=f"message {lost} of a tunnel was lost"):
        far.receive(messages[lost + 1])


def test_a_message_that_comes_twice_is_refused() -> None:
    near, far = Flow(), Flow()
    message = near.send(Kind.PIECE, b"once")
    far.receive(message)
    with pytest.raises(NodeSilent):
        far.receive(message)


def test_nobody_sends_more_than_its_credit() -> None:
    near = Flow()
    for _ in range(WINDOW):
        near.send(Kind.PIECE, b"x")
    assert not near.may_send
    near.receive(encode(Kind.CREDIT, 0, encode_count(WINDOW + 2)))
    assert near.may_send


def test_who_sends_without_credit_is_cut_off() -> None:
    far = Flow()
    for number in range(WINDOW):
        far.receive(encode(Kind.PIECE, number, b"x"))
    with pytest.raises(NodeSilent, match="more than it may"):
        far.receive(encode(Kind.PIECE, WINDOW, b"x"))


def test_a_piece_over_its_size_is_cut_off() -> None:
    with pytest.raises(NodeSilent, match="more than it may"):
        Flow().receive(encode(Kind.LAST, 0, bytes(PIECE_BYTES + 1)))


def test_a_credit_opens_no_more_than_one_window() -> None:
    near = Flow()
    near.receive(encode(Kind.CREDIT, 0, encode_count(10_000)))
    for _ in range(WINDOW):
        near.send(Kind.PIECE)
    assert not near.may_send


def test_an_end_counts_whatever_its_number() -> None:
    assert Flow().receive(encode(Kind.END, 40, b"why")).body == b"why"
