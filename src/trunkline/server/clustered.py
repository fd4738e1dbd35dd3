"""The application of a hub that is a node of a cluster: it asks other nodes, and answers them.

Only a hub in a cluster loads this. Whoever hosts it starts the switch once the connection is up, and stops it before the hub.
"""

from __future__ import annotations

from collections.abc import Collection

from trunkline.cluster.connection import Connection
from trunkline.cluster.node import ClusterNode
from trunkline.cluster.showing.sight import ClusterSight
from trunkline.cluster.tunnel.gateway import Gateway
from trunkline.cluster.tunnel.link import PACE, Pace
from trunkline.cluster.tunnel.owner import CheckOwner, OwnerEnd
from trunkline.cluster.tunnel.switch import Switch
from trunkline.hub import Hub
from trunkline.server.app import App, build_app
from trunkline.server.auth.guests import Guests
from trunkline.server.elsewhere import Elsewhere, OwnerOf
from trunkline.server.options import ServerOptions


def clustered_app(hub: Hub, options: ServerOptions, connection: Connection, *, owner_of: OwnerOf, check_owner: CheckOwner,
                  acting: Collection[str], pace: Pace = PACE, node: ClusterNode | None = None) -> tuple[App, Switch]:
    """The application, and the switch of its tunnels. ``owner_of``: where a session is that may be another node's;
    ``check_owner``: whether one is this node's; ``acting``: the gateways that may act on this node, which may change;
    ``node``: what it knows of its cluster. A runner's key reads nobody's journal: it shows its own sessions."""
    switch = Switch(connection, pace=pace)
    away = node.standing.away if node is not None else _nobody_knows
    sight = None if node is None or node.options.role == "runner" else ClusterSight(node, hub)
    elsewhere = Elsewhere(connection.node, Gateway(switch), owner_of, away, sight=sight,
                          asks_nobody="" if node is None else node.options.asks_nobody,
                          is_known=(lambda name: True) if node is None else node.standing.is_known)
    app = build_app(hub, options, elsewhere, node, sight)
    last_seq = node.last_seq if node is not None else _last_seq_unknown
    is_there = (lambda: True) if node is None else (lambda: node.nodes.holds_lease)
    switch.serve = OwnerEnd(app, Guests(acting).admit, check_owner, last_seq, is_there).serve
    return app, switch


def _nobody_knows(node: str) -> str | None:
    """Whoever has only the connection finds out by asking."""
    return None


def _last_seq_unknown(session: str) -> int:
    """Nor does it know how far sessions are."""
    return 0
