"""The command line of ``bwrap`` (bubblewrap) for a list of places. Pure: what is on the machine was looked at before.

Rule 1: the deepest place decides. Places are mounted from the shallowest to the deepest, each over what lies above it.
Rule 2: of two names for one place the more careful one decides: hidden before readable before writable. Only a session's own
folder is writable whatever else it is called.
Rule 3: processes, semaphores and the host's name are the sandbox's own, and everything in it ends with whoever started it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple


class Access(IntEnum):
    """What may be done with a place; of several for one place the largest counts."""

    WRITE = 1
    READ = 2
    EMPTY = 3
    """A folder of the sandbox's own, empty at first: whatever is there is hidden."""
    NONE = 4
    """A file that cannot be opened."""
    LINK = 5
    """A link that leads to another place."""
    ROOT = 6
    """Written, and the reason why there is a session."""


class BoundPlace(NamedTuple):
    """A real path that is there; for a link, also where it leads."""

    path: str
    access: Access
    target: str = ""


MAKES_NAMESPACE = "--unshare-user"
"""By this word a command is known to make a sandbox: its keeper takes the keyring away, which no namespace does."""

OPTIONS = (
    MAKES_NAMESPACE, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
    "--die-with-parent", "--new-session",
)
NO_NETWORK = "--unshare-net"
SYSTEM = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
OWN_VARIABLES = ("--setenv", "TMPDIR", "/tmp", "--unsetenv", "XDG_RUNTIME_DIR")


def bwrap_words(program: str, places: Iterable[BoundPlace], command: Sequence[str], *, cwd: str, network: bool) -> list[str]:
    """The words that run ``command`` in ``cwd`` with these places laid over a system that can only be read."""
    words = [program, *OPTIONS, *([] if network else [NO_NETWORK]), *SYSTEM]
    for place in in_order(places):
        words += _mount(place)
    return [*words, *OWN_VARIABLES, "--chdir", cwd, "--", *command]


def in_order(places: Iterable[BoundPlace]) -> list[BoundPlace]:
    """Each path once, from the shallowest to the deepest."""
    strongest: dict[str, BoundPlace] = {}
    for place in places:
        strongest[place.path] = max(place, strongest.get(place.path, place))
    return sorted(strongest.values(), key=lambda place: (depth(place.path), place.path))


def seen_at(path: str, places: Sequence[BoundPlace]) -> Access:
    """What a path is in the sandbox, by the deepest place around it."""
    around = [place for place in in_order(places) if is_in(path, place.path)]
    return around[-1].access if around else Access.READ


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def depth(path: str) -> int:
    """How many folders a path is below the root."""
    return len([part for part in path.split("/") if part])


def _mount(place: BoundPlace) -> tuple[str, ...]:
    match place.access:
        case Access.WRITE | Access.ROOT:
            return "--bind", place.path, place.path
        case Access.READ:
            return "--ro-bind", place.path, place.path
        case Access.EMPTY:
            return "--tmpfs", place.path
        case Access.NONE:
            return "--ro-bind", "/dev/null", place.path
        case Access.LINK:
            return "--symlink", place.target, place.path
