"""What a hub loads when it first needs it is loaded in a thread, once."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tests.aio import run
from trunkline.hub import loading


def test_a_module_is_loaded_once_and_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []
    monkeypatch.setattr(loading, "_loaded", set())
    monkeypatch.setattr(loading, "import_module",
                        lambda name: seen.append((name, threading.current_thread() is threading.main_thread())))

    async def scenario() -> None:
        await loading.load("one", "two")
        await loading.load("two", "three")

    run(scenario())
    assert seen == [("one", False), ("two", False), ("three", False)]


def test_two_are_never_loaded_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_it, together = threading.Lock(), []

    def import_module(name: str) -> None:
        together.append(not at_it.acquire(blocking=False))
        time.sleep(0)  # let others have their turn
        at_it.release()

    async def scenario() -> None:
        await asyncio.gather(*(loading.load(f"{each}-{number}") for each in "abcdefgh" for number in range(20)))

    monkeypatch.setattr(loading, "_loaded", set())
    monkeypatch.setattr(loading, "import_module", import_module)
    run(scenario())
    assert len(together) == 160 and not any(together)


def test_every_driver_has_modules_that_are_there() -> None:
    run(loading.load(*(name for names in loading.DRIVERS.values() for name in names)))
    assert run(loading.session_type("acp")).__name__ == "Session"
