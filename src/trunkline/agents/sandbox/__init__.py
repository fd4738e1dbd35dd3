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
Rule 5: ``bwrap`` itself runs outside. So it is no program that somebody in a sandbox could have put there (``cell``), and no
variable that an agent names is one of its own: the system's loader would obey it (``carried``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

__all__ = ["Confine", "as_is", "carried", "nothing_hidden"]

CARRIER = "AGENT_LINE_CARRIED_"
"""What a variable is called until it is in the sandbox; a number follows."""


class Confine(Protocol):
    """Turns a command into one that runs in a session's sandbox."""

    async def __call__(self, command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
        """The command to run instead. ``reads``: further files that it may read, by whoever starts it, never by the agent."""


async def as_is(command: Sequence[str], *, cwd: str, reads: Sequence[str] = ()) -> Sequence[str]:
    """No sandbox."""
    return command


def carried(confine: Confine, command: Sequence[str], variables: Mapping[str, str]) -> tuple[Sequence[str], dict[str, str]]:
    """A command that has these variables when it runs, and the variables to start it with. In a sandbox they get their names
    inside: outside each is the value of one whose name means nothing to anybody. None is ever on a command line to be seen."""
    if confine is as_is or not variables:
        return command, dict(variables)
    carriers = {f"{CARRIER}{number}": f"{name}={value}" for number, (name, value) in enumerate(variables.items())}
    unset = " ".join(f"-u {name}" for name in carriers)
    named = " ".join(f'"${name}"' for name in carriers)
    # Where its program has a ``=`` in its name ``env`` would take it for a variable; a shell does not.
    start = """sh -c 'exec "$@"' sh "$@\"""" if "=" in command[0] else '"$@"'
    script = f"exec env {unset} -- {named} {start}"
    return ["/bin/sh", "-c", script, "sh", *command], carriers


def nothing_hidden(path: str) -> bool:
    """No sandbox: no real path is hidden."""
    return False
