"""Messages on their way to push services: encrypted, sent, tried again, given up.

Rule 1: a message is encrypted with a new key and a new salt for every try.
Rule 2: 404 and 410 end the subscription. 429 and 5xx are tried again, farther and farther apart, while the message is worth it
and the subscription counts. Any other refusal is final.
Rule 3: there is room for so many messages per subscription and in all; one more is dropped, and the log says so.
Rule 4: a log line names the host, never the rest of the address or what was said.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
from collections.abc import Callable
from urllib.parse import SplitResult

import msgspec

from trunkline.errors import Forbidden, NotFound, TrunklineError, Unavailable
from trunkline.server.delivery.addresses import Lookup, checked_address, look_up
from trunkline.server.delivery.post import Message, post
from trunkline.server.delivery.push.crypt import SALT_BYTES, encrypt, new_private_key, unb64, vapid_header
from trunkline.server.delivery.push.notes import Note
from trunkline.server.delivery.push.subscriptions import Network, Subscription, Subscriptions
from trunkline.server.delivery.webhooks.outbox import TRY_AGAIN, Clock

log = logging.getLogger("trunkline.push")

BACKOFF_S = (2.0, 10.0, 60.0)
"""Waits between tries; there is one try more than waits."""
ROOM, ROOM_IN_ALL = 20, 400
AT_ONCE = 8
"""Connections that are open at the same time."""

SIGNED_S = 12 * 3600
"""How long what says who we are is good for; RFC 8292 allows a day."""
CONTACT = "mailto:hub@trunkline.example"
"""Whom a push service could write to, where the hub has no public address."""


class Target(msgspec.Struct, frozen=True):
    """A subscription as something to connect to."""

    subscription: Subscription
    allow: tuple[Network, ...]

    @property
    def host(self) -> str:
        """All of the address that a log may show."""
        return self.parts().hostname or ""

    def parts(self) -> SplitResult:
        """The address taken apart."""
        return self.subscription.parts()


class Delivery(msgspec.Struct, frozen=True):
    """A note for a subscription. ``wanted`` says before every further try whether it is still worth telling."""

    target: Target
    note: Note
    payload: bytes
    wanted: Callable[[], bool]


class Sender:
    """Sends notes, each in a task of its own."""

    def __init__(self, subscriptions: Subscriptions, contact: str = CONTACT, *, clock: Clock | None = None,
                 lookup: Lookup = look_up, trust: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        self._subscriptions = subscriptions
        self._contact = contact
        self._clock = clock or Clock()
        self._lookup = lookup
        self._make_trust = trust
        self._trust: ssl.SSLContext | None = None
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._gate = asyncio.Semaphore(AT_ONCE)

    def send(self, subscription: Subscription, note: Note, payload: bytes, wanted: Callable[[], bool]) -> None:
        """Begin a delivery; returns at once."""
        target = Target(subscription, self._subscriptions.allow)
        behind = sum(owner == subscription.token_id for owner in self._tasks.values())
        if behind >= ROOM or len(self._tasks) >= ROOM_IN_ALL:
            log.warning("the push service at %s is %d messages behind: one is dropped", target.host, behind)
            return
        task = asyncio.create_task(self._deliver(Delivery(target, note, payload, wanted)))
        self._tasks[task] = subscription.token_id
        task.add_done_callback(self._ended)

    async def settled(self) -> None:
        """Wait until nothing is on its way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Give up what is on its way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("a push failed", exc_info=error)

    async def _deliver(self, delivery: Delivery) -> None:
        for wait_s in (*BACKOFF_S, None):
            try:
                async with self._gate:
                    if not self._is_worth(delivery):
                        return
                    await self._try(delivery)
                return
            except NotFound:
                self._subscriptions.drop_ended(delivery.target.subscription)
                return
            except Unavailable as error:
                why = error.message
            except TrunklineError as error:
                log.warning("a push was not delivered: %s", error.message)
                return
            if wait_s is not None:
                await self._clock.sleep(wait_s)
        log.warning("a push was not delivered in %d tries: %s", len(BACKOFF_S) + 1, why)

    def _is_worth(self, delivery: Delivery) -> bool:
        return (self._subscriptions.counts(delivery.target.subscription) and delivery.note.ttl_s(self._clock.now()) > 0
                and delivery.wanted())

    async def _try(self, delivery: Delivery) -> None:
        """One try. NotFound: the subscription has ended; Unavailable: it is worth another; Forbidden: it is not."""
        target = delivery.target
        address = await checked_address(target, self._lookup)
        trust = await self._trusted() if target.parts().scheme == "https" else None
        status = await post(target, address, await self._sealed(delivery), trust=trust)
        if status in (404, 410):
            raise NotFound(f"{target.host} knows the subscription no more")
        if status >= 500 or status in TRY_AGAIN:
            raise Unavailable(f"{target.host} answered {status}")
        if status >= 300:
            raise Forbidden(f"{target.host} refused it with {status}")

    async def _sealed(self, delivery: Delivery) -> Message:
        """The message as it is sent; a thread does the arithmetic."""
        key = await self._subscriptions.key()
        subscription, note, now = delivery.target.subscription, delivery.note, self._clock.now()
        parts = subscription.parts()
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + SIGNED_S, "sub": self._contact}
        body = await asyncio.to_thread(
            encrypt, delivery.payload, receiver=unb64(subscription.p256dh), auth=unb64(subscription.auth),
            private=new_private_key(), salt=secrets.token_bytes(SALT_BYTES))
        return Message(body, (
            ("Authorization", vapid_header(key.private, claims)), ("Content-Encoding", "aes128gcm"),
            ("TTL", str(max(0, note.ttl_s(now)))), ("Urgency", note.urgency), ("Topic", note.topic),
        ), "application/octet-stream")

    async def _trusted(self) -> ssl.SSLContext:
        """The authorities of this machine; reading them takes a while, so a thread does it, once."""
        if self._trust is None:
            self._trust = await asyncio.to_thread(self._make_trust)
        return self._trust
