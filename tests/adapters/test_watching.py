"""Reports when a session of the hub appears, changes or goes away."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from tests.adapters.agents import library, options
from tests.aio import run
from trunkline.adapters.watching import watch_hub
from trunkline.hub import Hub, HubOptions


def test_a_watch_that_nobody_ended_ends_with_the_library(tmp_path: Path) -> None:
    async def scenario() -> list[object]:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        before = asyncio.all_tasks()
        async with library(tmp_path, tmp_path / "data") as line:
            adapter = line.adapter("demo-fast")
            adapter.watch_sessions(lambda event: None)
            await adapter.start_session(options(tmp_path, "/echo hi"))
        assert {task for task in asyncio.all_tasks() - before if "_Watcher" in repr(task)} == set()
        gc.collect()
        return failures

    assert run(scenario()) == []


def test_a_watcher_that_the_hub_stops_under_ends_quietly(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(HubOptions(data=tmp_path / "data")) as hub:
            watching = watch_hub(hub, "demo", lambda event: None)
        await watching

    run(scenario())
