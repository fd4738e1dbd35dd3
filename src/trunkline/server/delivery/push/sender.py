"""Notes on their way to push services, encrypted.

Rule 1: a message is encrypted with a new key and a new salt for every try.
Rule 2: 404 and 410 end the subscription. Anything else is tried again, or given up, as all deliveries are, while the note is
worth it and the subscription counts.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
from collections.abc import Callable
from urllib.parse import SplitResult

import msgspec

from trunkline.server.delivery.addresses import Lookup, look_up
from trunkline.server.delivery.following import Clock
from trunkline.server.delivery.outbox import MaySend, Outbox, OutboxLimits, at_once
from trunkline.server.delivery.post import OutgoingMessage
from trunkline.server.delivery.push.crypt import SALT_BYTES, encrypt, new_private_key, unb64, vapid_header
from trunkline.server.delivery.push.notes import PushNote
from trunkline.server.delivery.push.subscriptions import Subscription, Subscriptions
from trunkline.server.http.address import Network

log = logging.getLogger("trunkline.push")

LIMITS = OutboxLimits(backoff_s=(2.0, 10.0, 60.0), room=20, room_in_all=400, at_once=8)
GONE = (404, 410)

SIGNED_S = 12 * 3600
"""How long what says who we are is good for; RFC 8292 allows a day."""
CONTACT = "mailto:hub@trunkline.example"
"""Whom a push service could write to, where the hub has no public address."""


def contact_of(page: str) -> str:
    """Whom a push service could write to, by the address of the hub's page."""
    return page if page.startswith("https://") else CONTACT


class PushService(msgspec.Struct, frozen=True):
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


class PushDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """A note for a subscription. ``wanted`` says before every try whether it is still worth sending."""

    destination: PushService
    note: PushNote
    payload: bytes
    wanted: Callable[[], bool]
    subscriptions: Subscriptions
    contact: str
    clock: Clock
    done: Callable[[], None]

    @property
    def owner(self) -> str:
        """Every subscription has room of its own."""
        return self.destination.subscription.token_id

    async def is_wanted(self, tries: int) -> bool:
        """Whether it can still be shown, and to somebody who is let in."""
        return (self.subscriptions.counts(self.destination.subscription) and self.note.ttl_s(self.clock.now()) > 0
                and self.wanted())

    async def message(self) -> OutgoingMessage:
        """The message as it is sent; a thread does the arithmetic."""
        key = await self.subscriptions.key()
        subscription, note, now = self.destination.subscription, self.note, self.clock.now()
        parts = subscription.parts()
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now) + SIGNED_S, "sub": self.contact}
        body = await asyncio.to_thread(
            encrypt, self.payload, receiver=unb64(subscription.p256dh), auth=unb64(subscription.auth),
            private=new_private_key(), salt=secrets.token_bytes(SALT_BYTES))
        return OutgoingMessage(body, (
            ("Authorization", vapid_header(key.private, claims)), ("Content-Encoding", "aes128gcm"),
            ("TTL", str(max(0, note.ttl_s(now)))), ("Urgency", note.urgency), ("Topic", note.topic),
        ), "application/octet-stream")

    def on_answer(self, status: int) -> bool:
        """The push service may know the subscription no more."""
        if status in GONE:
            self.subscriptions.drop_ended(self.destination.subscription)
        return status in GONE

    def on_end(self) -> None:
        """It was delivered, refused or given up."""
        self.done()


class PushSender:
    """Sends notes to subscriptions."""

    def __init__(self, subscriptions: Subscriptions, contact: str = CONTACT, *, clock: Clock | None = None,
                 lookup: Lookup = look_up, trust: Callable[[], ssl.SSLContext] = ssl.create_default_context,
                 may_send: MaySend = at_once) -> None:
        self._subscriptions = subscriptions
        self._contact = contact
        self._clock = clock or Clock()
        self._outbox = Outbox(LIMITS, log, "push", clock=self._clock, lookup=lookup, trust=trust, may_send=may_send)
        self.settled = self._outbox.settled
        self.close = self._outbox.close

    def send(self, subscription: Subscription, note: PushNote, payload: bytes, wanted: Callable[[], bool],
             done: Callable[[], None] = lambda: None) -> None:
        """Begin a delivery; returns at once. ``done`` is called when it is tried no more, unless the hub stops."""
        self._outbox.send(PushDelivery(
            destination=PushService(subscription, self._subscriptions.allow), note=note, payload=payload, wanted=wanted,
            subscriptions=self._subscriptions, contact=self._contact, clock=self._clock,
            done=done))
