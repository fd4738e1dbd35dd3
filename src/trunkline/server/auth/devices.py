"""Devices: a phone is paired by a code, has a token of its own, and is out at once when it is revoked.

Rule 1: a code works once (``pairings.py``), in a cluster at whichever gateway it is named first.
Rule 2: who names wrong codes is counted by address, too; then even the right one has to wait.
Rule 3: the device's token goes into an HttpOnly cookie below a path of its own (``cookies.py``) and nowhere else. It may do no
more than who made the code may.
Rule 4: revoking ends the device's streams, WebSockets and editors' connections before it is answered.
"""

from __future__ import annotations

import time

import msgspec

from trunkline.errors import NotFound
from trunkline.server.auth.cookies import new_base
from trunkline.server.auth.credentials import check_scope, own_origin
from trunkline.server.auth.pairings import PAIR_S
from trunkline.server.auth.reach import From, reach_of
from trunkline.server.auth.tokens import Token, TokenScope, token_name
from trunkline.server.call import HttpCall, Reply, no_content, reply

DEFAULT_NAME = "device"


class NewPairing(msgspec.Struct, forbid_unknown_fields=True):
    """What the device that uses the code may do, and what it is called unless it says so itself."""

    scope: TokenScope = "control"
    name: str | None = None


class Pairing(msgspec.Struct, rename="camel"):
    """A one-time code and the address that pairs whoever opens it. ``reach`` says from where that address can be opened;
    without ``secure`` a browser offers no push there. ``expiresAt`` is in seconds since the epoch."""

    code: str
    url: str
    expires_at: int
    scope: TokenScope
    reach: From
    secure: bool


class Claim(msgspec.Struct, forbid_unknown_fields=True):
    """A code, and what the device calls itself."""

    code: str
    name: str | None = None


class Claimed(msgspec.Struct, rename="camel"):
    """The device is paired: its cookie comes with this answer, and counts below the path ``base`` only. ``expiresAt`` is in
    seconds since the epoch."""

    device_id: str
    name: str
    scope: TokenScope
    expires_at: int
    base: str


class DeviceView(msgspec.Struct, rename="camel"):
    """A paired device; times are seconds since the epoch. ``current``: it is the one that asks."""

    id: str
    name: str
    scope: TokenScope
    created_at: int
    last_seen_at: int | None
    expires_at: int | None
    connected: bool
    push: bool
    current: bool


class Devices(msgspec.Struct):
    """Every paired device, or, for who is no admin, this one."""

    devices: list[DeviceView]


async def pair(call: HttpCall) -> Reply:
    """Make a code that lets one device in."""
    wanted = await call.body(NewPairing, default=NewPairing())
    check_scope(call.caller, wanted.scope)
    name = token_name(wanted.name) if wanted.name is not None else None
    keeper = call.parts.tokens.keeper(call.caller.token_id)
    code = await call.parts.pairings.offer(keeper, wanted.scope, name, node=call.parts.tokens.node_of(keeper))
    where = reach_of(call.parts.options, call.request.headers.get("origin") or own_origin(call.request))
    made = Pairing(code, f"{where.url}/#/pair/{code}", int(time.time() + PAIR_S), wanted.scope, where.reach, where.secure)
    return reply(made, 201)


async def claim(call: HttpCall) -> Reply:
    """Trade a code for a device's cookie."""
    pairings, tokens, options = call.parts.pairings, call.parts.tokens, call.parts.options
    body = await call.body(Claim)
    own_name = token_name(body.name) if body.name is not None else None
    with pairings.tries.counted(call.address):
        offer = await pairings.claim(body.code)
        tokens.check_maker(offer.parent, offer.node)
    base = new_base()
    token, secret = tokens.mint(offer.name or own_name or DEFAULT_NAME, offer.scope, kind="device", parent=offer.parent,
                                lifetime_s=options.device_s, base=base, node=offer.node)
    tokens.seen(token.id)
    await tokens.saved()
    answer = reply(Claimed(token.id, token.name, token.scope, token.expires_at or 0, base), 201)
    call.hand_cookie(answer, secret, base, options.device_s)
    return answer


async def listing(call: HttpCall) -> Reply:
    """Every paired device; who is no admin sees the own one."""
    return reply(Devices([_view(call, token) for token in _visible(call)]))


async def revoke(call: HttpCall) -> Reply:
    """Unpair a device: an admin any, a device itself. What the caller cannot see is not there."""
    device_id = call.part("deviceId")
    if device_id not in (token.id for token in _visible(call)):
        raise NotFound(f"no device has the id {device_id[:100]}")
    call.parts.tokens.revoke(device_id)
    await call.parts.tokens.saved()
    return no_content()


def _visible(call: HttpCall) -> list[Token]:
    is_admin = call.caller.scope == "admin"
    return [token for token in call.parts.tokens.listed()
            if token.kind == "device" and (is_admin or token.id == call.caller.token_id)]


def _view(call: HttpCall, token: Token) -> DeviceView:
    connected = call.parts.streams.connected(token.id)
    return DeviceView(
        id=token.id, name=token.name, scope=token.scope, created_at=token.created_at, expires_at=token.expires_at,
        last_seen_at=int(time.time()) if connected else token.seen_at, connected=connected,
        push=call.parts.subscriptions.of_token(token.id) is not None, current=token.id == call.caller.token_id)
