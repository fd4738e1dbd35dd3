"""Something that one node has at a time: a key that ends by itself unless its holder writes it again.

Rule 1: it is taken and renewed under a fence: of two who try one has it, and who lost it learns that at the next renewal.
Rule 2: the holder believes in it for a shorter time than the servers do, by its own clock and from before it asked. Whoever was
        frozen, or is cut off, stops before another can begin.
Rule 3: a holder that stops gives it back. One that dies does not: another has it when its time is over. So it has where somebody
        wrote one that has no end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from trunkline.cluster.tables.keys import Row
from trunkline.cluster.tables.table import Table
from trunkline.errors import Conflict, TrunklineError

log = logging.getLogger("trunkline.cluster")

TTL_S: Final = 15.0
"""An election takes up to 7 s: two renewals fail then, and the third is in time."""
RENEWALS: Final = 3
"""Within the time that it lasts."""
DEAD_AFTER: Final = 2
"""Times that it lasts: what stands there unrenewed for so long ends never. Whoever had a stolen key may have left it behind."""
MARGIN: Final = 0.2
"""The part of that time by which the holder stops earlier: clocks differ, and what is on its way has to end."""


class Lease:
    """One key of ``table``, for the node that ``value`` names."""

    def __init__(self, table: Table, key: str, value: bytes, *, ttl_s: float = TTL_S, clock: Callable[[], float] = time.monotonic
                 ) -> None:
        self._table = table
        self._key = key
        self._value = value
        self._ttl_s = ttl_s
        self._clock = clock
        self._until = 0.0
        self._revision = 0
        self._stood = (0, 0.0)
        """Whose row stands there, by its number, and since when, as far as was seen."""
        self._free = asyncio.Event()
        self._renewed = asyncio.Event()
        table.watch(self._on_change)

    @property
    def is_held(self) -> bool:
        """Whether this node has it beyond doubt."""
        return self._clock() < self._until

    async def held(self) -> None:
        """Return at once while this node has it; else when it has it again, unless whoever waits is ended before."""
        while not self.is_held:
            self._renewed.clear()
            await self._renewed.wait()

    async def hold(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work`` whenever this node has the lease, until cancelled. It is cancelled when the lease is lost."""
        while True:
            await self._take()
            log.info("this node has %s now", self._key)
            try:
                await self._work_while_held(work)
            except TrunklineError as error:
                log.warning("%s: given back after a failure: %s", self._key, error.message)
            finally:
                await self._give_back()
            await asyncio.sleep(self._ttl_s / RENEWALS)

    async def _take(self) -> None:
        """Wait until it is free, and take it."""
        while True:
            self._free.clear()
            asked_at = self._clock()
            try:
                self._revision = await self._table.create(self._key, self._value, ttl_s=self._ttl_s)
            except TrunklineError:  # somebody has it, or nobody can tell: it is tried again
                if not await self._take_dead(asked_at):
                    await self._wait_free()
                    continue
            self._believe(asked_at)
            return

    async def _take_dead(self, now: float) -> bool:
        """Take it from a row that nobody has renewed for too long: what a node writes ends by itself before."""
        row = self._table.get(self._key)
        if row is None or row.revision != self._stood[0]:
            self._stood = (0 if row is None else row.revision), now
        elif now - self._stood[1] > DEAD_AFTER * self._ttl_s:
            with suppress(TrunklineError):
                self._revision = await self._table.put(self._key, self._value, revision=row.revision, ttl_s=self._ttl_s)
                return True
        return False

    async def _wait_free(self) -> None:
        try:
            async with asyncio.timeout(self._ttl_s / RENEWALS):
                await self._free.wait()
        except TimeoutError:
            return  # nobody told of it: look again

    async def _work_while_held(self, work: Callable[[], Awaitable[None]]) -> None:
        working, renewing = asyncio.ensure_future(work()), asyncio.ensure_future(self._renew())
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (working, renewing):
                task.cancel()
            await asyncio.wait((working, renewing))
        if not working.cancelled():
            working.result()

    async def _renew(self) -> None:
        """Keep it; returns when it is lost."""
        while self.is_held:
            await asyncio.sleep(min(self._ttl_s / RENEWALS, max(0.0, self._until - self._clock())))
            asked_at = self._clock()
            try:
                async with asyncio.timeout(max(0.0, self._until - asked_at)):
                    self._revision = await self._table.put(self._key, self._value, revision=self._revision, ttl_s=self._ttl_s)
            except Conflict:
                log.warning("%s: another node has it", self._key)
                self._until = 0.0
            except (TrunklineError, TimeoutError) as error:
                log.warning("%s could not be renewed: %s", self._key, error)
            else:
                self._believe(asked_at)

    def _believe(self, asked_at: float) -> None:
        self._until = asked_at + self._ttl_s * (1 - MARGIN)
        self._renewed.set()

    async def _give_back(self) -> None:
        was_held, self._until = self.is_held, 0.0
        if not was_held:
            return
        try:
            await self._table.take(self._key, self._revision)
        except TrunklineError as error:  # it ends by itself
            log.info("%s could not be given back: %s", self._key, error.message)

    def _on_change(self, key: str, before: Row | None, row: Row | None) -> None:
        if key == self._key and row is None:
            self._free.set()
