"""How long readers are called for within one turn of the loop."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from trunkline.feeds import call_time
from trunkline.feeds.call_time import MOST_S, CallTime


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(call_time, "perf_counter", made)
    return made


def test_what_a_turn_has_used_up_the_next_has_again(clock: Clock) -> None:
    async def scenario() -> None:
        calls = CallTime()
        until = calls.begin()
        assert until == clock.now + MOST_S
        clock.now += 0.008
        calls.end(until)
        assert calls.begin() == pytest.approx(clock.now + 0.002), "another feed of the same turn has the rest"
        clock.now += 0.02
        calls.end(until)
        assert calls.begin() < clock.now, "nobody else is called in this turn"
        await asyncio.sleep(0)
        assert calls.begin() == clock.now + MOST_S

    run(scenario())


def test_calls_that_take_hardly_any_time_are_not_noted(clock: Clock) -> None:
    calls = CallTime()
    for _ in range(100):
        until = calls.begin()
        clock.now += 0.0005
        calls.end(until)
    assert calls.begin() == clock.now + MOST_S
