"""A hub that runs sessions and gateways that show them, in one process, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.cluster.tunnel.world import started
from tests.server.site import TOKEN, Exchange, Site
from trunkline.adapters.found import found_sessions
from trunkline.cluster.connection import Address
from trunkline.cluster.node import ClusterNode, NodeOptions
from trunkline.cluster.showing.sight import ClusterSight
from trunkline.hub import Hub, HubOptions, Session
from trunkline.server.clustered import clustered_app
from trunkline.server.options import ServerOptions


class Node(Site):
    """A hub of a cluster, and a client of it."""

    cluster: ClusterNode
    sight: ClusterSight

    def open(self, method: str, path: str, **options: Any) -> Exchange:
        return super().open(method, path, **{"token": token(self.cluster.node), **options})

    async def session(self, **fields: Any) -> Session:
        return await self.session_as(token(self.cluster.node), **fields)

    async def get(self, path: str, status: int = 200) -> Any:
        """What is answered, as JSON."""
        answer = await self.ask("GET", path)
        assert answer.status == status, answer.body
        return answer.json()


def token(name: str) -> str:
    return f"{TOKEN} at {name}"


@asynccontextmanager
async def node(url: str, name: str, folder: Path, role: str = "hub", home: Path | None = None, commit: str = "local"
               ) -> AsyncIterator[Node]:
    """A node as the command line makes one, with a journal in memory; ``home`` is where other programs keep what they write."""
    work, data = folder / "work", folder / f"data-{name}"
    work.mkdir(exist_ok=True)
    cluster = ClusterNode(NodeOptions(address=Address(servers=(url,), node=name), role=role, pool=name, commit=commit))
    await cluster.connect()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(cluster.disconnect)
        environ = None if home is None else {"HOME": str(home), "PATH": str(home)}
        hub = await stack.enter_async_context(Hub(HubOptions(data=data, store="memory:"), environ=environ, replica=cluster))
        app, switch = clustered_app(hub, ServerOptions(data=data, port=7420, token=token(name)), cluster.connection,
                                    owner_of=cluster.owner_of, check_owner=cluster.check_owner, acting=("*",), node=cluster)
        sight = app.parts.sight
        assert isinstance(sight, ClusterSight)
        await stack.enter_async_context(started(switch))
        sight.start()
        stack.push_async_callback(sight.close)
        made = Node(hub, app, work)
        made.cluster, made.sight = cluster, sight
        yield made
        found_sessions(hub).close()


@asynccontextmanager
async def owner_and_gateway(url: str, folder: Path) -> AsyncIterator[tuple[Node, Node]]:
    """One that runs sessions, and one that owns nothing."""
    async with node(url, "box", folder) as box, node(url, "web", folder, "gateway") as web:
        yield box, web
