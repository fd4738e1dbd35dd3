"""Two real hubs with a tunnel between them: one that has sessions, and one that has none and is asked for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from tests.cluster.connecting import connected
from tests.cluster.tunnel.world import started
from tests.server.site import TOKEN, Exchange, Site
from trunkline.agents.catalog import AgentSpec
from trunkline.cluster.connection import Connection
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.cluster.tunnel.link import PACE, Pace
from trunkline.cluster.tunnel.owner import OwnerEnd
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import NotOwner
from trunkline.hub import Hub, HubOptions, Session
from trunkline.server.auth.guests import Guests
from trunkline.server.clustered import clustered_app
from trunkline.server.options import ServerOptions


class Node(Site):
    """A hub of a cluster, and a client of it."""

    connection: Connection
    switch: Switch
    owner: Owner | None = None
    """Where this node looks for sessions that it does not have."""
    epoch = 0
    token = ""

    def open(self, method: str, path: str, **options: Any) -> Exchange:
        """Begin a request, with this node's own token unless another is given."""
        return super().open(method, path, **{"token": self.token, **options})

    async def session(self, **fields: Any) -> Session:
        """A new session of this node."""
        return await self.session_as(self.token, **fields)

    def check_owner(self, session: str, epoch: int) -> None:
        if epoch not in (0, self.epoch):
            raise NotOwner(f"session {session} is in epoch {self.epoch} here, not {epoch}")


@asynccontextmanager
async def node(url: str, name: str, folder: Path, *, acting: Collection[str] = (), store: str = "memory:",
               pace: Pace = PACE, around: Callable[[ASGIApp], ASGIApp] | None = None,
               agents: dict[str, AgentSpec] | None = None, **options: Any) -> AsyncIterator[Node]:
    """A hub in a cluster, as its command line makes one. ``around``: what is put around its application for other nodes."""
    work, data = folder / "work", folder / f"data-{name}"
    work.mkdir(exist_ok=True)
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connected(url, node=name))
        hub = await stack.enter_async_context(Hub(HubOptions(data=data, store=store, agents=agents or {})))

        async def owner_of(session: str) -> Owner | None:
            return made.owner

        def check_owner(session: str, epoch: int) -> None:
            made.check_owner(session, epoch)

        app, switch = clustered_app(hub, ServerOptions(data=data, port=7420, token=token(name), **options), connection,
                                    owner_of=owner_of, check_owner=check_owner, acting=acting, pace=pace)
        made = Node(hub, app, work)
        made.connection, made.switch, made.token = connection, switch, token(name)
        if around is not None:
            switch.serve = OwnerEnd(around(app), Guests(acting).admit, check_owner).serve
        await stack.enter_async_context(started(switch))
        yield made


@asynccontextmanager
async def two_nodes(url: str, folder: Path, *, acting: Collection[str] = ("gateway",), **options: Any
                    ) -> AsyncIterator[tuple[Node, Node]]:
    """The owner, and a gateway that owns nothing. Each has a token of its own, which the other does not know."""
    async with (node(url, "owner", folder, acting=acting, **options) as owner,
                node(url, "gateway", folder, pace=options.get("pace", PACE)) as gateway):
        gateway.owner = Owner("owner")
        yield owner, gateway


def token(name: str) -> str:
    """The main token of a node."""
    return f"{TOKEN} at {name}"
