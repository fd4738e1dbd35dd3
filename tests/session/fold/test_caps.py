"""Caps: each share of each cap is told once, when it is crossed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.session.fold.caps import Caps, Crossing, Spent

CAPS = Caps(tokens=1000, cost=2.0, minutes=10, turns=5)


@every_row(("before", "after", "expected"), [
    (Spent(), Spent(tokens=799), []),
    (Spent(), Spent(tokens=800), [("tokens", 0.8)]),
    (Spent(tokens=800), Spent(tokens=900), []),
    (Spent(tokens=800), Spent(tokens=1000), [("tokens", 1.0)]),
    (Spent(tokens=10), Spent(tokens=5000), [("tokens", 1.0)]),
    (Spent(tokens=1000), Spent(tokens=2000), []),
    (Spent(tokens=900), Spent(tokens=100), []),
    (Spent(cost=1.5), Spent(cost=1.6), [("cost", 0.8)]),
    (Spent(turns=3), Spent(turns=4), [("turns", 0.8)]),
    (Spent(turns=4), Spent(turns=5), [("turns", 1.0)]),
    (Spent(), Spent(tokens=800, cost=9, minutes=8.5, turns=1), [("tokens", 0.8), ("cost", 1.0), ("minutes", 0.8)]),
])
def test_a_share_is_told_when_it_is_reached(before: Spent, after: Spent, expected: list[tuple[str, float]]) -> None:
    assert [(one.cap, one.share) for one in CAPS.crossed(before, after)] == expected


def test_a_crossing_says_what_was_spent_and_of_how_much() -> None:
    (one,) = CAPS.crossed(Spent(), Spent(tokens=850))
    assert one == Crossing("tokens", 0.8, 850, 1000)
    assert one.in_words() == "used 850 tokens (the limit is 1000)"


@pytest.mark.parametrize(("crossing", "told"), [
    (Crossing("cost", 1.0, 2, 1), "spent 2 USD (the limit is 1)"),
    (Crossing("tokens", 1.0, 12_000_000, 10_000_000), "used 12000000 tokens (the limit is 10000000)"),
    (Crossing("minutes", 0.8, 8.5, 10), "worked for 8.5 minutes (the limit is 10)"),
    (Crossing("turns", 1.0, 1, 1), "taken 1 turn (the limit is 1)"),
])
def test_a_crossing_is_told_in_words_that_fit_its_cap(crossing: Crossing, told: str) -> None:
    assert crossing.in_words("USD") == told


def test_without_caps_nothing_is_crossed() -> None:
    assert Caps().crossed(Spent(), Spent(tokens=10**12, cost=1e9, minutes=1e9, turns=10**9)) == []


def test_what_is_used_up_is_known_without_a_history() -> None:
    assert [one.cap for one in CAPS.reached(Spent(tokens=999, cost=2.0, turns=6))] == ["cost", "turns"]


@given(st.lists(st.integers(0, 300), max_size=30))
def test_however_the_spending_goes_each_share_is_told_at_most_once_and_the_end_always(steps: list[int]) -> None:
    told, spent = [], 0
    for step in steps:
        told += CAPS.crossed(Spent(tokens=spent), Spent(tokens=spent + step))
        spent += step
    shares = [one.share for one in told]
    assert len(shares) == len(set(shares)) and shares == sorted(shares)
    assert (1.0 in shares) == (spent >= 1000)


@every_row("body", [b'{"tokens":0}', b'{"tokens":-1}', b'{"cost":0}', b'{"cost":-0.5}', b'{"tokens":1.5}',
                                  b'{"tokens":"9"}', b'{"turns":true}', b'{"hours":3}', b'[]', b'{"cost":1e999}'])
def test_a_cap_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(body, type=Caps)


def test_caps_are_read_from_json_and_leave_out_what_is_absent() -> None:
    caps = msgspec.json.decode(b'{"tokens":1000,"minutes":2}', type=Caps)
    assert caps == Caps(tokens=1000, minutes=2)
    assert msgspec.json.encode(caps) == b'{"tokens":1000,"minutes":2.0}'
