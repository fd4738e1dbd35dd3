"""Frames of the WebSocket: read, refused, and put around an event's own bytes."""

from __future__ import annotations

import json

import pytest
from msgspec import UNSET

from trunkline.errors import Invalid
from trunkline.journal.base import Entry
from trunkline.server.context.ws import frames


def test_a_frame_is_read_by_its_type_and_unknown_fields_are_skipped() -> None:
    assert frames.decode('{"type":"ping","id":"1","more":2}') == frames.Ping(id="1")
    for broken in ("", "[]", '{"type":"unknown"}', '{"type":"subscribe","id":"1"}'):
        with pytest.raises(Invalid, match="not a frame"):
            frames.decode(broken)


def test_the_answer_to_a_broken_frame_has_its_id_where_there_is_one() -> None:
    assert frames.id_of('{"type":"unknown","id":"7"}') == "7"
    assert frames.id_of("{") is UNSET and frames.id_of('{"id":7}') is UNSET
    refusal = json.loads(frames.encode(frames.refusal("7", Invalid("no", details={"field": "x"}))))
    assert (refusal["type"], refusal["id"], refusal["ok"]) == ("ack", "7", False)
    assert refusal["error"]["details"] == {"field": "x"}


@pytest.mark.parametrize("subscription", [None, 'a "quoted" one'])
def test_an_event_goes_out_as_the_bytes_that_the_journal_has(subscription: str | None) -> None:
    entry = Entry(3, 1, b'{"seq":3,  "x":"\\u00e4"}', pos=9)
    text = frames.event_frame(frames.event_prefix(subscription), entry)
    assert entry.event in text
    read = json.loads(text)
    assert (read["type"], read["pos"], read.get("subscription")) == ("event", 9, subscription)
