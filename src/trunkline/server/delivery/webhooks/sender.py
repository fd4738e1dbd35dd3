"""Bodies on their way to webhooks, signed.

The signature is that of the Standard Webhooks: HMAC-SHA256 over id, timestamp and body. Any of their libraries can check it.

Rule 1: a delivery's id follows from what it is about and whom it is for: whoever sends it, however often, sends it under that.
Rule 2: a delivery keeps its id over all tries, and gets a new timestamp with each: a receiver can know a repetition, and can
refuse what is old.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
import ssl
from collections.abc import Awaitable, Callable

import msgspec

from trunkline import __version__
from trunkline.server.delivery.addresses import Lookup, look_up
from trunkline.server.delivery.following import Clock
from trunkline.server.delivery.outbox import MaySend, Outbox, OutboxLimits, at_once
from trunkline.server.delivery.post import OutgoingMessage
from trunkline.server.delivery.webhooks.rules import Webhook

log = logging.getLogger("trunkline.notify")

ROOM = 100
"""Deliveries of one webhook on their way."""
LIMITS = OutboxLimits(backoff_s=(2.0, 10.0, 60.0, 300.0), room=ROOM)


def new_id() -> str:
    """What a receiver knows a delivery by, over all tries."""
    return f"msg_{secrets.token_hex(12)}"


def id_of(hook: str, session_id: str, seq: int) -> str:
    """The same for what is told of an entry: it does not depend on who tells it, nor on when."""
    return f"msg_{hashlib.sha256(f'{hook} {session_id} {seq}'.encode()).hexdigest()[:24]}"


def signature(secret: bytes, delivery_id: str, timestamp: int, body: bytes) -> str:
    """What the receiver computes as well, and compares."""
    digest = hmac.new(secret, b"%b.%d.%b" % (delivery_id.encode(), timestamp, body), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


class WebhookDelivery(msgspec.Struct, frozen=True):
    """A body for a webhook. ``wanted`` says before every further try whether it is still worth sending."""

    id: str
    destination: Webhook
    body: bytes
    wanted: Callable[[], Awaitable[bool]]
    done: Callable[[], None]
    clock: Clock

    @property
    def owner(self) -> int:
        """Every webhook has room of its own."""
        return id(self.destination)

    async def is_wanted(self, tries: int) -> bool:
        """Whether it is worth a try; whoever sent it has just looked."""
        return not tries or await self.wanted()

    async def message(self) -> OutgoingMessage:
        """The body with its signature of now."""
        timestamp = int(self.clock.now())
        return OutgoingMessage(self.body, (
            ("User-Agent", f"trunkline/{__version__}"), ("Webhook-Id", self.id), ("Webhook-Timestamp", str(timestamp)),
            ("Webhook-Signature", signature(self.destination.secret, self.id, timestamp, self.body)),
        ))

    def on_answer(self, status: int) -> bool:
        """No answer means more than its status."""
        return False

    def on_end(self) -> None:
        """It was delivered, refused or given up."""
        self.done()


class WebhookSender:
    """Sends bodies to webhooks."""

    def __init__(self, *, clock: Clock | None = None, lookup: Lookup = look_up,
                 trust: Callable[[], ssl.SSLContext] = ssl.create_default_context, may_send: MaySend = at_once) -> None:
        self._clock = clock or Clock()
        self._outbox = Outbox(LIMITS, log, "webhook", clock=self._clock, lookup=lookup, trust=trust, may_send=may_send)
        self.settled = self._outbox.settled
        self.close = self._outbox.close

    def send(self, hook: Webhook, body: bytes, wanted: Callable[[], Awaitable[bool]], *, delivery_id: str | None = None,
             done: Callable[[], None] = lambda: None) -> None:
        """Begin a delivery; returns at once. ``done`` is called when it is tried no more, unless the hub stops."""
        self._outbox.send(WebhookDelivery(delivery_id or new_id(), hook, body, wanted, done, self._clock))
