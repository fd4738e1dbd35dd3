"""Who is asking: the request's address and its credential.

Rule 1: a Host that is not ours is refused (DNS rebinding), and so is an Origin that is not ours, whatever else is right.
Rule 2: a cookie counts only when the browser vouches that the request comes from our own page: ``Sec-Fetch-Site: same-origin``,
or, where it does not send that, an Origin that is exactly ours, port included; and only below its own path (``cookies.py``).
Rule 3: one credential per request: a bearer token that is wrong is not made good by a cookie.
Rule 4: here, and nowhere else, a stranger's connection becomes a friend's (``http/connections.py``).
Rule 5: of a guest (``guests.py``) another node has found all of this out already.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from trunkline.dialects.outside import is_whole_number
from trunkline.errors import Forbidden, Invalid, Unauthorized
from trunkline.server.auth.cookies import Cookies, base_of
from trunkline.server.auth.guests import NOBODY, Caller, guest_of
from trunkline.server.auth.tokens import Token, Tokens, TokenScope, allows
from trunkline.server.http.connections import place_of
from trunkline.server.http.messages import HTTPConnection
from trunkline.server.options import ServerOptions

__all__ = ["NOBODY", "Caller"]


def headers(request: HTTPConnection, name: bytes) -> list[str]:
    """What came under a name, which is in small letters. (Starlette's mapping makes five calls of it.)"""
    found = []
    for each, value in request.scope["headers"]:  # a comprehension is a call, and this is twice for each request
        if each == name:
            found.append(value.decode("latin-1"))
    return found


def header(request: HTTPConnection, name: bytes) -> str | None:
    """The first that came under a name; None where none did."""
    for each, value in request.scope["headers"]:
        if each == name:
            return str(value, "latin-1")
    return None


_HOST = re.compile(r"(?:\[[0-9a-f:.]{2,45}(?:%[\w.~-]{1,40})?\]|[\w.-]{1,255})(?::[0-9]{1,5})?", re.ASCII)
"""What a Host header may be (RFC 9110, 7.2): an address in brackets or a name, and a port. Addresses are made of it later."""

HOSTS_KNOWN = 64
"""Hosts that are remembered; a hub is asked by two or three names."""


class RequestGate:
    """Lets a request in, or says why not."""

    def __init__(self, options: ServerOptions, tokens: Tokens) -> None:
        self._tokens = tokens
        self._names = {"localhost", *(name.lower() for name in options.allow_host)}
        if options.public_url:
            self._names.add(urlsplit(options.public_url).netloc.lower())  # where people are sent they must be let in
        self._any_address = not is_loopback(options.host)
        self._known_hosts: set[str] = set()
        """Hosts that were found to be ours: what makes them so does not change, and each request names one."""
        self.cookies = Cookies(tokens.hub_name)
        self.expect_session: Callable[[], None] = lambda: None
        """Called when somebody was let in who may start a session."""

    def check_host(self, request: HTTPConnection) -> None:
        """Forbidden, unless the Host is loopback, allowed by name, or an address while we listen on more than loopback."""
        hosts = headers(request, b"host")
        if guest_of(request.scope) is not None:
            return
        if len(hosts) != 1:
            raise Invalid("exactly one Host header is needed")
        host = hosts[0].lower()
        if host in self._known_hosts:
            return
        name = without_port(host)
        if _HOST.fullmatch(host) and (name in self._names or host in self._names or self._is_our_address(name)):
            if len(self._known_hosts) < HOSTS_KNOWN:
                self._known_hosts.add(host)
            return
        raise Forbidden(f"the host {host!r} is not on the allow-list (start the hub with --allow-host {name})")

    def check_origin(self, request: HTTPConnection) -> None:
        """Forbidden, when an Origin came and is not ours."""
        origins = headers(request, b"origin")
        if origins and guest_of(request.scope) is None and any(not _is_own(origin, request) for origin in origins):
            raise Forbidden(f"the origin {origins[0]!r} may not use this hub")

    def caller(self, request: HTTPConnection) -> Caller:
        """Who asks; Unauthorized without a good credential. The connection is a friend's from then on."""
        return self._let_in(guest_of(request.scope) or self._vouched(request), request)

    def _vouched(self, request: HTTPConnection) -> Caller:
        bearer = _bearer(request)
        if bearer is not None:
            return _caller(self._tokens.find(bearer, "bearer"))
        offered = self.cookies.offered(request)
        if not offered:
            raise Unauthorized("a token is needed: Authorization: Bearer …")
        if not _comes_from_own_page(request):
            raise Unauthorized("a cookie counts only for requests from the hub's own page")
        return self._by_cookie(offered, base_of(request))

    def _by_cookie(self, offered: list[str], base: str) -> Caller:
        for secret in offered[:-1]:
            with contextlib.suppress(Unauthorized):
                return _caller(self._tokens.find(secret, "browser", "device", base=base))
        return _caller(self._tokens.find(offered[-1], "browser", "device", base=base))

    def holder(self, secret: str, connection: HTTPConnection) -> Caller:
        """Who a bearer token belongs to that came in a frame; Unauthorized where nobody. It makes a friend, too."""
        return self._let_in(_caller(self._tokens.find(secret, "bearer")), connection)

    def _let_in(self, caller: Caller, connection: HTTPConnection) -> Caller:
        _befriend(connection)
        if allows(caller.scope, "control"):
            self.expect_session()
        return caller

    def _is_our_address(self, name: str) -> bool:
        # A rebinding attack needs a name: a browser that was sent to a bare address is where it thinks it is.
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return address.is_loopback or self._any_address


def check_scope(caller: Caller, needed: TokenScope) -> None:
    """Forbidden, unless the caller's token goes that far."""
    if not allows(caller.scope, needed):
        raise Forbidden(caller.limit or f"this needs a token with the scope {needed!r}; yours has {caller.scope!r}",
                        details={"needed": needed, "scope": caller.scope})


def own_origin(request: HTTPConnection) -> str:
    """The origin under which the browser sees us."""
    return f"{request.scope['scheme']}://{request.headers['host'].lower()}"


def _caller(token: Token) -> Caller:
    return Caller(token.name if token.name == "main" else f"{token.name} ({token.id})", token.scope, token.id)


def _befriend(request: HTTPConnection) -> None:
    place = place_of(request.scope)
    if place is not None:
        place.befriend()


def _bearer(request: HTTPConnection) -> str | None:
    authorization = header(request, b"authorization")
    if authorization is None:
        return None
    kind, _, secret = authorization.partition(" ")
    if kind.lower() != "bearer" or not secret.strip():
        raise Unauthorized("Authorization must be: Bearer <token>")
    return secret.strip()


def _comes_from_own_page(request: HTTPConnection) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and _is_own(origin, request)


def _is_own(origin: str, request: HTTPConnection) -> bool:
    host = request.headers["host"].lower()
    # Behind a proxy that ends TLS we see http where the browser sees https; the port is still compared.
    return origin.lower() in (f"{request.scope['scheme']}://{host}", f"https://{host}")


def without_port(host: str) -> str:
    """The name in a Host header; all of it where what follows is no port."""
    name, _, port = host.rpartition(":")
    return name if name and is_whole_number(port) else host


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
