"""Trunkline: one line to every coding agent.

The tree is the data path; read it in this order:

1. ``agents``    a running agent: what can be run (catalog), the one place that spawns (process), the agent we ship (demo)
2. ``dialects``  what the bytes mean: jsonrpc, acp, packets, context; pure, no I/O, no clock
3. ``session``   one live session: driver, interpret, approvals, turn, artifacts
4. ``journal``   numbered entries that last: memory, sqlite
5. ``discovery`` sessions that others started: found, watched and followed in their agents' own files
6. ``hub``       sessions by id; the only module that knows both ends
7. ``adapters``  every agent and session as an object, for programs: ``async with trunkline.open() as line``
8. ``server``    faces over HTTP
9. ``cli``       commands; ``client`` is the same API for Python programs

``acp`` always means Agent Client Protocol, ``context`` always means Agent Context Protocol.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trunkline.adapters.library import Library
    from trunkline.agents.catalog import AgentSpec

__version__ = "0.1.0"


def open(data_dir: str | Path | None = None, *, agents: Mapping[str, str | AgentSpec] | None = None,
         environ: Mapping[str, str] | None = None) -> Library:
    """All agents of this machine, without a server; an async context manager.

    ``data_dir``: where sessions are kept, in memory if absent. ``agents``: more agents by name, as a command or a spec.
    ``environ``: where agents are looked for and what they may see a part of; this process's own if absent."""
    # By name, at the last moment: every module imports this one, and none of them may come to depend on the whole tree by it.
    library: type[Library] = import_module("trunkline.adapters.library").Library
    return library(data_dir, agents, environ)
