"""A new session at any gateway of a cluster: the node that takes it is chosen, and asked.

Only a hub in a cluster loads this.

Rule 1: what cannot be placed is refused at once, with the reason (``cluster/members/placement.py``).
Rule 2: under a key the node is written down before it is asked, so that a second try, at whichever gateway, goes to the same one.
        It is forgotten where this very try chose it and was refused: then nothing can have been started there.
Rule 3: while the cluster is away a hub that runs sessions starts them itself, as a hub of its own does.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from starlette.types import Message, Receive

from trunkline.cluster.members.placement import Wish
from trunkline.cluster.tunnel.gateway import Owner, TunnelReply
from trunkline.errors import Invalid, NodeSilent, TrunklineError
from trunkline.hub import NewSession
from trunkline.hub.start_keys import digest_of
from trunkline.server.call import HttpCall, Reply
from trunkline.server.elsewhere import Elsewhere, GuardedReply
from trunkline.server.sessions.sessions import start_here, start_key

if TYPE_CHECKING:
    from trunkline.cluster.members.start_places import Place, StartPlaces
    from trunkline.cluster.node import ClusterNode


async def start(call: HttpCall, raw: bytes, new: NewSession) -> Reply:
    """Have a session started where it is to run; ``raw`` is the body that ``new`` was read from."""
    elsewhere, cluster = call.parts.elsewhere, call.parts.cluster
    assert elsewhere is not None, "it is in a cluster"
    wish = Wish(node=_named(call, new), pool=new.pool, labels=new.labels)
    key = start_key(call)
    places = cluster.start_places if cluster is not None and cluster.connection.up else None
    if key is None or places is None:
        return await _start_at(_choose(wish, elsewhere, cluster), elsewhere, call, raw, new)
    return await _KeyedStart(places, key, wish, elsewhere, cluster).reply(call, raw, new)


class _KeyedStart:
    """A start under a key."""

    def __init__(self, places: StartPlaces, key: str, wish: Wish, elsewhere: Elsewhere, cluster: ClusterNode | None) -> None:
        self._places, self._key, self._wish = places, key, wish
        self._elsewhere, self._cluster = elsewhere, cluster
        self._chose = ""

    async def reply(self, call: HttpCall, raw: bytes, new: NewSession) -> Reply:
        """Ask the node that was chosen first."""
        place = await self._places.place(self._key, digest_of(new), self._choose)
        try:
            answer = await _start_at(place.node, self._elsewhere, call, raw, new)
        except NodeSilent:
            raise  # whether it was started is not known: the next try has to go there as well
        except TrunklineError:
            await self._forget(place)
            raise
        if isinstance(answer, TunnelReply) and answer.status >= 400:
            await self._forget(place)
        return answer

    async def _choose(self) -> str:
        self._chose = _choose(self._wish, self._elsewhere, self._cluster)
        return self._chose

    async def _forget(self, place: Place) -> None:
        if place.node == self._chose:
            with contextlib.suppress(TrunklineError):  # it ends by itself
                await self._places.forget(self._key, place)


def _named(call: HttpCall, new: NewSession) -> str | None:
    asked = call.text("node")
    if asked and new.node and asked != new.node:
        raise Invalid(f"node: the address says {asked[:80]!r} and the body {new.node[:80]!r}", details={"field": "node"})
    return asked or new.node


def _choose(wish: Wish, elsewhere: Elsewhere, cluster: ClusterNode | None) -> str:
    if cluster is None:
        return wish.node or elsewhere.node
    return cluster.placement.choose(wish, own_running=cluster.load().running)


async def _start_at(node: str, elsewhere: Elsewhere, call: HttpCall, raw: bytes, new: NewSession) -> Reply:
    if node == elsewhere.node:
        return await start_here(call, new)
    answer = await elsewhere.ask(Owner(node), call, _again(raw, call.request.receive))
    assert not isinstance(answer, GuardedReply), "a start is no stream"
    return answer


def _again(raw: bytes, receive: Receive) -> Receive:
    """A body that was read already, and then whatever else the client does."""
    left: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def bring() -> Message:
        return left.pop() if left else await receive()

    return bring
