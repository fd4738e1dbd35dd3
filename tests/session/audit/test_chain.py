"""The chain of approvals: whatever is done to what was sealed, it shows."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.context.envelope import decode_event, encode_event
from trunkline.dialects.context.events import ApprovalResolvedEvent
from trunkline.errors import Invalid
from trunkline.session.audit.chain import Chain, extend, opened, sealed, verify

KEY = bytes(range(32))

SESSION = "s1"


def event(seq: int, approved: bool = True) -> bytes:
    resolved = ApprovalResolvedEvent(request_id=f"r{seq}", tool_call_id="c", approved=approved, resolved_by="user",
                                     meta={"by": "ann"})
    return encode_event(seq, SESSION, 1_800_000_000_000_000 + seq, resolved)


def chained(count: int) -> tuple[Chain, list[bytes]]:
    chain, events = Chain(), []
    for seq in range(1, count + 1):
        chain, stored = sealed(KEY, chain, SESSION, event(seq))
        events.append(stored)
    return chain, events


def checked(events: list[bytes], key: bytes = KEY, session: str = SESSION) -> bool:
    try:
        return verify(key, session, map(opened, events)).ok
    except Invalid:
        return False


def test_a_chain_that_nobody_touched_verifies_and_gives_its_head() -> None:
    chain, events = chained(20)
    found = verify(KEY, SESSION, map(opened, events))
    assert (found.ok, found.count, found.head) == (True, 20, chain.head)
    assert len(chain.head) == 64


def test_an_empty_chain_is_whole() -> None:
    assert verify(KEY, SESSION, []).ok


def test_a_sealed_event_is_still_the_event() -> None:
    chain, (stored,) = chained(1)
    read = decode_event(stored)
    assert isinstance(read, ApprovalResolvedEvent)
    assert read.approved and read.seq == 1
    assert read.meta == {"by": "ann", "chain": {"n": 1, "head": chain.head}}


def test_an_event_without_meta_is_sealed_too() -> None:
    bare = b'{"seq":1,"type":"approval:resolved"}'
    chain, stored = sealed(KEY, Chain(), SESSION, bare)
    assert opened(stored) == (bare, 1, chain.head)


@every_row("change", [
    lambda events: [events[0].replace(b"true", b"false"), *events[1:]],
    lambda events: [*events[:2], events[2].replace(b'"by":"ann"', b'"by":"bob"'), *events[3:]],
    lambda events: [*events[:2], *events[3:]],
    lambda events: events[1:],
    lambda events: [events[1], events[0], *events[2:]],
    lambda events: [*events, events[-1]],
    lambda events: [*events[:2], events[1], *events[2:]],
    lambda events: [*events[:2], events[2].replace(b'"approved":true', b'"approved":false,"approved":true'), *events[3:]],
    lambda events: [*events[:2], events[2].replace(b'"approved":true', b'"approved": true'), *events[3:]],
    lambda events: [*events[:2], event(3), *events[3:]],
    lambda events: [*events[:2], events[2].replace(b'"n":3', b'"n":3,"x":1'), *events[3:]],
    lambda events: [*events[:2], events[2].replace(b'"seq":3', b'"seq":4'), *events[3:]],
    lambda events: [*events[:2], events[2][:-5], *events[3:]],
])
def test_a_change_shows(change: object) -> None:
    _, events = chained(5)
    assert callable(change)
    assert not checked(change(events))


def test_another_key_or_another_session_does_not_verify() -> None:
    _, events = chained(2)
    assert not checked(events, key=bytes(32))
    assert not checked(events, session="s2")


def test_what_was_cut_off_at_the_end_shows_in_the_head() -> None:
    chain, events = chained(5)
    found = verify(KEY, SESSION, map(opened, events[:4]))
    assert found.ok and found.head != chain.head


def test_the_first_bad_record_is_named() -> None:
    _, events = chained(5)
    events[2] = events[2].replace(b"true", b"false")
    found = verify(KEY, SESSION, map(opened, events))
    assert (found.ok, found.count, found.first_bad) == (False, 2, 3)


def test_a_check_can_go_on_where_another_ended() -> None:
    chain, events = chained(5)
    half = verify(KEY, SESSION, map(opened, events[:2]))
    assert verify(KEY, SESSION, map(opened, events[2:]), start=Chain(half.count, half.head)).head == chain.head


@given(st.binary(max_size=20), st.binary(max_size=20), st.text(max_size=5), st.text(max_size=5))
def test_parts_cannot_be_shifted_between_session_and_record(one: bytes, other: bytes, here: str, there: str) -> None:
    if (one, here) != (other, there):
        assert extend(KEY, Chain(), here, one) != extend(KEY, Chain(), there, other)


NAMES = st.text(max_size=4)

JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8)


@given(st.dictionaries(NAMES, JSON, max_size=4), st.dictionaries(NAMES, JSON, max_size=3), st.booleans())
def test_what_was_sealed_opens_to_the_same_record(members: dict[str, object], meta: dict[str, object], spaced: bool) -> None:
    raw = msgspec.json.encode({**members, "_meta": meta})
    raw = msgspec.json.format(raw, indent=2) if spaced else raw
    chain, stored = sealed(KEY, Chain(), SESSION, raw)
    record, n, head = opened(stored)
    assert (n, head) == (1, chain.head)
    assert extend(KEY, Chain(), SESSION, record) == chain


@every_row("junk", [
    b"", b"[]", b"{", b'{"_meta":3}', b'{"_meta":{"chain":3}}', b'{"_meta":{"chain":{"n":"1","head":""}}}',
])
def test_junk_is_invalid_and_nothing_worse(junk: bytes) -> None:
    with pytest.raises(Invalid):
        opened(junk)
