"""The nats-servers of a world: one, or three with links between them, which can be cut as well.

Rule 1: servers and hubs know each other's links only: no server tells anybody another's true address.
"""

from __future__ import annotations

import urllib.error
from pathlib import Path
from typing import Any

from tests.faults.cluster.net import Link
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import subjects

NOWHERE = "127.0.0.1:1"
"""What a server says of where it can be reached: those who need to know are told of a link."""


class LinkedServers(NatsCluster):
    """Three servers. ``links[i, j]`` is what server i reaches server j by."""

    def __init__(self, root: Path, more: str = "") -> None:
        super().__init__(root)
        self.links: dict[tuple[int, int], Link] = {}
        for number, server in enumerate(self.servers):
            routes = [f"nats://127.0.0.1:{self._link(number, other).port}" for other in range(3) if other != number]
            server.more = (f"{more}\ncluster {{ name: tests, listen: 127.0.0.1:{server.route_port}, advertise: \"{NOWHERE}\", "
                           f"no_advertise: true, routes: [{', '.join(routes)}] }}")

    def around(self, server: NatsServer) -> list[Link]:
        """The links between a server and the other two."""
        number = self.servers.index(server)
        return [link for ends, link in self.links.items() if number in ends]

    def close_links(self) -> None:
        for link in self.links.values():
            link.close()

    def _link(self, source: int, target: int) -> Link:
        self.links[source, target] = made = Link(self.servers[target].route_port)
        return made


def leader_of(servers: list[NatsServer]) -> NatsServer | None:
    """Who leads the journal's stream, as one of the servers says; None while nobody does."""
    for server in servers:
        try:
            found = _stream(server.ask("/jsz?streams=1"))
        except (OSError, urllib.error.HTTPError):
            continue
        leader = found.get("cluster", {}).get("leader")
        for each in servers:
            if each.name == leader:
                return each
    return None


def refusals(servers: list[NatsServer]) -> list[str]:
    """What servers refused somebody to publish or to listen to: a key allows all that its node does, whatever goes wrong."""
    return [line for server in servers for line in server.log.read_text(errors="replace").splitlines() if "Violation" in line]


def _stream(told: Any) -> dict[str, Any]:
    for account in told.get("account_details", ()):
        for stream in account.get("stream_detail", ()):
            if stream["name"] == subjects.JOURNAL:
                return dict(stream)
    return {}
