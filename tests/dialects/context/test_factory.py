"""``create_event``: numbered per session, stamped, and the payload has the last word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import trunkline
from trunkline.dialects.context.envelope import encode_event
from trunkline.dialects.context.events import MessageDeltaEvent
from trunkline.dialects.context.factory import create_event, reset_all_sequences, reset_sequence

NOON = 1_748_781_000_000_000
X: dict[str, Any] = {"type": "x"}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    reset_all_sequences()
    yield
    reset_all_sequences()


def numbers(*sessions: str) -> list[int]:
    return [create_event(session, X)["seq"] for session in sessions]


def test_events_of_a_session_are_numbered_from_one() -> None:
    assert numbers("sess-1", "sess-1", "sess-1") == [1, 2, 3]


def test_sessions_are_numbered_apart() -> None:
    assert numbers("sess-a", "sess-b", "sess-a", "", "") == [1, 1, 2, 1, 2]


def test_a_reset_session_starts_again_and_others_go_on() -> None:
    numbers("a", "b")
    reset_sequence("a")
    reset_sequence("never seen")
    assert numbers("a", "b") == [1, 2]


def test_all_sessions_start_again_after_a_reset_of_all() -> None:
    numbers("a", "a", "b")
    reset_all_sequences()
    assert numbers("a", "b") == [1, 1]


def test_the_envelope_comes_first_and_what_the_payload_says_of_it_stands() -> None:
    assert list(create_event("s", {"type": "custom", "data": {}}, NOON)) == ["seq", "sessionId", "timestamp", "type", "data"]
    said = {"type": "x", "seq": 99, "sessionId": "other", "timestamp": "T"}
    assert create_event("s", said) == {"seq": 99, "sessionId": "other", "timestamp": "T", "type": "x"}
    assert numbers("s") == [3], "the counter went on"


def test_a_typed_event_stays_typed_and_the_given_one_unchanged() -> None:
    bare = MessageDeltaEvent(message_id="m", role="assistant", delta="Hello ")
    first = create_event("s", bare, NOON)
    assert isinstance(first, MessageDeltaEvent)
    assert (first.seq, first.session_id, first.timestamp, first.delta) == (1, "s", "2025-06-01T12:30:00.000Z", "Hello ")
    assert (bare.seq, bare.session_id, bare.timestamp) == (0, "", "")
    assert encode_event(1, "s", NOON, first) == encode_event(1, "s", NOON, bare)
    said = create_event("s", MessageDeltaEvent(seq=99, session_id="o", timestamp="T", message_id="m", role="user", delta=""))
    assert (said.seq, said.session_id, said.timestamp) == (99, "o", "T")
    assert numbers("s") == [3]


@pytest.mark.parametrize(
    "now",
    [NOON, datetime(2025, 6, 1, 12, 30, tzinfo=UTC), datetime(2025, 6, 1, 14, 30, tzinfo=timezone(timedelta(hours=2)))],
)
def test_the_clock_can_be_given(now: int | datetime) -> None:
    assert create_event("s", X, now=now)["timestamp"] == "2025-06-01T12:30:00.000Z"


def test_without_one_it_is_now() -> None:
    stamp = create_event("s", X)["timestamp"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(stamp)) < timedelta(minutes=1)


def test_nothing_of_ours_makes_its_events_so() -> None:
    source = Path(trunkline.__file__).parent
    users = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py") if "create_event" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and "create_event" in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
    ]
    assert users == []
