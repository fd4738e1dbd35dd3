"""Codes that wait for a device: made, guessed at, used up.

Rule 1: a code works once, for ten minutes, and dies of five wrong tries. Its first letters find it, the others are the secret;
what is kept of them is a hash, compared in constant time also where there is nothing to find.
Rule 2: where they are kept decides who is first: this hub's memory, or the cluster's table (``shared_pairings.py``).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from trunkline.errors import Unauthorized
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.auth.tries import FailedTries

PAIR_S = 600.0
WRONG_MOST = 5
WRONG_OF_ALL = 1_000
"""From all addresses: with a chance of one in 800 to have named the first letters of a code, once."""
OPEN_MOST = 16
LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Those that nobody takes for another when a code is typed."""
NAME_LETTERS, SECRET_LETTERS = 4, 12


class Offer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a code stands for, until it is used, old, or was guessed at too often. ``secret`` is a hash."""

    secret: str
    parent: str
    scope: TokenScope
    name: str | None = None
    node: str | None = None
    """The node whose own token ``parent`` is, in a cluster."""
    wrong: int = 0


_NOTHING = Offer(secret="", parent="", scope="view")


class OpenCodes(Protocol):
    """Where codes wait, by their first letters."""

    async def add(self, found: str, offer: Offer) -> bool:
        """Keep one for ``PAIR_S``; False where the letters are another's."""

    async def look(self, found: str) -> Offer | None:
        """What waits under these letters."""

    async def take(self, found: str, offer: Offer) -> bool:
        """Use it up; False where somebody else did, or it has changed."""

    async def missed(self, found: str) -> None:
        """Somebody named the wrong secret."""


class CodesInMemory:
    """The codes of one hub."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, tuple[Offer, float]] = {}

    async def add(self, found: str, offer: Offer) -> bool:
        """As ``OpenCodes.add``; where too many wait the oldest goes."""
        self._forget_old()
        while len(self._open) >= OPEN_MOST:
            del self._open[next(iter(self._open))]
        if found in self._open:
            return False
        self._open[found] = offer, self._clock() + PAIR_S
        return True

    async def look(self, found: str) -> Offer | None:
        """As ``OpenCodes.look``."""
        self._forget_old()
        return self._open[found][0] if found in self._open else None

    async def take(self, found: str, offer: Offer) -> bool:
        """As ``OpenCodes.take``."""
        if await self.look(found) != offer:
            return False
        del self._open[found]
        return True

    async def missed(self, found: str) -> None:
        """As ``OpenCodes.missed``."""
        if found not in self._open:
            return
        offer, until = self._open.pop(found)
        if offer.wrong + 1 < WRONG_MOST:
            self._open[found] = msgspec.structs.replace(offer, wrong=offer.wrong + 1), until

    def _forget_old(self) -> None:
        now = self._clock()
        self._open = {found: each for found, each in self._open.items() if each[1] > now}


class Pairings:
    """Codes that wait for a device, and who named wrong ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._codes: OpenCodes = CodesInMemory(clock)
        self.tries = FailedTries(clock, most=WRONG_MOST, of_all=WRONG_OF_ALL, within_s=PAIR_S)

    def keep_in(self, codes: OpenCodes) -> None:
        """Keep codes somewhere else from now on."""
        self._codes = codes

    async def offer(self, parent: str, scope: TokenScope, name: str | None, *, node: str | None = None) -> str:
        """A new code that lets one device in, in the name of the token ``parent``."""
        secret = _letters(SECRET_LETTERS)
        made = Offer(secret=_digest(secret), parent=parent, scope=scope, name=name, node=node)
        while not await self._codes.add(found := _letters(NAME_LETTERS), made):
            pass
        whole = found + secret
        return "-".join(whole[at:at + 4] for at in range(0, len(whole), 4))

    async def claim(self, code: str) -> Offer:
        """Use a code up; Unauthorized where it is unknown, used, old or dead."""
        plain = "".join(code.split()).replace("-", "").upper()
        found, secret = plain[:NAME_LETTERS], plain[NAME_LETTERS:]
        offer = await self._codes.look(found) or _NOTHING
        is_right = hmac.compare_digest(offer.secret, _digest(secret))
        if is_right and await self._codes.take(found, offer):
            return offer
        if not is_right:
            await self._codes.missed(found)
        raise Unauthorized("the code is wrong, used or expired; make a new one")


def _letters(count: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(count))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
