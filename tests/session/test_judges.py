"""What judges calls is loaded once, and in a thread."""

from __future__ import annotations

import asyncio
import threading
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from trunkline.session import judges


def test_whoever_judges_first_waits_for_a_thread_that_loads_and_nobody_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def load(name: str) -> ModuleType:
        threads.append(threading.current_thread())
        return cast(ModuleType, SimpleNamespace(__name__=name))

    async def judge_twice() -> None:
        await judges.load_judges()
        await judges.load_judges()

    monkeypatch.setattr(judges, "_loaded", set())
    monkeypatch.setattr(judges, "import_module", load)
    asyncio.run(judge_twice())
    assert len(threads) == len(judges.JUDGES) and threading.main_thread() not in threads
    assert judges.are_loaded()
