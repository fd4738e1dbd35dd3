"""A browser's cookie, and the path that it counts under.

Browsers keep cookies by host and not by port, so a server that an agent starts on another port of this host is sent whatever
cookie lies at ``/``, and could send it again with any headers it likes. Two things are in the way of that:

Rule 1: a cookie lies under a path of its own, ``/at/<key>``, which nobody can guess. The browser sends it with requests below
that path only, and nobody asks a program on another port for it.
Rule 2: a cookie counts only below the path that it was given for: the key is kept with the token, as a hash. The page keeps the
path in the browser's storage, which is separated by port.
Rule 3: every hub has a name of its own in its cookies, so that two hubs on one host leave each other's alone. Where somebody else
has set a cookie of the same name (any port may), each is tried. The nodes of a cluster share a name: behind one host name a
browser does not know which of them it meets.

The key alone is no credential: it may be seen in addresses, and lets nobody in.
"""

from __future__ import annotations

import re
import secrets

from starlette.types import Scope

from trunkline.server.http.messages import HTTPConnection, Response

PREFIX = "/at/"
SHARED_NAME = "trunkline_cluster"
TRIED_MOST = 8
"""Cookies of one name that are looked at."""
_BASED = re.compile(r"(/at/[\w-]{32})(/.*)", re.ASCII | re.DOTALL)
_KEY = "trunkline.base"


def new_base() -> str:
    """A path for one browser."""
    return PREFIX + secrets.token_urlsafe(24)


def split_base(path: str) -> tuple[str, str]:
    """The browser's own path, empty where there is none, and what is asked for."""
    found = _BASED.fullmatch(path)
    return (found[1], found[2]) if found else ("", path)


def without_base(scope: Scope) -> Scope:
    """The request as if it had been asked for at the top; ``base_of`` still knows where."""
    if not scope["path"].startswith(PREFIX):
        return scope
    base, path = split_base(scope["path"])
    if not base:
        return scope
    return {**scope, "path": path, "raw_path": scope["raw_path"].removeprefix(base.encode()), _KEY: base}


def base_of(connection: HTTPConnection) -> str:
    """The browser's own path that a request was asked for below; empty where there is none."""
    return str(connection.scope.get(_KEY, ""))


class Cookies:
    """The cookies of one hub."""

    def __init__(self, hub_name: str) -> None:
        self.name = f"trunkline_{hub_name}"
        self._names = {self.name}

    def join(self) -> None:
        """Give cookies under the cluster's name from now on; those under our own still count."""
        self.name = SHARED_NAME
        self._names.add(SHARED_NAME)

    def offered(self, connection: HTTPConnection) -> list[str]:
        """What came under our names."""
        pairs = (part.strip().partition("=") for header in connection.headers.getlist("cookie") for part in header.split(";"))
        return [value for name, _, value in pairs if name in self._names][:TRIED_MOST]

    def give(self, answer: Response, secret: str, base: str, *, lifetime_s: float, secure: bool) -> None:
        """Hand a browser its cookie."""
        answer.set_cookie(self.name, secret, max_age=int(lifetime_s), path=base, secure=secure)

    def take_back(self, answer: Response, base: str, *, secure: bool) -> None:
        """Have a browser forget it."""
        for name in self._names:
            answer.set_cookie(name, max_age=0, expires=0, path=base, secure=secure)
