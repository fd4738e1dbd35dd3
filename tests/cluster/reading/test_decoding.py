"""What a message of the stream may make a reader show, and what it may cost."""

from __future__ import annotations

import json

import pytest

from tests.aio import run
from trunkline.cluster import wire
from trunkline.cluster.reading.decoding import as_its_own, entries_in
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import CustomEvent
from trunkline.journal.base import Entry


def said(seq: int = 3, session_id: str = "own") -> bytes:
    return json.dumps({"seq": seq, "sessionId": session_id, "timestamp": "2026-01-01T00:00:00.000Z", "type": "x"}).encode()


def is_gap(entry: Entry) -> bool:
    event = decode_event(entry.event)
    return isinstance(event, CustomEvent) and event.event_name == "gap"


def test_an_entry_as_a_hub_writes_it_is_shown_as_it_is() -> None:
    entry = Entry(3, 1, said(), b'{"a":\r1}', b"{}")
    assert as_its_own("own", entry) is entry


@pytest.mark.parametrize("entry", [
    Entry(3, 1, said(session_id="other")),
    Entry(3, 1, said(seq=4)),
    Entry(3, 1, b'{"sessionId":"own",' + said(session_id="other")[1:]),
    Entry(3, 1, said() + b"\n\ndata: " + said(session_id="other")),
    Entry(3, 1, said().replace(b",", b",\n")),
    Entry(3, 1, said().replace(b",", b",\r")),
    Entry(3, 1, said() + said(session_id="other")),
    Entry(3, 1, b"{}"),
    Entry(3, 1, b"\xff"),
    Entry(3, 1, b'{"x":' + b"[" * 100_000),
    Entry(3, 1, said(), b'{"a":1}},"params":{"sessionId":"other"'),
    Entry(3, 1, said(), None, b'{"a":1}{"b":2}'),
    Entry(3, -1, said()),
    Entry(3, 10 ** 18, said()),
], ids=["another session's", "another entry's", "both", "a frame behind it", "lines", "returns", "two", "nothing", "no text",
        "deep", "an update that goes on", "two packets", "before 1970", "no date"])
def test_an_entry_that_is_none_of_the_sessions_is_shown_as_a_gap(entry: Entry) -> None:
    shown = as_its_own("own", entry)
    assert is_gap(shown) and shown.seq == entry.seq and b"other" not in shown.event


def test_a_message_makes_a_reader_put_together_one_large_entry_at_most() -> None:
    fetched: list[int] = []

    async def fetch(seq: int) -> Entry:
        fetched.append(seq)
        return Entry(seq, 1, said(seq))

    headers = wire.entries_headers(1, 1, 3, {2: 1, 3: 1})
    found = run(entries_in("own", 9, headers, wire.entries_body([Entry(1, 1, said(1))]), fetch))
    assert fetched == [2]
    assert [(entry.seq, is_gap(entry)) for entry in found] == [(1, False), (2, False), (3, True)]
