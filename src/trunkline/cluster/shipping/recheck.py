"""Whether the stream still has what it had of sessions at rest: where it went back, nobody else would find that out.

Rule 1: all sessions of this node are asked for after each coming of the connection, when one of them was found short, and when
        another node raised the stream's generation. A stream loses what it had only where its servers died.
Rule 2: it is asked until it is known: right after servers died nobody leads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.shipper import Shipper

log = logging.getLogger("trunkline.cluster")

LOOK_S: Final = 5.0
"""How often the generation is looked at."""
AGAIN_S: Final = 1.0


class Recheck:
    """One for all sessions of a node."""

    def __init__(self, connection: Connection, shipper: Shipper, generation: Callable[[], int]) -> None:
        self._connection, self._shipper, self._generation = connection, shipper, generation
        self._due = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stop: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Look from now on."""
        self._stop = self._connection.watch(self._on_connection)
        self._on_connection(self._connection.up)
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Look no more."""
        self._stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    def soon(self) -> None:
        """There is a reason to look."""
        self._due.set()

    def _on_connection(self, up: bool) -> None:
        if up:
            self.soon()

    async def _run(self) -> None:
        known = self._generation()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._due.wait()
            if self._due.is_set() or self._generation() != known:
                self._due.clear()
                known = self._generation()
                await self._check()

    async def _check(self) -> None:
        try:
            while not await self._shipper.check_all():  # noqa: ASYNC110 - nobody tells when there is a leader again
                await asyncio.sleep(AGAIN_S)
        except Exception:  # the boundary of a task that nobody waits for: the next reason to look finds it going
            log.exception("whether the stream has all sessions could not be found out")
