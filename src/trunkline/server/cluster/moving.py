"""Moving a session to another node of its pool, for whoever asks at this one.

Only a hub in a cluster loads this.

Rule 1: an owner that is there is asked to let it go; one that is away is not waited for. The new owner's claim decides.
Rule 2: this node reads the history and sends it: it needs a key that reads all journals, and both others must let it act on them.
Rule 3: a session that went on while it was read is read again, a few times.
"""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.moving.history import Incoming, Offer, make_offer, written
from trunkline.cluster.moving.letting_go import let_go
from trunkline.cluster.moving.taking_in import take_in
from trunkline.cluster.node import ClusterNode
from trunkline.cluster.shipping.claim import last_marked
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.errors import Conflict, Invalid, NotOwner, SessionNotFound, TrunklineError, Unsupported
from trunkline.hub import Hub, SessionView
from trunkline.server.auth.guests import Caller
from trunkline.server.cluster.face import TakenIn
from trunkline.server.elsewhere import Elsewhere

log = logging.getLogger("trunkline.cluster")

TRIES: Final = 3
WATCHED: Final = b'"watchOnly":true'
"""In a session's row: somebody else runs its agent."""
_taken_in = decoders.of(TakenIn)


class Mover:
    """Moves sessions for ``caller``."""

    def __init__(self, node: ClusterNode, hub: Hub, elsewhere: Elsewhere, caller: Caller) -> None:
        self._node, self._hub, self._elsewhere, self._caller = node, hub, elsewhere, caller

    async def move(self, session_id: str, to: str, *, force: bool = False) -> SessionView:
        """Have ``to`` go on with the session; its view there."""
        self._node.connection.check_up()
        place = await self._place(session_id)
        self._check(place, to)
        was_away = await self._let_go(place, to, force)
        for _ in range(TRIES):
            offer = await self._offer(place, was_away)
            try:
                taken = await self._take_in(to, offer)
            except Conflict as error:
                log.info("session %s is read once more: %s", session_id, error.message)
                refused = error
            else:
                log.info("session %s was moved from %s to %s by %s", session_id, place.owner, to, self._caller.name)
                await self._bring_key(taken, to)
                return taken.session
        raise refused

    async def _place(self, session_id: str) -> SessionPlace:
        directory = self._node.directory
        if session_id not in directory.places:
            await self._hub.session(session_id)  # SessionNotFound, unless it has just begun here
            await directory.wait_for(session_id)
        return directory.place(session_id)

    def _check(self, place: SessionPlace, to: str) -> None:
        if to == place.owner:
            raise Invalid(f"session {place.id} is on {to} already", details={"field": "node"})
        if WATCHED in bytes(place.summary):
            raise Unsupported("a session that another program runs stays where that is")
        row = self._node.placement.check(to)
        if row.pool != place.pool:
            raise Invalid(f"{to} is of pool {row.pool}, and session {place.id} of pool {place.pool}: only nodes of one --pool "
                          f"take over from each other", details={"field": "node"})

    async def _let_go(self, place: SessionPlace, to: str, force: bool) -> bool:
        """Have the owner let it go; returns whether it is away."""
        if self._node.standing.away(place.owner) is not None:
            return True
        try:
            if place.owner == self._node.node:
                await let_go(self._node, self._hub, place.id, to, force=force)
            else:
                body = msgspec.json.encode({"to": to, "force": force})
                await self._elsewhere.have_done(Owner(place.owner, place.epoch), self._caller,
                                                f"/cluster/sessions/{place.id}/let-go", body, session=place.id)
        except (SessionNotFound, NotOwner) as error:
            log.warning("%s does not have session %s any more: %s", place.owner, place.id, error.message)
        return False

    async def _bring_key(self, taken: TakenIn, to: str) -> None:
        """Whoever starts the session once more, under its key, is to find it where it is now."""
        if self._node.start_places is None or taken.start_key is None:
            return
        try:
            await self._node.start_places.moved(taken.start_key, to)
        except TrunklineError as error:  # the next try with that key starts another session
            log.warning("the key that session %s was started under still leads elsewhere: %s", taken.session.id, error.message)

    async def _offer(self, place: SessionPlace, was_away: bool) -> Offer:
        known, mark = await last_marked(self._node.connection, place.pool, place.id)
        return await make_offer(self._node.connection, place, known, mark, was_away=was_away, by=self._caller.name)

    async def _take_in(self, to: str, offer: Offer) -> TakenIn:
        history = written(self._node.reader, offer)
        if to == self._node.node:
            session = await take_in(self._node, self._hub, Incoming(history))
            return TakenIn(session.view(), session.fold.start_key)
        answer = await self._elsewhere.have_done(Owner(to), self._caller, f"/cluster/sessions/{offer.session}/take-in", history)
        return _taken_in.decode(answer)
