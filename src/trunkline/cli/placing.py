"""Where a new session runs, as the command line means it.

Rule 1: a session whose place nobody names runs where its folder is: on this machine, if its hub runs sessions. Else a hub that is
in a cluster puts it where there is room.
Rule 2: the caller's variables go to a hub on this machine and nowhere else: ``is_here`` says whether the session is that hub's.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from trunkline.client import Client
from trunkline.errors import NotFound

GATEWAY = "gateway"
NODE_HELP = "the node of the hub's cluster that runs it  [this machine's, else wherever there is room]"


class Place(NamedTuple):
    """A node of the hub's cluster, or None where the hub decides; and the folder, as that node takes it."""

    node: str | None
    cwd: str
    is_here: bool


def folder(cwd: str | None, node: str | None) -> str:
    """The folder that is meant, in full. One below the home folder of a node that is named (``~/…``) is left for that node."""
    if node and cwd and cwd.startswith("~"):
        return cwd
    return os.path.abspath(os.path.expanduser(cwd or "."))


async def placed(hub: Client, node: str | None, cwd: str) -> Place:
    """Where a session is to run that is begun at this hub."""
    own, runs = await _own_node(hub)
    is_here = hub.endpoint.is_loopback() and runs and node in (None, own)
    named = own if is_here else node
    full = (await hub.folders(cwd, node=named)).path if cwd.startswith("~") else cwd
    return Place(named, full, is_here)


async def _own_node(hub: Client) -> tuple[str | None, bool]:
    """The hub's name in its cluster, None without one, and whether it runs sessions."""
    try:
        view = await hub.cluster()
    except NotFound:
        return None, True
    return view.node, view.role != GATEWAY
