"""What a hub loads when it first needs it is loaded in a thread, once."""

from __future__ import annotations

import threading

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


def test_every_driver_has_modules_that_are_there() -> None:
    run(loading.load(*(name for names in loading.DRIVERS.values() for name in names)))
    assert run(loading.session_type("acp")).__name__ == "Session"
