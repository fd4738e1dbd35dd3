"""Nodes of one pool with real hubs, in one process, and what moves a session between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.aio import eventually
from trunkline.cli.hosting.clustered import let_it_know
from trunkline.cluster.connection import Address
from trunkline.cluster.moving.history import Incoming, Offer, make_offer, written
from trunkline.cluster.moving.taking_in import take_in
from trunkline.cluster.node import ClusterNode, NodeOptions
from trunkline.cluster.shipping.claim import last_marked
from trunkline.hub import Hub, HubOptions, NewSession, Session


class Here:
    """One start of a node."""

    def __init__(self, node: ClusterNode, hub: Hub, work: Path) -> None:
        self.node, self.hub, self.work = node, hub, work

    async def session(self) -> Session:
        """A new session, with a turn in it, all of which the stream has."""
        made = await self.hub.create(NewSession(agent="demo", cwd=str(self.work), prompt="/echo hello"), by="ada")
        await eventually(lambda: made.fold.status == "idle" and made.fold.turns == 1)
        await self.shipped(made)
        return made

    async def shipped(self, session: Session) -> None:
        """Wait until the stream has all of it, and the directory its row."""
        await session.snapshot()
        await self.node.shipper.shipped(session.id, session.fold.seq)
        await eventually(lambda: session.id in self.node.directory.places)

    async def offer(self, session_id: str, *, was_away: bool = False) -> Offer:
        """The session as it stands in the stream."""
        await eventually(lambda: session_id in self.node.directory.places)
        place = self.node.directory.place(session_id)
        known, mark = await last_marked(self.node.connection, place.pool, session_id)
        return await make_offer(self.node.connection, place, known, mark, was_away=was_away, by="ada")

    async def take(self, offer: Offer) -> Session:
        """Take in what is offered, as another node would send it."""
        return await take_in(self.node, self.hub, Incoming(written(self.node.reader, offer)))

    async def has(self, session_id: str) -> bool:
        """Whether anything of a session is in this node's own journal."""
        return await self.hub.handing.has(session_id)


@asynccontextmanager
async def node(url: str, name: str, folder: Path, *, commit: str = "local", pool: str = "farm") -> AsyncIterator[Here]:
    """A node that is connected; with the same folder the same one, started again."""
    work, data = folder / "work", folder / name
    work.mkdir(exist_ok=True)
    made = ClusterNode(NodeOptions(address=Address(servers=(url,), node=name), pool=pool, commit=commit, folder=data))
    await made.connect()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(made.disconnect)
        hub = await stack.enter_async_context(Hub(HubOptions(data=data), replica=made))
        let_it_know(made, hub)
        await made.connection.wait_up(20)
        await made.directory.loaded.wait()
        yield Here(made, hub, work)
