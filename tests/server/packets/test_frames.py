"""Packets as frames: what one write holds, and which position is behind it."""

from __future__ import annotations

import json

from tests.feeds.test_session import entries
from trunkline.errors import Invalid, SessionNotFound
from trunkline.feeds.session import WRITE_BYTES
from trunkline.journal.base import Entry
from trunkline.server.packets.frames import all_frames, failure_frame, packet_frames, packet_of
from trunkline.server.sse import sse_frame


def test_a_write_has_the_packet_of_every_entry_under_its_seq() -> None:
    frames, position = packet_frames(iter(entries(6, 15)), 5)
    assert position == 20
    assert frames == b"".join(sse_frame(entry.seq, packet_of(entry) or b"") for entry in entries(6, 15))
    assert frames == all_frames(entries(6, 15))


def test_one_write_is_bounded() -> None:
    batch = [Entry(seq, 1, b"{}", None, b'{"x":"%b"}' % (b"y" * 50_000)) for seq in range(1, 19)]
    frames, position = packet_frames(iter(batch), 0)
    assert WRITE_BYTES <= len(frames) <= WRITE_BYTES + 51_000 and position < 18


def test_an_entry_without_packet_moves_the_position_and_sends_nothing() -> None:
    assert packet_frames(iter([Entry(1, 1, b"{}")]), 0) == (b"", 1)


def test_a_failure_is_a_packet_without_an_id() -> None:
    head, data = failure_frame(Invalid("no", details={"field": "x"})).strip().split(b"\n")
    packet = json.loads(data.removeprefix(b"data: "))
    assert head == b"event: message"
    assert (packet["type"], packet["message"]) == ("error", "no")
    assert b"Session not found" in failure_frame(SessionNotFound("s1 is not there"))
