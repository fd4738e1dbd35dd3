"""Time limits: silence, held clocks, alarms."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from tests.virtual_time import run_in_virtual_time, time_passes
from trunkline.session import deadlines
from trunkline.session.deadlines import Alarms, SilenceWatch


def test_silence_expires_once_and_activity_puts_it_off() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        expired = asyncio.Event()
        watch = SilenceWatch(lambda: False)
        begin = loop.time()
        watch.start(lambda: 10, expired.set)
        loop.call_later(6, watch.on_activity)
        await expired.wait()
        assert loop.time() - begin == pytest.approx(16)

    run_in_virtual_time(scenario())


def test_a_watch_that_is_begun_anew_expires_once_and_can_be_stopped() -> None:
    async def scenario() -> None:
        expired: list[int] = []
        watch = SilenceWatch(lambda: False)
        watch.start(lambda: 2, lambda: expired.append(1))
        watch.start(lambda: 2, lambda: expired.append(1))
        await time_passes(10)
        assert len(expired) == 1
        watch.start(lambda: 2, lambda: expired.append(1))
        watch.start(lambda: 2, lambda: expired.append(1))
        watch.stop()
        await time_passes(10)
        assert len(expired) == 1

    run_in_virtual_time(scenario())


def test_the_clock_stands_still_while_held() -> None:
    async def scenario() -> None:
        expired, held = asyncio.Event(), True
        watch = SilenceWatch(lambda: held)
        watch.start(lambda: 5, expired.set)
        await time_passes(22)
        assert not expired.is_set()
        held = False
        await expired.wait()

    run_in_virtual_time(scenario())


def test_a_limit_that_becomes_shorter_counts_from_the_last_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(deadlines, "LOOK_S", 0.02)
        limit_s, expired = 60.0, asyncio.Event()
        watch = SilenceWatch(lambda: False)
        watch.start(lambda: limit_s, expired.set)
        limit_s = 0.01
        await expired.wait()

    run(scenario(), 2)


def test_a_stopped_watch_stays_silent() -> None:
    async def scenario() -> None:
        expired = asyncio.Event()
        watch = SilenceWatch(lambda: False)
        watch.start(lambda: 1, expired.set)
        watch.stop()
        await time_passes(5)
        assert not expired.is_set()

    run_in_virtual_time(scenario())


def test_an_alarm_rings_once_and_a_cleared_one_never() -> None:
    async def scenario() -> None:
        rung: list[str] = []
        alarms = Alarms()
        alarms.set("a", 1, lambda: rung.append("first a"))
        alarms.set("a", 2, lambda: rung.append("a"))
        alarms.set("b", 1, lambda: rung.append("b"))
        alarms.clear("b")
        await time_passes(6)
        assert rung == ["a"]

    run_in_virtual_time(scenario())
