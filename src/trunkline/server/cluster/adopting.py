"""Sessions of a node that is away, taken over by another one of its pool, where that shares its folders and its agents' own files
(``--pool-shared``). In all other pools somebody has to say so (``trunkline cluster move``).

Only a hub in a cluster loads this.

Rule 1: one gateway at a time does it (a lease). Where two believe that they have it, the stream's fence lets one of them through.
Rule 2: both nodes say that the pool is shared: the one that is away said it when it was last started.
Rule 3: a node that stops and starts again is not away: it has AWAY_S to come back.
Rule 4: one session after the other, those that were used last first. What cannot be taken over is tried again, ever less often.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from trunkline.cluster.directory import SessionPlace
from trunkline.cluster.members.placement import Wish
from trunkline.cluster.node import ClusterNode
from trunkline.cluster.tables.lease import Lease
from trunkline.errors import TrunklineError
from trunkline.hub import Hub
from trunkline.server.auth.guests import Caller
from trunkline.server.cluster.moving import Mover
from trunkline.server.elsewhere import Elsewhere

log = logging.getLogger("trunkline.cluster")

AWAY_S: Final = 45.0
"""Since a node was last heard of: its lease of 30 s is over then, and a hub that is started anew is back."""
LOOK_S: Final = 5.0
RETRY_S: Final = 30.0
RETRY_MOST_S: Final = 1800.0
KEY: Final = "adopter"
CLUSTER: Final = Caller("the cluster", "control", "cluster")
"""Who does it, in the journal."""


class Adopter:
    """Takes sessions over for their pool."""

    def __init__(self, node: ClusterNode, hub: Hub, elsewhere: Elsewhere, *, away_s: float = AWAY_S) -> None:
        self._node = node
        self._mover = Mover(node, hub, elsewhere, CLUSTER)
        self._lease = Lease(node.state.copy, KEY, node.node.encode())
        self._away_s = away_s
        self._began = time.time()
        self._later: dict[str, tuple[float, float]] = {}
        """Sessions that could not be taken over: when it is tried again, and how long the wait was."""

    async def run(self) -> None:
        """Do it until cancelled, while this node is the one that does it."""
        await self._lease.hold(self._look_always)

    async def _look_always(self) -> None:
        while True:
            for place in self._left():
                await self._lease.held()
                await self._take_over(place)
            await asyncio.sleep(LOOK_S)

    def _left(self) -> list[SessionPlace]:
        """The sessions that somebody should take over, the newest first."""
        places = self._node.directory.places.values()
        gone = {owner for owner in {place.owner for place in places} if self._is_left(owner)}
        now = time.monotonic()
        left = [place for place in places if place.owner in gone and self._later.get(place.id, (0.0, 0.0))[0] <= now]
        return sorted(left, key=lambda place: place.updated_at, reverse=True)

    def _is_left(self, owner: str) -> bool:
        seen = self._node.marks.seen(owner)
        if seen is None or not seen.shared or self._node.standing.away(owner) is None:
            return False
        heard = self._node.nodes.heard_at.get(owner, 0) / 1e6
        return time.time() - max(heard, self._began) > self._away_s

    async def _take_over(self, place: SessionPlace) -> None:
        try:
            to = self._node.placement.choose(Wish(pool=place.pool), own_running=self._node.load().running, shared=True)
            await self._mover.move(place.id, to)
        except TrunklineError as error:
            _, waited_s = self._later.get(place.id, (0.0, RETRY_S / 2))
            wait_s = min(2 * waited_s, RETRY_MOST_S)
            self._later[place.id] = time.monotonic() + wait_s, wait_s
            log.warning("session %s of %s could not be taken over: %s", place.id, place.owner, error.message)
        else:
            self._later.pop(place.id, None)
            log.warning("session %s was taken over from %s, which is away, by %s", place.id, place.owner, to)
