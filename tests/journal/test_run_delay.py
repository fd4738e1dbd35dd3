"""Delays of a thread: told apart from what it waits for; nothing where the system does not tell."""

from __future__ import annotations

import os
import time

import pytest

from trunkline.journal.run_delay import RunDelay


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
