"""Room for diffs: to make one takes some tens of megabytes, whatever little of it is shown.

Rule 1: one of a session at a time, and DIFFS_AT_ONCE of the hub: a session whose disk hangs leaves room for another.
Rule 2: whoever waits in vain is refused after WAIT_S.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from trunkline.errors import Unavailable

DIFFS_AT_ONCE = 2
WAIT_S = 30.0
"""As long as a disk may take to answer."""


class Comparing:
    """Who makes a diff, and who waits."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(DIFFS_AT_ONCE)
        self._own: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def room(self, session_id: str) -> AsyncIterator[None]:
        """Wait until a diff of this session may be made, and have it made."""
        own = self._own.setdefault(session_id, asyncio.Lock())
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(WAIT_S):
                    await held.enter_async_context(own)
                    await held.enter_async_context(self._room)
            except TimeoutError:
                raise Unavailable(f"other diffs are being made, for over {WAIT_S:g} s") from None
            yield
