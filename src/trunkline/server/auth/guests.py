"""Callers that another node of the cluster vouches for: who they are, and how far they may go here.

Rule 1: a guest is known by what the tunnel's own end puts into the request's scope. Nothing that comes over HTTP gets there.
Rule 2: a guest goes no further than its gateway: one that is not on this node's list reads at most, whatever it says.
Rule 3: the scope is looked at again by every route, as for callers of our own; and no route answers a guest that is not for a
session or a node (``Route.at``).
Rule 4: a guest counts for as long as its tunnel is open. Whether its token still counts is the gateway's to know, and it closes
the tunnel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.types import Scope

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Invalid
from trunkline.server.auth.tokens import GUESTS, NAME_LENGTH, SCOPES, TokenScope

if TYPE_CHECKING:
    from trunkline.cluster.tunnel.heads import Claim

ANY = "*"
"""In place of a gateway's name: all of them."""
KEY = "trunkline.guest"
"""Where the extensions of a request's scope have its guest."""


class Caller(msgspec.Struct, frozen=True):
    """Who sent a request, as the journal will name them, and what they may do."""

    name: str
    scope: TokenScope
    token_id: str
    limit: str = ""
    """Why it is not more, where the token is not the reason."""


NOBODY = Caller("nobody", "view", "")
"""Who asks for what needs no credential."""


def guest_of(scope: Scope) -> Caller | None:
    """The guest that a request comes from; None where it came over HTTP."""
    found: Caller | None = scope.get("extensions", {}).get(KEY)
    return found


class Guests:
    """Lets guests in. ``acting`` are the gateways that may act on this node; it may change."""

    def __init__(self, acting: Collection[str]) -> None:
        self.acting = acting

    def admit(self, sender: str, claim: Claim | None) -> Mapping[str, Any]:
        """What the scope of a request says of its guest; Invalid where that is nobody."""
        return {KEY: NOBODY if claim is None else self._caller(sender, claim)}

    def _caller(self, sender: str, claim: Claim) -> Caller:
        try:
            scope = decoders.convert(claim.scope, TokenScope)
        except BROKEN:
            raise Invalid(f"there is no scope {claim.scope[:40]!r}") from None
        name = f"{_readable(claim.name)} at {sender}"
        if sender in self.acting or ANY in self.acting:
            return Caller(name, scope, GUESTS + claim.id)
        return Caller(name, SCOPES[0], GUESTS + claim.id,
                      limit=f"{sender} may only read here; this node was not started with --gateways {sender}")


def _readable(name: str) -> str:
    """A name that others gave; people read it in the journal."""
    if not name.isprintable() or len(name) > 2 * NAME_LENGTH:
        raise Invalid("a caller's name must be short and have no control or invisible characters")
    return name
