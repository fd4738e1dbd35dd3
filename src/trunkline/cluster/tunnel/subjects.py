"""Where a tunnel's messages go: ``tl.node.<to>.<way>.<tunnel>.<from>``.

Rule 1: the last part is the sender's node. Only that node's key may publish it (``cluster/roles.py``), so whoever reads a message
knows who sent it.
Rule 2: answers go to where the subject says, never to what a message asks for.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Way = Literal["http", "back"]
"""To a tunnel's owner, and back to the gateway that opened it."""


class Address(NamedTuple):
    """One end of one tunnel, as its messages name it."""

    to: str
    way: Way
    tunnel: str
    sender: str

    @property
    def subject(self) -> str:
        """Where messages to it go."""
        return f"tl.node.{self.to}.{self.way}.{self.tunnel}.{self.sender}"


def heard_at(node: str, way: Way) -> str:
    """What a node listens to."""
    return f"tl.node.{node}.{way}.*.*"


def read_subject(subject: str) -> Address:
    """The address in a subject that ``heard_at`` let through."""
    _, _, to, way, tunnel, sender = subject.split(".")
    return Address(to, way, tunnel, sender)  # type: ignore[arg-type]  # it was subscribed to
