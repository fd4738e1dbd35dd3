"""Who holds a connection, and who makes room when there are too many.

A connection is a *stranger's* until the credential of its request has counted, and again from the head of its next request on;
else it is a *friend's*. Nobody is a friend who was not a stranger first, so strangers must always find a way in as well.

Rule 1: strangers cannot use up what friends need. Half of all places are kept for friends, and strangers of one address hold at
most ``per_address``; friends do not count there, since behind a proxy or ``ssh -L`` everybody has the same address.
Rule 2: who comes is let in, and where strangers are too many the one goes whose last whole request is longest ago, of the address
that has most of them. So whoever sends its request at once is served, however many others keep silent.
Rule 3: friends beyond ``limit`` are answered 503; nobody is cut off in the middle of an answer for them.
Rule 4: descriptors are shared with the agents' pipes and the journal: connections get at most half of them.
"""

from __future__ import annotations

import resource
from collections.abc import Callable

from starlette.types import Scope

from trunkline.errors import Unavailable

CONNECTIONS = 2_000
"""A hub for one person or a team: a page holds one or two, a program a few."""
FILES_WANTED = 8_192
"""Descriptors that the hub asks the system for: twice what its connections take, and as many for agents. macOS gives 10,240."""
OVERFLOW = 64
"""Strangers that there is room for even when friends hold everything: to be refused, they must be read."""
KEY = "trunkline"
"""Where the extensions of a request's scope say by whose connection it came."""


class Connections:
    """The places of one server."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.strangers_most = max(limit // 2, 1)
        self.per_address = max(limit // 4, 1)
        self.friends = 0
        self.strangers = 0
        self.dropped = 0
        self._by_address: dict[str, dict[ConnectionPlace, None]] = {}

    def enter(self, address: str, drop: Callable[[], None]) -> ConnectionPlace:
        """A new connection; ``drop`` ends it."""
        place = ConnectionPlace(self, address, drop)
        self._add(place)
        return place

    def make_room(self) -> bool:
        """Drop the stranger that can be missed most; False where there is none."""
        if not self._by_address:
            return False
        self._drop_oldest(max(self._by_address.values(), key=len))
        return True

    def _add(self, place: ConnectionPlace) -> None:
        """A stranger more, and where that is too many one less."""
        of_address = self._by_address.setdefault(place.address, {})
        if len(of_address) >= self.per_address:
            self._drop_oldest(of_address)
            of_address = self._by_address.setdefault(place.address, {})
        elif self.strangers >= min(self.strangers_most, max(self.limit - self.friends, OVERFLOW)):
            self.make_room()
            of_address = self._by_address.setdefault(place.address, {})
        of_address[place] = None
        self.strangers += 1

    def _drop_oldest(self, places: dict[ConnectionPlace, None]) -> None:
        place = next(iter(places))
        place.leave()
        self.dropped += 1
        place.drop()

    def _remove(self, place: ConnectionPlace) -> None:
        of_address = self._by_address[place.address]
        del of_address[place]
        if not of_address:
            del self._by_address[place.address]
        self.strangers -= 1

    def _renew(self, place: ConnectionPlace) -> None:
        of_address = self._by_address[place.address]
        del of_address[place]
        of_address[place] = None


class ConnectionPlace:
    """One connection's place."""

    __slots__ = ("_all", "address", "drop", "has_left", "is_friend", "on_friend")

    def __init__(self, connections: Connections, address: str, drop: Callable[[], None]) -> None:
        self._all = connections
        self.has_left = False
        self.address = address
        """Whose it is, as far as is known: of a proxy's connection that of the request."""
        self.drop = drop
        self.is_friend = False
        self.on_friend: Callable[[], None] | None = None
        """Called when the credential has counted, by who allows friends more."""

    def begin(self, address: str) -> None:
        """The head of a request is here: nobody has vouched for it yet."""
        if self.has_left or (address == self.address and not self.is_friend):
            return
        if self.is_friend:
            self._all.friends -= 1
        else:
            self._all._remove(self)
        self.address, self.is_friend = address, False
        self._all._add(self)

    def whole(self) -> None:
        """The request is here to its end."""
        if not (self.has_left or self.is_friend):
            self._all._renew(self)

    def befriend(self) -> None:
        """Its credential counts. Unavailable, where friends have taken every place already."""
        if self.has_left or self.is_friend:
            return
        if self._all.friends >= self._all.limit:
            raise Unavailable(f"more than {self._all.limit} connections are open", details={"retryAfterS": 5})
        self._all._remove(self)
        self._all.friends += 1
        self.is_friend = True
        if self.on_friend is not None:
            self.on_friend()

    def leave(self) -> None:
        """The connection has ended, or is about to."""
        if self.has_left:
            return
        if self.is_friend:
            self._all.friends -= 1
        else:
            self._all._remove(self)
        self.has_left = True


def carrying(place: ConnectionPlace) -> dict[object, object]:
    """What goes into the extensions of a scope, under KEY."""
    return {"place": place}


def place_of(scope: Scope) -> ConnectionPlace | None:
    """Whose connection a request came by; None where it came by none, as in tests."""
    found: ConnectionPlace | None = scope.get("extensions", {}).get(KEY, {}).get("place")
    return found


def files_limit() -> int:
    """How many descriptors this process may have, after asking for as many as it wants."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


def connections_limit(files: int) -> int:
    """How many connections there may be with that many descriptors."""
    return max(min(CONNECTIONS, files // 2 - OVERFLOW), 16)
