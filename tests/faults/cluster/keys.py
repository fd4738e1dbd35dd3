"""Who may do what in a world: a key for each member, and the servers' configuration that the product makes of them.

Rule 1: it is what ``trunkline cluster init --print-config`` prints: two accounts, and for each role what it may do.
Rule 2: the keys lie where no hub's disk is: an owner whose disk is gone comes back with its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from trunkline.cluster.roles import Role, new_member, server_config

ADMIN: Final = "admin"
ACCOUNT: Final = "trunkline"


class Keys:
    """The members of one cluster: hubs by their roles, and an admin, who makes the streams and looks at them."""

    def __init__(self, folder: Path, roles: Mapping[str, Role], pool: str) -> None:
        folder.mkdir(mode=0o700, parents=True)
        self._folder = folder
        everybody: dict[str, Role] = {**roles, ADMIN: "admin"}
        made = {node: new_member(node, role, pool) for node, role in everybody.items()}
        for node, (_, seed) in made.items():
            path = self.file(node)
            path.touch(mode=0o600)
            path.write_text(seed)
        self.config = server_config(ACCOUNT, [member for member, _ in made.values()])

    def file(self, node: str) -> Path:
        """Where a member's key is."""
        return self._folder / f"{node}.seed"
