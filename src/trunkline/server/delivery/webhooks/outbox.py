"""Deliveries on their way: signed, tried again, given up.

The signature is that of the Standard Webhooks: HMAC-SHA256 over id, timestamp and body. Any of their libraries can check it.

Rule 1: a delivery keeps its id over all tries, and gets a new timestamp with each: a receiver can know a repetition, and can
refuse what is old.
Rule 2: tries are few and farther and farther apart. What a receiver refuses, or answers with a redirect, is not tried again.
Rule 3: there is room for so many deliveries per webhook; one more is dropped, and the log says so.
Rule 4: a log line names the host, never the rest of the address, the body or the secret.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable

import msgspec

from trunkline import __version__
from trunkline.errors import Forbidden, TrunklineError, Unavailable
from trunkline.server.delivery.addresses import Lookup, checked_address, look_up
from trunkline.server.delivery.post import Message, post
from trunkline.server.delivery.webhooks.rules import Webhook

log = logging.getLogger("trunkline.notify")

BACKOFF_S = (2.0, 10.0, 60.0, 300.0)
"""Waits between tries; there is one try more than waits."""

ROOM = 100
"""Deliveries of one webhook that may be on their way at once."""

TRY_AGAIN = frozenset({408, 425, 429})


class Clock:
    """Time as the outbox knows it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


class Delivery(msgspec.Struct, frozen=True):
    """A body for a webhook. ``wanted`` says before every further try whether it is still worth telling."""

    id: str
    hook: Webhook
    body: bytes
    wanted: Callable[[], Awaitable[bool]]
    done: Callable[[], None]
    """Called when it will not be tried any more, unless the hub stops first."""


def new_id() -> str:
    """What a receiver knows a delivery by, over all tries."""
    return f"msg_{secrets.token_hex(12)}"


def signature(secret: bytes, delivery_id: str, timestamp: int, body: bytes) -> str:
    """What the receiver computes as well, and compares."""
    digest = hmac.new(secret, b"%b.%d.%b" % (delivery_id.encode(), timestamp, body), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


class Outbox:
    """Sends bodies to webhooks, each in a task of its own."""

    def __init__(self, *, clock: Clock | None = None, lookup: Lookup = look_up,
                 trust: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        self._clock = clock or Clock()
        self._lookup = lookup
        self._make_trust = trust
        self._trust: ssl.SSLContext | None = None
        self._tasks: dict[asyncio.Task[None], Delivery] = {}

    def send(self, hook: Webhook, body: bytes, wanted: Callable[[], Awaitable[bool]], *, delivery_id: str | None = None,
             done: Callable[[], None] = lambda: None) -> None:
        """Begin a delivery; returns at once."""
        if sum(each.hook is hook for each in self._tasks.values()) >= ROOM:
            log.warning("the webhook at %s is %d deliveries behind: one is dropped", hook.host, ROOM)
            done()
            return
        delivery = Delivery(delivery_id or new_id(), hook, body, wanted, done)
        task = asyncio.create_task(self._deliver(delivery))
        self._tasks[task] = delivery
        task.add_done_callback(self._ended)

    async def settled(self) -> None:
        """Wait until nothing is on its way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Try no more; what is on its way is not done."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        delivery = self._tasks.pop(task)
        if task.cancelled():
            return
        delivery.done()
        if (error := task.exception()) is not None:
            log.error("the webhook at %s failed", delivery.hook.host, exc_info=error)

    async def _deliver(self, delivery: Delivery) -> None:
        for wait_s in (*BACKOFF_S, None):
            try:
                await self._try(delivery)
                return
            except Unavailable as error:
                why = error.message
            except TrunklineError as error:
                log.warning("a webhook was not delivered: %s", error.message)
                return
            if wait_s is None:
                break
            await self._clock.sleep(wait_s)
            if not await delivery.wanted():
                return
        log.warning("a webhook was not delivered in %d tries: %s", len(BACKOFF_S) + 1, why)

    async def _try(self, delivery: Delivery) -> None:
        """One try. Unavailable: it is worth another; Forbidden: it is not."""
        hook = delivery.hook
        address = await checked_address(hook, self._lookup)
        trust = await self._trusted() if hook.parts().scheme == "https" else None
        status = await post(hook, address, self._signed(delivery), trust=trust)
        if status >= 500 or status in TRY_AGAIN:
            raise Unavailable(f"{hook.host} answered {status}")
        if 300 <= status < 400:
            raise Forbidden(f"{hook.host} answered {status}, and redirects are not followed")
        if status >= 400:
            raise Forbidden(f"{hook.host} refused it with {status}")

    def _signed(self, delivery: Delivery) -> Message:
        timestamp = int(self._clock.now())
        return Message(delivery.body, (
            ("User-Agent", f"trunkline/{__version__}"), ("Webhook-Id", delivery.id), ("Webhook-Timestamp", str(timestamp)),
            ("Webhook-Signature", signature(delivery.hook.secret, delivery.id, timestamp, delivery.body)),
        ))

    async def _trusted(self) -> ssl.SSLContext:
        """The authorities of this machine; reading them takes a while, so a thread does it, once."""
        if self._trust is None:
            self._trust = await asyncio.to_thread(self._make_trust)
        return self._trust
