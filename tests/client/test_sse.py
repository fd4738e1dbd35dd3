"""Server-Sent Events from bytes."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunkline.client import records
from trunkline.client.records import EventParser, ServerEvent
from trunkline.errors import Unavailable

STREAM = (
    b": keepalive 3\n\n"
    b"event: message\nid: 4\ndata: {\"a\":1}\n\n"
    b"data: one\ndata: two\r\n\r\n"
    b"id: 9\n\n"
    b"event: other\rid:10\rdata:no space\r\r"
    b"retry: 1500\n\n"
    b"data: not finished\n"
)
EVENTS = [
    ServerEvent(b'{"a":1}', "message", "4"),
    ServerEvent(b"one\ntwo", "message", None),
    ServerEvent(b"no space", "other", "10"),
]


def test_frames_become_events_and_comments_do_not() -> None:
    assert EventParser().feed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_where_the_bytes_are_cut_does_not_matter(cuts: list[int]) -> None:
    parser = EventParser()
    places = [0, *sorted(cuts), len(STREAM)]
    events = [event for start, end in pairwise(places) for event in parser.feed(STREAM[start:end])]
    assert events == EVENTS
    assert parser.last_id == "10"
    assert parser.retry_s == 1.5


def test_a_frame_with_only_an_id_moves_the_position() -> None:
    parser = EventParser("5")
    assert parser.feed(b"id: 8\n\n") == []
    assert parser.last_id == "8"


def test_an_id_with_a_zero_byte_is_ignored() -> None:
    parser = EventParser("5")
    assert parser.feed(b"id: 6\x00\ndata: x\n\n") == [ServerEvent(b"x", "message", None)]
    assert parser.last_id == "5"


def test_one_large_frame_in_small_pieces_costs_linear_time() -> None:
    parser = EventParser()
    piece = b"x" * 4096
    started = time.process_time()
    parser.feed(b"data: ")
    for _ in range(4096):
        parser.feed(piece)
    (event,) = parser.feed(b"\n\n")
    assert len(event.data) == 16 << 20
    assert time.process_time() - started < 1.0  # quadratic copying of 16 MiB in 4096 steps would take many seconds


def test_an_event_without_an_end_is_read_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "FRAME_MOST", 10_000)
    parser = EventParser()
    for _ in range(20):
        assert len(parser.feed(b"data: " + b"x" * 9_000 + b"\n\n")) == 1, "each counts for itself"
    parser.feed(b"data: " + b"x" * 9_000)
    with pytest.raises(Unavailable, match="an event of more than"):
        parser.feed(b"x" * 9_000)
