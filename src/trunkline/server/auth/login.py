"""Logging in over HTTP: one-time codes, the browser's cookie, tokens for other programs.

Rule 1: the page's address carries a code, never a token. A code works once, for a minute.
Rule 2: a browser gets a token of its own in an HttpOnly cookie; scripts never see it, and it can be revoked. It counts below a
path that only the page knows (``cookies.py``).
Rule 3: a token that somebody made goes with whoever made it, and so does a code that nobody has used yet.
Rule 4: tries are counted (``tries.py``). Who has none left has to wait even with the right token, if somebody chose that; codes
and tokens that the hub made let their owner in at any time.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable

import msgspec

from trunkline.errors import Invalid, Unauthorized
from trunkline.server.auth.cookies import base_of, new_base
from trunkline.server.auth.credentials import check_scope, is_loopback, without_port
from trunkline.server.auth.tokens import Token, TokenScope, token_name
from trunkline.server.call import HttpCall, Reply, no_content, reply
from trunkline.server.options import PLAIN_COMMAND

OPEN_CODES = 100
PASSED_ON = frozenset({"forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"})
"""Headers by which a proxy tells whom it asks for; whether it is one that we trust does not matter here."""


class Login(msgspec.Struct, forbid_unknown_fields=True):
    """What lets a browser in: a one-time code, or a token."""

    code: str | None = None
    token: str | None = None


class LoggedIn(msgspec.Struct, rename="camel"):
    """What the browser may do, and until when (seconds since the epoch). Its cookie counts below the path ``base`` only."""

    scope: TokenScope
    expires_at: int
    base: str


class WayIn(msgspec.Struct, omit_defaults=True):
    """What to type on the hub's machine for a link that logs a browser in."""

    command: str
    revoked: bool = False
    """This very browser was let in before, and somebody took that back."""


class NewCode(msgspec.Struct, forbid_unknown_fields=True):
    """What the browser that uses the code may do."""

    scope: TokenScope = "admin"


class Code(msgspec.Struct, rename="camel"):
    """A one-time code and the path that logs a browser in with it."""

    code: str
    path: str
    expires_in_s: float


class NewToken(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A token to make."""

    name: str
    scope: TokenScope
    expires_in_s: float | None = None


class TokenView(msgspec.Struct, rename="camel"):
    """A token as the API shows it; times are seconds since the epoch."""

    id: str
    name: str
    scope: TokenScope
    kind: str
    created_at: int
    expires_at: int | None


class MadeToken(msgspec.Struct, rename="camel"):
    """A new token; ``secret`` is shown here and never again."""

    secret: str
    token: TokenView


class LoginGrant(msgspec.Struct, frozen=True):
    """What a code stands for: the token that made it, and the scope it hands on."""

    parent: str
    scope: TokenScope


class Codes:
    """One-time login codes, in memory, as hashes."""

    def __init__(self, lifetime_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.lifetime_s = lifetime_s
        self._clock = clock
        self._open: dict[str, tuple[LoginGrant, float]] = {}

    def issue(self, parent: str, scope: TokenScope = "admin") -> str:
        """A new code that hands on ``scope`` in the name of the token ``parent``."""
        while len(self._open) >= OPEN_CODES:
            del self._open[next(iter(self._open))]
        code = secrets.token_urlsafe(24)
        self._open[_digest(code)] = (LoginGrant(parent, scope), self._clock() + self.lifetime_s)
        return code

    def redeem(self, code: str) -> LoginGrant:
        """Use a code up. Unauthorized when it is unknown, used or old."""
        # Found by its hash: how long that takes says nothing about the code.
        grant, until = self._open.pop(_digest(code), (None, 0.0))
        if grant is None or until <= self._clock():
            raise Unauthorized("the code is unknown, used or expired; make a new one")
        return grant


async def login(call: HttpCall) -> Reply:
    """Trade a code or a token for the browser's cookie."""
    body = await call.body(Login)
    if (body.code is None) == (body.token is None):
        raise Invalid("exactly one of code and token is needed", details={"field": "code"})
    found = _grant(call, body)  # nothing is waited for until it counts: tries at the same time count one by one
    if isinstance(found, LoginGrant) and not (body.token is not None and call.parts.tokens.is_chosen(found.parent)):
        return await _let_in(call, found)
    with call.parts.tries.counted(call.address):
        if isinstance(found, Unauthorized):
            raise found
    return await _let_in(call, found)


async def way_in(call: HttpCall) -> Reply:
    """How somebody whom the hub does not know gets in. Where programs lie is told on this machine alone."""
    command = call.parts.options.login_command if _is_here(call) else PLAIN_COMMAND
    revoked = any(map(call.parts.tokens.was_revoked, call.parts.gate.cookies.offered(call.request)))
    return reply(WayIn(command, revoked))


def _is_here(call: HttpCall) -> bool:
    """Whether whoever asks sits at this machine, and is not only passed on by a program on it: a proxy says so, or is asked for
    under a name of its own."""
    headers = call.request.headers
    passed_on = any(name in PASSED_ON or name.startswith("x-forwarded-") for name in headers)
    return is_loopback(call.address) and not passed_on and is_loopback(without_port(headers.get("host", "")))


async def logout(call: HttpCall) -> Reply:
    """Forget this browser."""
    token_id = call.caller.token_id
    if any(token.id == token_id and token.kind != "bearer" for token in call.parts.tokens.listed()):
        call.parts.tokens.revoke(token_id)
        await call.parts.tokens.saved()
    answer = no_content()
    if base := base_of(call.request):
        call.parts.gate.cookies.take_back(answer, base, secure=call.secure)
    return answer


async def new_code(call: HttpCall) -> Reply:
    """Make a one-time code that logs a browser in."""
    wanted = await call.body(NewCode, default=NewCode())
    check_scope(call.caller, wanted.scope)
    code = call.parts.codes.issue(call.caller.token_id, wanted.scope)
    return reply(Code(code, f"/#code={code}", call.parts.codes.lifetime_s), 201)


async def list_tokens(call: HttpCall) -> Reply:
    """Every token that works, without its secret."""
    return reply([_view(token) for token in call.parts.tokens.listed()])


async def make_token(call: HttpCall) -> Reply:
    """Make a token for another program or device."""
    body = await call.body(NewToken)
    name = token_name(body.name)
    if body.expires_in_s is not None and body.expires_in_s <= 0:
        raise Invalid("expiresInS must be positive", details={"field": "expiresInS"})
    token, secret = call.parts.tokens.mint(name, body.scope, parent=_maker(call), lifetime_s=body.expires_in_s)
    await call.parts.tokens.saved()
    return reply(MadeToken(secret, _view(token)), 201)


async def revoke_token(call: HttpCall) -> Reply:
    """Make a token, and the tokens, browsers and devices that came from it, useless."""
    call.parts.tokens.revoke(call.part("tokenId"))
    await call.parts.tokens.saved()
    return no_content()


def _grant(call: HttpCall, body: Login) -> LoginGrant | Unauthorized:
    """What the code or the token stands for, or why it stands for nothing."""
    try:
        if body.code is not None:
            grant = call.parts.codes.redeem(body.code)
            call.parts.tokens.check_live(grant.parent)
            return grant
        token = call.parts.tokens.find(body.token or "", "bearer")
        return LoginGrant(token.id, token.scope)
    except Unauthorized as error:
        return error


def _maker(call: HttpCall) -> str | None:
    """On whom a token that is made now depends. What the main token makes stands for itself: that one is never revoked, and where
    it is replaced the programs that were given tokens of their own go on."""
    keeper = call.parts.tokens.keeper(call.caller.token_id)
    return None if keeper == call.parts.tokens.main.id else keeper


async def _let_in(call: HttpCall, grant: LoginGrant) -> Reply:
    base, lifetime_s = new_base(), call.parts.options.login_s
    token, secret = call.parts.tokens.mint("browser", grant.scope, kind="browser", parent=grant.parent, lifetime_s=lifetime_s,
                                           base=base)
    await call.parts.tokens.saved()
    answer = reply(LoggedIn(grant.scope, token.expires_at or 0, base))
    call.hand_cookie(answer, secret, base, lifetime_s)
    return answer


def _view(token: Token) -> TokenView:
    return TokenView(token.id, token.name, token.scope, token.kind, token.created_at, token.expires_at)


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
