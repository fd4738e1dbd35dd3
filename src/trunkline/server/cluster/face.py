"""A cluster's nodes over HTTP.

Rule: a handler asks the node that this hub is in its cluster; without one the answer is ``not_clustered``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trunkline.errors import Forbidden, NodeThere, NodeUnknown, NotClustered
from trunkline.hub import SessionView
from trunkline.server.auth.guests import guest_of
from trunkline.server.call import HttpCall, Reply, no_content, reply

if TYPE_CHECKING:
    from trunkline.cluster.node import ClusterNode


HISTORY_MOST = 1 << 40
"""Of a session's history: what a node sends another is bounded by its disk, and each page is (``cluster/moving/history.py``)."""


class Move(msgspec.Struct, forbid_unknown_fields=True):
    """Where a session is to go on."""

    node: str
    force: bool = False
    """Cut a running turn off."""


class LetGo(msgspec.Struct, forbid_unknown_fields=True):
    """Who is to have a session."""

    to: str
    force: bool = False


class TakenIn(msgspec.Struct, rename="camel"):
    """A session where it goes on, and the key that it was started under, for the table of those."""

    session: SessionView
    start_key: str | None


class Drain(msgspec.Struct, forbid_unknown_fields=True):
    """Whether a node is to take no new sessions."""

    draining: bool = True


async def show(call: HttpCall) -> Reply:
    """All nodes, as this one sees them."""
    return reply(_node(call).view())


async def drain(call: HttpCall) -> Reply:
    """Let no new sessions begin at a node, or let them again."""
    node, name = _node(call), call.part("node")
    wanted = await call.body(Drain, default=Drain())
    _check_known(node, name)
    await node.marks.drain(name, draining=wanted.draining, by=call.caller.name)
    return reply(node.view())


async def forget(call: HttpCall) -> Reply:
    """Say that a node is gone for good."""
    node, name = _node(call), call.part("node")
    _check_known(node, name)
    if node.nodes.is_there(name):
        raise NodeThere(f"{name} is connected; stop it first, or drain it", details={"node": name})
    await node.marks.forget(name, by=call.caller.name)
    return reply(node.view())


async def move(call: HttpCall) -> Reply:
    """Have another node go on with a session."""
    if call.parts.cluster is None:
        await call.session()  # one that nobody has is not to be found, whether there is a cluster or not
    node, wanted = _node(call), await call.body(Move)
    from trunkline.server.cluster.moving import Mover

    assert call.parts.elsewhere is not None, "it is in a cluster"
    view = await Mover(node, call.hub, call.parts.elsewhere, call.caller).move(call.part("id"), wanted.node, force=wanted.force)
    return reply(view)


async def let_go(call: HttpCall) -> Reply:
    """Stop a session of this node, and bring all of it to the stream."""
    node, wanted = _for_nodes(call), await call.body(LetGo)
    from trunkline.cluster.moving.letting_go import let_go as let_go_here

    await let_go_here(node, call.hub, call.part("id"), wanted.to, force=wanted.force)
    return no_content()


async def take_in(call: HttpCall) -> Reply:
    """Go on with a session that comes in the body."""
    node = _for_nodes(call)
    from trunkline.cluster.moving.history import Incoming
    from trunkline.cluster.moving.taking_in import take_in as take_in_here

    session = await take_in_here(node, call.hub, Incoming(call.chunks(HISTORY_MOST)))
    return reply(TakenIn(session.view(), session.fold.start_key))


def _for_nodes(call: HttpCall) -> ClusterNode:
    if guest_of(call.request.scope) is None:
        raise Forbidden("only other nodes of the cluster ask for this; people use POST /sessions/{id}/move")
    return _node(call)


def _check_known(node: ClusterNode, name: str) -> None:
    if not node.standing.is_known(name):
        raise NodeUnknown(f"the cluster has no node {name[:80]}", details={"node": name[:80]})


def _node(call: HttpCall) -> ClusterNode:
    if call.parts.cluster is None:
        raise NotClustered("this hub is in no cluster: it was started without --cluster")
    return call.parts.cluster
