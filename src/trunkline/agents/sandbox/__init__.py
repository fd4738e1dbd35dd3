"""A sandbox for an agent and all it runs: it sees the system, its folders and its own store, and nothing else of a person's.

    bwrap.py    the command line of ``bwrap`` for a list of places; pure
    places.py   which places an agent sees on this machine, and which are hidden
    cell.py     one session's sandbox: whether it can be had here, and commands that run in it

Rule 1: what is not named is hidden. The person's home is empty in the sandbox, whatever is in it; only programs, the session's
folders and the agent's own store are put back.
Rule 2: what must never be seen is hidden once more, by name, wherever something that is put back would show it.
Rule 3: never silently without: where a sandbox cannot be had, nothing is started.
Rule 4: all that is run for a sandboxed session passes ``Confine``: its agent, its terminals, and what the hub itself runs in a
folder that the agent may write. What the hub reads and writes for the agent (``fs/*``) is hidden by the same list
(``places.hider``): the hub is no way around the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Confine", "as_is", "nothing_hidden"]


class Confine(Protocol):
    """Turns a command into one that runs in a session's sandbox."""

    async def __call__(self, command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
        """The command to run instead. ``reads``: further files that it may read, by whoever starts it, never by the agent."""


async def as_is(command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
    """No sandbox."""
    return command


def nothing_hidden(path: str) -> bool:
    """No sandbox: no real path is hidden."""
    return False
