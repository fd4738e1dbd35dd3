"""Delays of a thread: told apart from what it waits for; nothing where the system does not tell."""

from __future__ import annotations

import os
import time

import pytest

from trunkline.journal.run_delay import MARK_S, RunDelay


def test_to_wait_is_no_delay() -> None:
    delay = RunDelay()
    before, started = delay.read(), time.perf_counter()
    time.sleep(0.2)  # real time: what the system counts of a thread that waits is what is tested
    assert 0 <= delay.since(before) < time.perf_counter() - started - 0.15, "what comes on top of the wait may be a delay"
    delay.close()


def test_a_system_that_does_not_tell_has_no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*asked: object) -> int:
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", refuse)
    delay = RunDelay()
    assert delay.since(delay.read()) == 0
    delay.close()


def test_delays_are_counted_from_a_mark_that_is_renewed_when_it_is_old_or_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter(f"0 {seconds}000000000 0".encode() for seconds in (1, 4, 9, 9))
    monkeypatch.setattr(RunDelay, "read", lambda self: next(readings))
    delay = RunDelay()
    delay.mark(10.0)
    delay.mark(10.0 + MARK_S / 2)
    assert delay.since_mark() == 3, "from the first mark, which was young enough"
    delay.mark(10.0 + MARK_S / 2)
    assert delay.since_mark() == 0, "from a new one"
    delay.close()
