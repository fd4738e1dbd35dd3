"""The node for a new session: the one that is named, or the one that fits and has the least to do.

Rule 1: who cannot take it is refused at once, with the reason: unknown, away, draining, a gateway; or no node fits.
Rule 2: where nothing is said, a node that runs sessions itself stays within its own pool: the folder that was named is one there.
        A gateway, which has no folders, chooses among all.
Rule 3: the node that is asked takes it itself unless another has less to do. What was sent to a node since it last told its load
        counts as load there, so that a crowd does not end up at one.
Rule 4: who can ask no other node (a runner with a key) takes all itself, or refuses it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from trunkline.cluster.members.marks import Marks
from trunkline.cluster.members.standing import Standing
from trunkline.cluster.nodes import NodeRow, Nodes
from trunkline.errors import ClusterDenied, Invalid, NodeAway, NodeDraining, NodeUnknown, NoNodeFits

GATEWAY = "gateway"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a session says of where to run."""

    node: str | None = None
    pool: str | None = None
    labels: Mapping[str, str] = {}

    def __str__(self) -> str:
        pool = [f"pool {self.pool}"] if self.pool else []
        return " and ".join([*pool, *(f"{name}={value}" for name, value in self.labels.items())]) or "any"


class Placement:
    """Chooses nodes, for the node ``own``."""

    def __init__(self, own: NodeRow, nodes: Nodes, marks: Marks, standing: Standing, asks_nobody: str = "") -> None:
        """``own``: as it is at its start; its role and pool do not change. ``asks_nobody``: why it can ask no other node."""
        self._own = own
        self._nodes, self._marks, self._standing = nodes, marks, standing
        self._asks_nobody = asks_nobody
        self._sent: Counter[str] = Counter()
        self._told: dict[str, int] = {}
        """When the load was told that ``_sent`` is counted from."""

    def choose(self, wish: Wish, *, own_running: int, shared: bool = False) -> str:
        """The node for a session; NodeUnknown, NodeAway, NodeDraining, NoNodeFits or Invalid where there is none. ``shared``:
        only one that shares all that its pool has."""
        found = self._named(wish) if wish.node else self._least(wish, own_running, shared)
        self._sent[found] += 1
        return found

    def check(self, node: str) -> NodeRow:
        """The row of a node that can take a session; raises why it cannot."""
        row = self._nodes.rows.get(node)
        away = self._standing.away(node)
        if row is None or away is not None:
            if not self._standing.is_known(node):
                raise NodeUnknown(f"the cluster has no node {node}", details={"node": node})
            raise NodeAway(away or f"{node} is not connected", details={"node": node})
        if row.role == GATEWAY:
            raise Invalid(f"{node} is a gateway and runs no sessions", details={"field": "node"})
        if self._marks.is_draining(node):
            raise NodeDraining(f"{node} takes no new sessions: it is being drained", details={"node": node})
        return row

    def _named(self, wish: Wish) -> str:
        assert wish.node is not None
        if wish.node != self._own.node or self._nodes.is_there(wish.node):
            row = self.check(wish.node)
        else:
            row = self._own  # it answers, whatever the cluster knows of it
        if not _fits(row, wish):
            raise NoNodeFits(f"{wish.node} is not of {wish}", details={"node": wish.node})
        return wish.node

    def _least(self, wish: Wish, own_running: int, shared: bool) -> str:
        runs = self._own.role != GATEWAY
        if runs and not (wish.pool or wish.labels):
            wish = Wish(pool=self._own.pool)
        if self._asks_nobody and not _fits(self._own, wish):
            raise ClusterDenied(self._asks_nobody)
        rows = {name: row for name, row in self._nodes.rows.items() if self._nodes.is_there(name)}
        if self._asks_nobody:
            rows = {name: row for name, row in rows.items() if name == self._own.node}
        if runs:
            rows.setdefault(self._own.node, self._own)  # while the cluster is away it is still there itself
        fitting = [row for row in rows.values() if row.role != GATEWAY and _fits(row, wish) and (row.shared or not shared)]
        free = [row for row in fitting if not self._marks.is_draining(row.node)]
        if not free:
            raise _none(wish, fitting)
        return min(free, key=lambda row: (self._load(row, own_running), row.node != self._own.node, row.node)).node

    def _load(self, row: NodeRow, own_running: int) -> int:
        if row.node == self._own.node:
            return own_running
        heard = self._nodes.heard_at.get(row.node, 0)
        if self._told.get(row.node) != heard:
            self._told[row.node], self._sent[row.node] = heard, 0
        return row.running + self._sent[row.node]


def _fits(row: NodeRow, wish: Wish) -> bool:
    return wish.pool in (None, row.pool) and all(row.labels.get(name) == value for name, value in wish.labels.items())


def _none(wish: Wish, draining: list[NodeRow]) -> NodeDraining | NoNodeFits:
    if draining:
        names = ", ".join(sorted(row.node for row in draining))
        return NodeDraining(f"every node that fits is being drained: {names}")
    wanted = "runs sessions" if str(wish) == "any" else f"is of {wish}"
    return NoNodeFits(f"no node that is there {wanted}")
