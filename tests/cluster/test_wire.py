"""A session's messages: what is written is read, what is not known is kept, what is broken is refused within bounds."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.samples import entries, entry
from tests.tooling.rows import every_row
from trunkline.cluster import wire
from trunkline.cluster.wire import Claim, End, Entries, Unknown
from trunkline.errors import Invalid
from trunkline.journal.base import Entry

GOLDEN = Path(__file__).parent.parent / "data" / "cluster"

MAYBE = st.none() | st.binary()
ENTRY = st.builds(Entry, seq=st.just(0), at=st.integers(0, 1 << 62), event=st.binary(max_size=2000), update=MAYBE, packet=MAYBE,
                  raw=MAYBE, pos=st.integers(0, 1 << 40), step=MAYBE)


def golden(version: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GOLDEN / f"v{version}.json").read_text())
    return found


@every_row("case", golden(1))
def test_messages_of_version_1_stay_readable(case: dict[str, Any]) -> None:
    message = wire.read_message(case["headers"], base64.b64decode(case["body"]))
    assert {"kind": type(message).__name__, **json.loads(msgspec.json.encode(message))} == case["reads"]


def test_entries_are_written_as_version_1_says() -> None:
    case = golden(1)[0]
    given_entries = [Entry(1, 10, b'{"type":"message:start"}', b"{}", b"{}", b"raw", 77, b"step"), Entry(2, 11, b"plain")]
    assert wire.entries_body(given_entries) == base64.b64decode(case["body"])
    assert wire.entries_headers(3, 1, 2) == case["headers"]


@given(st.lists(ENTRY, min_size=1, max_size=20), st.integers(1, 1 << 40))
def test_a_group_comes_back_without_the_places_of_its_node(found: list[Entry], first: int) -> None:
    for index, each in enumerate(found):
        each.seq = first + index
    last = first + len(found) - 1
    message = wire.read_message(wire.entries_headers(4, first, last), wire.entries_body(found))
    for each in found:
        each.pos = 0
    assert message == Entries(4, first, last, found, {})


def test_a_large_group_is_packed_and_a_small_one_is_not() -> None:
    assert wire.entries_body(entries(1, 3))[0] != 0x78
    large = entries(1, 500)
    body = wire.entries_body(large)
    assert body[0] == 0x78 and len(body) < 500 * 20
    assert wire.read_message(wire.entries_headers(1, 1, 500), body) == Entries(1, 1, 500, large, {})


def test_an_entry_may_be_in_parts_beside_the_group() -> None:
    headers = wire.entries_headers(1, 1, 3, {2: 7})
    message = wire.read_message(headers, wire.entries_body([entry(1), entry(3)]))
    assert isinstance(message, Entries) and message.parts == {2: 7} and [each.seq for each in message.entries] == [1, 3]
    large = entry(2, size=3 << 20)
    assert wire.read_entry(wire.entry_bytes(large)) == large


def test_claims_and_ends_come_back() -> None:
    claim = Claim(epoch=2, owner="box", incarnation="i1", after=40, why="asked by ada")
    end = End(epoch=2, owner="box", after=44, why="deleted")
    body, headers = wire.claim_message(claim)
    assert wire.read_message(headers, body) == claim
    body, headers = wire.end_message(end)
    assert wire.read_message(headers, body) == end


@pytest.mark.parametrize(("version", "kind"), [("2", "entries"), ("1", "note"), ("7", "")])
def test_what_is_not_known_is_kept_with_all_that_it_carries(version: str, kind: str) -> None:
    headers = {"Tl-V": version, "Tl-Kind": kind, "Tl-Epoch": "5", "Tl-Seq": "8-9"}
    assert wire.read_message(headers, b"later") == Unknown(int(version), kind, 5, 8, 9, b"later")


BROKEN_HEADERS: list[dict[str, str]] = [
    {}, {"Tl-V": "1", "Tl-Kind": "entries"}, {"Tl-V": "x", "Tl-Kind": "entries", "Tl-Epoch": "1"},
    *({"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "1", "Tl-Seq": seqs} for seqs in ("1", "2-1", "0-1", "a-b", "1-²", "1-3")),
    {"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "1", "Tl-Seq": "1-2", "Tl-Parts": "x"},
    {"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "1", "Tl-Seq": "1-2", "Tl-Parts": "2:0"},
]


@every_row("headers", BROKEN_HEADERS)
def test_what_is_broken_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        wire.read_message(headers, wire.entries_body(entries(1, 2)))


@pytest.mark.parametrize("body", [b"", b"\x78", b"\x78\x9cjunk", b"\x91", b"\xff" * 40, zlib.compress(b"\x90")[:-3]])
def test_a_body_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        wire.read_message(wire.entries_headers(1, 1, 2), body)


def test_a_body_cannot_unpack_to_more_than_a_group_may_have() -> None:
    bomb = zlib.compress(bytes(64 << 20))
    assert len(bomb) < 1 << 17
    with pytest.raises(Invalid, match="larger than"):
        wire.read_message(wire.entries_headers(1, 1, 2), bomb)


def test_places_rise_with_messages_and_within_one_and_fit_a_javascript_number() -> None:
    assert wire.pos_of(7, wire.GROUP_ENTRIES - 1) < wire.pos_of(8, 0)
    assert wire.stream_seq_of(wire.pos_of(7, 4095)) == 7
    assert wire.pos_of(2 * 10**12, 0) < 2**53


def test_a_place_says_its_generation_and_its_message() -> None:
    for generation in (0, 1, 126, 127):
        place = wire.base_of(generation) + wire.pos_of((1 << 34) - 1, 4095)
        assert place < 1 << 53 and wire.stream_seq_of(place) == (1 << 34) - 1
        assert wire.is_same_base(place, wire.base_of(generation)) and not wire.is_same_base(place, wire.base_of(generation + 1))
    assert not wire.is_same_base(1 << 40, wire.base_of(0)), "a hub's own place is of none"
