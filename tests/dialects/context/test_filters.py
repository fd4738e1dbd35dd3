"""Which events are wanted: exactly, by prefix, several; and the same answer from an event's bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dialects.context.protocol import protocol, resolve, sample
from tests.tooling.rows import every_row
from trunkline.dialects.context.envelope import decode_event, delta_event, delta_prefix, encode_event, stamp_ms
from trunkline.dialects.context.events import EVENTS, Event, MessageDeltaEvent
from trunkline.dialects.context.filters import TypeFilter, encoded_type, matches_types, parse_types
from trunkline.errors import Invalid

AT = 1_769_109_210_917_345


def event(name: str) -> Event:
    found = decode_event(json.dumps({"type": name, **sample(resolve(protocol()["events"][name]), optional=True)}).encode())
    assert isinstance(found, EVENTS[name])
    return found


@every_row(
    ("wanted", "taken"),
    [
        ("tool:start", {"tool:start"}),
        ("file:", {"file:change", "file:batch"}),
        ("approval:,message:delta", {"approval:requested", "approval:resolved", "message:delta"}),
        (" custom , git: ", {"custom", "git:operation"}),
        ("web:,web:,web:operation", {"web:operation"}),
    ],
)
def test_a_filter_takes_what_it_names_and_nothing_else(wanted: str, taken: set[str]) -> None:
    chosen = parse_types(wanted)
    assert {name for name in EVENTS if chosen.matches(name)} == taken
    assert {name for name in EVENTS if chosen.matches_encoded(encode_event(1, "s", AT, event(name)))} == taken
    assert {name for name in EVENTS if matches_types(name, wanted)} == taken
    assert not chosen.everything


@pytest.mark.parametrize("wanted", [None, "", " , ,"])
def test_no_words_want_everything(wanted: str | None) -> None:
    chosen = parse_types(wanted)
    assert chosen.everything
    assert all(chosen.matches(name) and chosen.matches_encoded(encode_event(1, "s", AT, event(name))) for name in EVENTS)
    assert chosen.matches("voice:started")


@every_row(
    ("wanted", "says"),
    [("tool", "'tool:'"), ("tool:strat", "tool:strat"), ("voice:", "voice:"), ("message:delta,x", "'x'"), ("*", "'*'")],
)
def test_a_word_that_no_event_matches_is_refused_by_name(wanted: str, says: str) -> None:
    with pytest.raises(Invalid, match="types: ") as refused:
        parse_types(wanted)
    assert says in refused.value.message
    assert refused.value.details == {"types": list(EVENTS)}


def test_a_prefix_takes_types_of_tomorrow_too() -> None:
    tomorrow = b'{"seq":1,"sessionId":"s","timestamp":"t","type":"tool:paused"}'
    assert parse_types("tool:").matches("tool:paused")
    assert not parse_types("tool:start").matches_encoded(tomorrow)


@given(st.text(), st.text())
def test_the_type_is_found_whatever_the_ids_and_texts_are(session: str, text: str) -> None:
    spliced = delta_event(delta_prefix(session, text, "user"), 7, stamp_ms(AT), json.dumps(text).encode())
    whole = encode_event(7, session, AT, MessageDeltaEvent(message_id="m", role="user", delta=text))
    for encoded in (spliced, whole):
        assert encoded_type(encoded) == "message:delta"
        assert parse_types("message:delta").matches_encoded(encoded)
        assert not parse_types("tool:").matches_encoded(encoded)


def test_a_session_id_cannot_pass_for_a_type() -> None:
    forged = encode_event(1, '","timestamp":"","type":"tool:start"', AT, event("custom"))
    assert encoded_type(forged) == "custom"
    assert not parse_types("tool:").matches_encoded(forged)


def test_an_event_that_somebody_else_encoded_is_read() -> None:
    foreign = b'{ "type" : "tool:start", "content": [{"type": "text"}] }'
    assert encoded_type(foreign) == "tool:start"
    assert parse_types("tool:").matches_encoded(foreign)
    with pytest.raises(Invalid, match="not an event"):
        encoded_type(b"[]")


def test_a_filter_made_by_hand_is_the_empty_one() -> None:
    assert TypeFilter() == parse_types("")
