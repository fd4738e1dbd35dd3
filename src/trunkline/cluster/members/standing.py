"""The nodes of the cluster as people see them: those that are there, and those that were and that nobody has forgotten."""

from __future__ import annotations

from msgspec import UNSET

from trunkline.cluster.directory import Directory
from trunkline.cluster.members.marks import Marks
from trunkline.cluster.nodes import Nodes
from trunkline.dialects.context.envelope import iso_ms
from trunkline.hub.shapes import NodeView


class Standing:
    """What is known of every node."""

    def __init__(self, nodes: Nodes, directory: Directory, marks: Marks) -> None:
        self._nodes, self._directory, self._marks = nodes, directory, marks

    def views(self) -> list[NodeView]:
        """Every node that is there, was there, or has a session; by name."""
        owned = dict(self._directory.by_owner())
        return [self._view(name, owned.get(name, 0)) for name in sorted({*self._nodes.rows, *self._marks.known(), *owned})]

    def is_known(self, node: str) -> bool:
        """Whether the cluster has ever heard of a node."""
        return node in self._nodes.rows or self._marks.seen(node) is not None or any(
            place.owner == node for place in self._directory.places.values())

    def away(self, node: str) -> str | None:
        """Why a node cannot be written to, in a sentence; None while it is there, or while nobody knows."""
        if not self._nodes.loaded.is_set():
            return None
        why = self._nodes.away(node)
        return f"{node} is gone for good" if why is not None and self._marks.is_gone(node) else why

    def _view(self, name: str, sessions: int) -> NodeView:
        heard = self._nodes.heard_at.get(name)
        view = NodeView(node=name, sessions=sessions, draining=self._marks.is_draining(name), away=self.away(name) or UNSET,
                        gone=self._marks.is_gone(name), heard_at=UNSET if heard is None else iso_ms(heard))
        row, seen = self._nodes.rows.get(name), self._marks.seen(name)
        told = row or seen
        if told is not None:
            view.role, view.pool, view.labels, view.version = told.role, told.pool, told.labels, told.version
        if row is not None:
            view.running, view.lag, view.late = row.running, row.behind, row.lag
            view.taken, view.aside = row.taken, sum(row.aside.values())
        return view
