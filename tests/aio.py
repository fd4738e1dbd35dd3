"""How an async test runs: one loop per test, a deadline that fails loudly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], timeout_s: float = 10.0) -> T:
    """Run ``work`` on a fresh loop; past the deadline the test fails with TimeoutError."""

    async def bounded() -> T:
        async with asyncio.timeout(timeout_s):
            return await work

    return asyncio.run(bounded())
