"""Tasks that nobody waits for: run to their end, reported where they fail, ended with the session."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.aio import run
from trunkline.session.background import BackgroundTasks


def test_a_task_runs_though_nobody_keeps_it() -> None:
    async def scenario() -> None:
        tasks, done = BackgroundTasks(), asyncio.Event()

        async def work() -> None:
            await asyncio.sleep(0)
            done.set()

        tasks.run(work())
        await done.wait()
        await tasks.close()

    run(scenario())


def test_a_task_that_fails_is_reported_and_one_that_is_ended_is_not() -> None:
    async def scenario() -> None:
        reports: list[dict[str, Any]] = []
        reported, tasks = asyncio.Event(), BackgroundTasks()

        def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            reports.append(context)
            reported.set()

        asyncio.get_running_loop().set_exception_handler(report)
        begun, ended = asyncio.Event(), asyncio.Event()

        async def fail() -> None:
            raise ZeroDivisionError

        async def wait() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        tasks.run(fail())
        tasks.run(wait())
        await reported.wait()
        await begun.wait()
        await tasks.close()
        assert ended.is_set() and [type(report["exception"]) for report in reports] == [ZeroDivisionError]

    run(scenario())
