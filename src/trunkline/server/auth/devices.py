"""Devices: a phone is paired by a code, has a token of its own, and is out at once when it is revoked.

Rule 1: a code works once, for ten minutes, and dies of five wrong tries. Its first letters find it, the others are the secret;
what is kept of them is a hash, compared in constant time also where there is nothing to find.
Rule 2: who names wrong codes is counted by address, too; then even the right one has to wait.
Rule 3: the device's token goes into an HttpOnly cookie below a path of its own (``cookies.py``) and nowhere else. It may do no
more than who made the code may.
Rule 4: revoking ends the device's streams, WebSockets and editors' connections before it is answered.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

import msgspec

from trunkline.errors import NotFound, Unauthorized
from trunkline.server.auth.cookies import new_base
from trunkline.server.auth.credentials import check_scope, own_origin
from trunkline.server.auth.reach import From, reach_of
from trunkline.server.auth.tokens import Token, TokenScope, token_name
from trunkline.server.auth.tries import FailedTries
from trunkline.server.call import HttpCall, Reply, no_content, reply

PAIR_S = 600.0
WRONG_MOST = 5
WRONG_OF_ALL = 1_000
"""From all addresses: with a chance of one in 800 to have named the first letters of a code, once."""
OPEN_MOST = 16
LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Those that nobody takes for another when a code is typed."""
NAME_LETTERS, SECRET_LETTERS = 4, 12
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


class Offer(msgspec.Struct):
    """What a code stands for, until it is used, old, or was guessed at too often."""

    secret: str
    parent: str
    scope: TokenScope
    name: str | None
    until: float
    wrong: int = 0


_NOTHING = Offer("", "", "view", None, 0.0)


class Pairings:
    """Codes that wait for a device, in memory, as hashes, and who named wrong ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, Offer] = {}
        self.tries = FailedTries(clock, most=WRONG_MOST, of_all=WRONG_OF_ALL, within_s=PAIR_S)

    def offer(self, parent: str, scope: TokenScope, name: str | None) -> str:
        """A new code that lets one device in, in the name of the token ``parent``."""
        self._forget_old()
        while len(self._open) >= OPEN_MOST:
            del self._open[next(iter(self._open))]
        while (found := _letters(NAME_LETTERS)) in self._open:
            pass
        secret = _letters(SECRET_LETTERS)
        self._open[found] = Offer(_digest(secret), parent, scope, name, self._clock() + PAIR_S)
        whole = found + secret
        return "-".join(whole[at:at + 4] for at in range(0, len(whole), 4))

    def claim(self, code: str) -> Offer:
        """Use a code up; Unauthorized where it is unknown, used, old or dead."""
        plain = "".join(code.split()).replace("-", "").upper()
        found, secret = plain[:NAME_LETTERS], plain[NAME_LETTERS:]
        offer = self._open.get(found, _NOTHING)
        is_right = hmac.compare_digest(offer.secret, _digest(secret))
        if not is_right or offer.until <= self._clock():
            self._missed(found)
            raise Unauthorized("the code is wrong, used or expired; make a new one")
        del self._open[found]
        return offer

    def _missed(self, found: str) -> None:
        offer = self._open.get(found)
        if offer is None:
            return
        offer.wrong += 1
        if offer.wrong >= WRONG_MOST or offer.until <= self._clock():
            del self._open[found]

    def _forget_old(self) -> None:
        now = self._clock()
        self._open = {found: offer for found, offer in self._open.items() if offer.until > now}


async def pair(call: HttpCall) -> Reply:
    """Make a code that lets one device in."""
    wanted = await call.body(NewPairing, default=NewPairing())
    check_scope(call.caller, wanted.scope)
    name = token_name(wanted.name) if wanted.name is not None else None
    code = call.parts.pairings.offer(call.parts.tokens.keeper(call.caller.token_id), wanted.scope, name)
    where = reach_of(call.parts.options, call.request.headers.get("origin") or own_origin(call.request))
    made = Pairing(code, f"{where.url}/#/pair/{code}", int(time.time() + PAIR_S), wanted.scope, where.reach, where.secure)
    return reply(made, 201)


async def claim(call: HttpCall) -> Reply:
    """Trade a code for a device's cookie."""
    pairings, tokens, options = call.parts.pairings, call.parts.tokens, call.parts.options
    body = await call.body(Claim)
    own_name = token_name(body.name) if body.name is not None else None
    with pairings.tries.counted(call.address):
        offer = pairings.claim(body.code)
        tokens.check_live(offer.parent)
    base = new_base()
    token, secret = tokens.mint(offer.name or own_name or DEFAULT_NAME, offer.scope, kind="device", parent=offer.parent,
                                lifetime_s=options.device_s, base=base)
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


def _letters(count: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(count))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
