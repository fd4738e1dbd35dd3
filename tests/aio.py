"""How an async test runs: one loop per test, a deadline that fails loudly; and how it waits for what tells nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


WITHIN_S = 60.0
"""A test ends long before; on a machine that is busy with others it may take many times as long as usual."""
POLL_S = 0.01
TURNS = 20


def run(work: Coroutine[Any, Any, T], timeout_s: float = WITHIN_S, loop: Callable[[], asyncio.AbstractEventLoop] | None = None
        ) -> T:
    """Run ``work`` on a fresh loop, or on one of another kind; past the deadline the test fails with TimeoutError."""

    async def bounded() -> T:
        async with asyncio.timeout(timeout_s):
            return await work

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(bounded())


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until it holds, for what tells nobody when it happens (processes, files); the test's deadline bounds it."""
    while not holds():  # noqa: ASYNC110 - no event of ours tells of it
        await asyncio.sleep(POLL_S)


async def loop_turns() -> None:
    """Let the loop do what is ready, and what becomes ready by that."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
