"""A hub that is started with ``--cluster``: its node, around the hub.

Rule 1: without the setting nothing of the cluster is imported.
Rule 2: a cluster that is away keeps no hub from starting, unless it was asked to wait for it (``--commit all``).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from trunkline.errors import ClusterUnavailable, Unavailable
from trunkline.server.app import App, build_app
from trunkline.server.options import ServerOptions
from trunkline.settings import Settings

if TYPE_CHECKING:
    from trunkline.cli.hosting.shared import Shared
    from trunkline.cluster.connection import Connection
    from trunkline.cluster.node import ClusterNode
    from trunkline.cluster.tunnel.switch import Switch
    from trunkline.hub import Hub
    from trunkline.server.call import Parts


@asynccontextmanager
async def in_cluster(settings: Settings) -> AsyncIterator[ClusterNode | None]:
    """The node that the hub is to be, connected or on its way to; None for a hub of its own."""
    if not settings.cluster:
        yield None
        return
    check_installed()
    from trunkline.cluster.connection import Address
    from trunkline.cluster.node import ClusterNode, NodeOptions

    name = own_name(settings)
    address = Address(servers=settings.cluster, node=name, credentials=settings.cluster_credentials, ca=settings.cluster_ca)
    labels = dict(label.split("=", 1) for label in settings.labels)
    node = ClusterNode(NodeOptions(address=address, role=settings.role, pool=settings.pool or name, labels=labels,
                                   pool_shared=settings.pool_shared, commit=settings.commit, folder=settings.data))
    await node.connect()
    try:
        yield node
    finally:
        await node.disconnect()


@asynccontextmanager
async def served(node: ClusterNode | None, hub: Hub, options: ServerOptions) -> AsyncIterator[App]:
    """The hub's application. That of a node also asks other nodes, and answers them once it is connected."""
    if node is None:
        yield build_app(hub, options)
        return
    from trunkline.cluster.showing.sight import ClusterSight
    from trunkline.server.clustered import clustered_app

    app, switch = clustered_app(hub, options, node.connection, owner_of=node.owner_of, check_owner=node.check_owner,
                                acting=options.gateways, node=node)
    starting = asyncio.create_task(_start(switch, node.connection))
    sight = app.parts.sight if isinstance(app.parts.sight, ClusterSight) else None
    if sight is not None:
        sight.start()
    adopting = asyncio.create_task(_adopt(node, hub, app))
    try:
        yield app
    finally:
        for task in (adopting, starting):
            task.cancel()
            await asyncio.wait((task,))
        await switch.stop()
        if sight is not None:
            await sight.close()


async def _start(switch: Switch, connection: Connection) -> None:
    """Listen to other nodes as soon as there is a connection."""
    while True:
        await connection.wait_until_up()
        try:
            await switch.start()
            return
        except ClusterUnavailable:
            await switch.stop()


async def _adopt(node: ClusterNode, hub: Hub, app: App) -> None:
    """Have what is on nodes that are away taken over by others, in pools that share all that it takes. A runner's key cannot."""
    if node.options.role == "runner" or app.parts.elsewhere is None:
        return
    from trunkline.server.cluster.adopting import Adopter

    await node.state.loaded.wait()
    await Adopter(node, hub, app.parts.elsewhere).run()


def let_it_know(node: ClusterNode, hub: Hub) -> None:
    """What the node tells others of the hub, and what it does to it."""
    from trunkline.cluster.node import Load

    node.load = lambda: Load(hub.metrics.sessions_open, hub.metrics.agents_running)
    node.giving_up.begin(hub.handing.put_away, hub.handing.note_aside)
    hub.refuse_new_with(node.check_takes_new)


async def share(node: ClusterNode, parts: Parts) -> Shared:
    """What the hub has in common with the other nodes besides sessions, from now on."""
    from trunkline.cli.hosting.shared import Shared

    shared = Shared(node.connection, node.options.role, parts)
    await shared.open()
    node.start_places = shared.start_places
    return shared


def check_installed() -> None:
    """Unavailable, with what to install, where the client of NATS is not there."""
    from importlib.util import find_spec

    if find_spec("nats") is None:
        raise Unavailable("a cluster needs the client of NATS: pip install 'trunkline[cluster]'")


def own_name(settings: Settings) -> str:
    """This node's name: as set, or the machine's."""
    if settings.node:
        return settings.node
    short = socket.gethostname().partition(".")[0].lower()
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in short).strip("-") or "node"
