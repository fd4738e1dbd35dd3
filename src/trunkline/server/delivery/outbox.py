"""Deliveries on their way: sent, tried again, given up.

Rule 1: a delivery says itself where it goes, what it says at each try, and whether it is still wanted.
Rule 2: tries are few and farther and farther apart. What a receiver refuses, or answers with a redirect, is not tried again.
Rule 3: there is room for so many deliveries per owner; one more is dropped, and the log says so.
Rule 4: a log line names the host, never the rest of the address, the body or a secret.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol

import msgspec

from trunkline.errors import Forbidden, TrunklineError, Unavailable
from trunkline.server.delivery.addresses import Destination, Lookup, checked_address, look_up
from trunkline.server.delivery.following import Clock, Tasks
from trunkline.server.delivery.post import OutgoingMessage, post

TRY_AGAIN = frozenset({408, 425, 429})


class Delivery(Protocol):
    """Something on its way to one destination."""

    @property
    def destination(self) -> Destination:
        """Where it goes."""

    @property
    def owner(self) -> Hashable:
        """Whose room it takes."""

    async def is_wanted(self, tries: int) -> bool:
        """Whether it is worth another try, after so many."""

    async def message(self) -> OutgoingMessage:
        """What is sent at this try."""

    def on_answer(self, status: int) -> bool:
        """The receiver answered; returns whether that is the end of it, and nothing to complain about."""

    def on_end(self) -> None:
        """It will not be tried any more. Not called when the hub stops first."""


class OutboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What an outbox spends."""

    backoff_s: tuple[float, ...]
    """Waits between tries; there is one try more than waits."""
    room: int
    """Deliveries of one owner that may be on their way at once."""
    room_in_all: int = sys.maxsize
    at_once: int = sys.maxsize
    """Connections that are open at the same time."""


MaySend = Callable[[], Awaitable[None]]
"""Waited for before each try: in a cluster one node sends at a time (``Lease.held``)."""


async def at_once() -> None:
    """Whoever is alone may send at any time."""


class Outbox:
    """Sends deliveries, each in a task of its own. ``what`` names one of them in the log."""

    def __init__(self, limits: OutboxLimits, log: logging.Logger, what: str, *, clock: Clock, lookup: Lookup = look_up,
                 trust: Callable[[], ssl.SSLContext] = ssl.create_default_context, may_send: MaySend = at_once) -> None:
        self._limits = limits
        self._log = log
        self._what = what
        self._clock = clock
        self._lookup = lookup
        self._make_trust = trust
        self._may_send = may_send
        self._trust: ssl.SSLContext | None = None
        self._tasks = Tasks(limits.room_in_all, log, f"{what} deliveries")
        self._connections = asyncio.Semaphore(limits.at_once)

    def send(self, delivery: Delivery) -> None:
        """Begin a delivery; returns at once."""
        behind = self._tasks.count(delivery.owner)
        if behind >= self._limits.room:
            self._log.warning("%s is %d deliveries behind: one is dropped", delivery.destination.host, behind)
            delivery.on_end()
            return
        self._tasks.start(self._deliver(delivery), delivery.on_end, delivery.owner)

    async def settled(self) -> None:
        """Wait until nothing is on its way."""
        await self._tasks.settled()

    async def close(self) -> None:
        """Try no more; what is on its way is not done."""
        await self._tasks.close()

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            await self._try_all(delivery)
        except TrunklineError as error:
            self._log.warning("a %s was not delivered: %s", self._what, error.message)
        delivery.on_end()

    async def _try_all(self, delivery: Delivery) -> None:
        for tries, wait_s in enumerate((*self._limits.backoff_s, None)):
            try:
                async with self._connections:
                    await self._may_send()
                    if await delivery.is_wanted(tries):
                        await self._try(delivery)
                    return
            except Unavailable as error:
                why = error.message
            if wait_s is not None:
                await self._clock.sleep(wait_s)
        self._log.warning("a %s was not delivered in %d tries: %s", self._what, tries + 1, why)

    async def _try(self, delivery: Delivery) -> None:
        """One try. Unavailable: it is worth another; Forbidden: it is not."""
        where = delivery.destination
        address = await checked_address(where, self._lookup)
        trust = await self._trusted() if where.parts().scheme == "https" else None
        status = await post(where, address, await delivery.message(), trust=trust)
        if not delivery.on_answer(status):
            check_status(where.host, status)

    async def _trusted(self) -> ssl.SSLContext:
        """The authorities of this machine; reading them takes a while, so a thread does it, once."""
        if self._trust is None:
            self._trust = await asyncio.to_thread(self._make_trust)
        return self._trust


def check_status(host: str, status: int) -> None:
    """Unavailable or Forbidden, unless this is the answer of somebody who took it."""
    if status >= 500 or status in TRY_AGAIN:
        raise Unavailable(f"{host} answered {status}")
    if 300 <= status < 400:
        raise Forbidden(f"{host} answered {status}, and redirects are not followed")
    if status >= 400:
        raise Forbidden(f"{host} refused it with {status}")
