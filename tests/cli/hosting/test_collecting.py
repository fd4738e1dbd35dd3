"""Full collections wait for a moment at rest."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from trunkline.cli.hosting import collecting
from trunkline.cli.hosting.collecting import (
    BUSY,
    LATEST_S,
    LOOK_S,
    MOST,
    MOST_SESSIONS,
    WORTH,
    collect_at_rest,
    is_due,
    leave_out_full_ones,
)

AT_WORK = 2 * BUSY * LOOK_S


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_what_was_made_is_collected_at_rest() -> None:
    assert is_due(WORTH, 0.0, LOOK_S, 0)


def test_little_is_not_worth_a_collection() -> None:
    assert not is_due(WORTH - 1, 0.0, LATEST_S, MOST_SESSIONS - 1)


def test_a_hub_at_work_is_not_held_up() -> None:
    assert not is_due(MOST - 1, AT_WORK, LATEST_S - LOOK_S, MOST_SESSIONS - 1)


def test_a_hub_that_never_rests_collects_after_a_while() -> None:
    assert is_due(WORTH, AT_WORK, LATEST_S, 0)


def test_very_much_is_collected_at_once() -> None:
    assert is_due(MOST, AT_WORK, LOOK_S, 0)


def test_many_released_sessions_are_collected_at_once() -> None:
    assert is_due(0, AT_WORK, LOOK_S, MOST_SESSIONS)


def test_python_itself_collects_only_what_is_young() -> None:
    young, middle, _ = gc.get_threshold()
    leave_out_full_ones()
    assert gc.get_threshold()[:2] == (young, middle)
    full = gc.get_stats()[2]["collections"]
    kept = [[[number]] for number in range(60 * young * middle // 10)]
    assert gc.get_stats()[2]["collections"] == full
    del kept


def test_a_cycle_that_grew_old_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "LOOK_S", 0.001)
    monkeypatch.setattr(collecting, "WORTH", 0)
    monkeypatch.setattr(collecting, "LATEST_S", 0.0)
    asyncio.run(_cycle(released=0))


def test_a_cycle_is_collected_when_many_sessions_were_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "LOOK_S", 0.001)
    asyncio.run(_cycle(released=MOST_SESSIONS))


async def _cycle(*, released: int) -> None:
    gone = asyncio.Event()

    class Held:
        def __del__(self) -> None:
            gone.set()

    leave_out_full_ones()
    gc.freeze()  # all else in a process of tests: to look through it takes a second
    ring: list[Any] = [Held()]
    ring.append(ring)
    gc.collect()  # old now
    del ring
    task = asyncio.create_task(collect_at_rest(lambda: released))
    try:
        await asyncio.wait_for(gone.wait(), 10)
    finally:
        task.cancel()
