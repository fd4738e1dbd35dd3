"""``/push``: what a browser needs to subscribe, its subscription, and the end of it.

Rule: a subscription is bound to the token of whoever makes it; nobody sees or ends another one's.
"""

from __future__ import annotations

import msgspec

from trunkline.errors import Invalid
from trunkline.server.call import HttpCall, Reply, no_content, reply
from trunkline.server.delivery.push.subscriptions import KINDS, PushKind, Subscription


class PushKeys(msgspec.Struct, forbid_unknown_fields=True):
    """What a message for this browser is encrypted with, base64url: its public key and its secret."""

    p256dh: str
    auth: str


class NewSubscription(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A browser's subscription as ``PushSubscription.toJSON()`` gives it, and which events it wants to be sent."""

    endpoint: str
    keys: PushKeys
    kinds: list[PushKind] = msgspec.field(default_factory=lambda: list(KINDS))
    expiration_time: float | None = None


class SubscriptionView(msgspec.Struct, rename="camel"):
    """What the caller subscribed to; ``createdAt`` is in seconds since the epoch."""

    endpoint: str
    kinds: list[PushKind]
    created_at: int


class PushInfo(msgspec.Struct, rename="camel"):
    """The hub's public key (``applicationServerKey``), which events there are, and the caller's own subscription."""

    public_key: str
    kinds: list[PushKind]
    subscription: SubscriptionView | None


async def info(call: HttpCall) -> Reply:
    """The key to subscribe with."""
    key = await call.parts.subscriptions.key()
    own = call.parts.subscriptions.of_token(call.caller.token_id)
    return reply(PushInfo(key.public, list(KINDS), _view(own) if own is not None else None))


async def subscribe(call: HttpCall) -> Reply:
    """Tell this browser from now on."""
    body = await call.body(NewSubscription)
    kinds = tuple(kind for kind in KINDS if kind in body.kinds)
    if not kinds:
        raise Invalid("kinds must name at least one of " + ", ".join(KINDS), details={"field": "kinds"})
    made = call.parts.subscriptions.keep(call.caller.token_id, body.endpoint, body.keys.p256dh, body.keys.auth, kinds)
    await call.parts.subscriptions.saved()
    return reply(_view(made), 201)


async def unsubscribe(call: HttpCall) -> Reply:
    """Tell this browser no more."""
    call.parts.subscriptions.drop(call.caller.token_id)
    await call.parts.subscriptions.saved()
    return no_content()


def _view(own: Subscription) -> SubscriptionView:
    return SubscriptionView(own.endpoint, list(own.kinds), own.created_at)
