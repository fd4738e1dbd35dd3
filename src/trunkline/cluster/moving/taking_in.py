"""A node takes a session in: its history into the local journal, then the claim, then it goes on here.

Rule 1: until the claim is acknowledged the copy is nobody's: the ledger says so, on the disk, before the first entry is written.
        A start that finds such a copy throws it away.
Rule 2: the session's folder and its agent have to be here. What could not go on is refused before anything is written.
Rule 3: where the owner could not be asked it may have more entries, which some of its readers have seen. The new owner goes on
        HOLE numbers further, so that a cursor says by itself that it stands in what was lost: whoever has it meets a gap.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Final

from trunkline.cluster.shipping.claim import claim
from trunkline.errors import Conflict, HubRestarted, Invalid, TrunklineError
from trunkline.journal.base import Entry
from trunkline.session.fold.kept import Arrival

if TYPE_CHECKING:
    from trunkline.cluster.moving.history import Incoming, Offer
    from trunkline.cluster.node import ClusterNode
    from trunkline.hub import Hub, Session

HOLE: Final = 10_000_000
"""More entries than a node may have that the stream has not (1 GiB of them, ``shipping/shipper.py``)."""


async def take_in(node: ClusterNode, hub: Hub, incoming: Incoming) -> Session:
    """Take a session in that another node offers; Conflict where it went on meanwhile, or somebody else was first."""
    offer = await incoming.offer()
    _check(node, offer)
    await hub.handing.check_can_go_on(offer.agent, offer.cwd)
    if offer.session in node.taking_in:
        raise Conflict(f"session {offer.session} is being taken in here already")
    node.taking_in.add(offer.session)
    try:
        await _claimed(node, hub, offer, incoming)
        return await hub.handing.arrived(offer.session, _arrival(node, offer), _cut_off(node, offer))
    finally:
        node.taking_in.discard(offer.session)


async def _claimed(node: ClusterNode, hub: Hub, offer: Offer, incoming: Incoming) -> None:
    """The history is here, and the session is this node's."""
    if not node.shipper.row(offer.session).over and await hub.handing.has(offer.session):
        raise Conflict(f"session {offer.session} is on {node.node} already")
    await node.shipper.hold_apart(offer.session)
    try:
        await hub.handing.take_in(offer.row, _checked(incoming.pages(), offer))
        row = await claim(node.connection, offer.pool, offer.session, offer.known, incarnation=node.incarnation,
                          why=f"moved by {offer.by}" if offer.by else "")
    except BaseException:
        await hub.handing.throw_out(offer.session)
        await node.shipper.forget(offer.session)
        raise
    await node.shipper.adopt(row)


async def _checked(pages: AsyncIterator[list[Entry]], offer: Offer) -> AsyncGenerator[list[Entry], None]:
    """The pages; Invalid where they are not what was offered: rising, and up to its end."""
    last = 0
    async for page in pages:
        for entry in page:
            if entry.seq <= last:
                raise Invalid(f"entry {entry.seq} of session {offer.session} comes behind {last}")
            last = entry.seq
        yield page
    if last != offer.seq:
        raise Invalid(f"session {offer.session} was offered up to entry {offer.seq}, and came up to {last}")


def _check(node: ClusterNode, offer: Offer) -> None:
    if not node.options.ships:
        raise Invalid(f"{node.node} is a gateway and runs no sessions", details={"field": "node"})
    if offer.pool != node.options.pool:
        raise Invalid(f"{node.node} is of pool {node.options.pool}, and session {offer.session} of pool {offer.pool}: only nodes "
                      f"of one --pool take over from each other", details={"field": "node"})
    node.check_takes_new()


def _arrival(node: ClusterNode, offer: Offer) -> Arrival:
    return Arrival(epoch=offer.epoch + 1, after=offer.seq, came_from=offer.owner, to=node.node,
                   hole=HOLE if offer.was_away else 0, by=offer.by)


def _cut_off(node: ClusterNode, offer: Offer) -> TrunklineError:
    return HubRestarted(f"{node.node} took this session over from {offer.owner} while the agent worked on this; "
                        f"send the prompt again")
