"""What a served hub shares with its cluster besides sessions: tokens and codes, the push key, the policy.

Rule 1: wiring only. A cluster that is away keeps no hub from starting: what it has is there when it comes.
Rule 2: a runner takes its own tokens only. Its key cannot write the cluster's, and people reach it through gateways.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from trunkline.cluster import subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.members.start_places import StartPlaces
from trunkline.cluster.policy import SharedPolicy
from trunkline.cluster.tables.table import Table
from trunkline.errors import ClusterUnavailable
from trunkline.server.auth.joining import SharedAuth
from trunkline.server.call import Parts
from trunkline.session.policy.cluster import CLUSTER_POLICY_FILE, ClusterPolicy, kept_policy
from trunkline.threads import Lane

READY_WITHIN_S: Final = 1.0
"""How long a hub waits for the tables at its start: a page that comes back at once need not be turned away."""


class Shared:
    """All of it for one hub."""

    def __init__(self, connection: Connection, role: str, parts: Parts) -> None:
        self._node = connection.node
        self._parts = parts
        self._rules = Table(connection, subjects.POLICY)
        self._tables = [self._rules]
        self._auth: SharedAuth | None = None
        self.start_places: StartPlaces | None = None
        """Where sessions that are begun under a key are begun; a runner's key cannot write that."""
        if role != "runner":
            auth, push = (Table(connection, bucket) for bucket in (subjects.AUTH, subjects.PUSH))
            self._tables += [auth, push]
            self._auth = SharedAuth(parts, self._node, auth, push)
            self.start_places = StartPlaces(auth)

    async def open(self) -> None:
        """Begin to follow the tables; the policy that was known last counts at once."""
        path = self._parts.options.data / CLUSTER_POLICY_FILE
        policy = ClusterPolicy(path, self._node, await Lane(1).run(kept_policy, path))
        SharedPolicy(self._rules, policy)
        self._parts.hub.policies.join(policy)
        for table in self._tables:
            table.start()
        with suppress(ClusterUnavailable):
            for table in self._tables:
                await table.wait_ready(READY_WITHIN_S)

    async def close(self) -> None:
        """Follow and write no more."""
        if self._auth is not None:
            await self._auth.close()
        for table in self._tables:
            await table.close()
