"""What the kernel tells of processes, for the programs that keep agents; and the one thing that is set there: the subreaper.

Rule 1: a process that is not our child is signalled only through a pidfd, after a second look at whose child it is: its number
may be somebody else's by then. Our own children keep their numbers until we reap them.
Rule 2: where there is no ``/proc`` (macOS) nobody is found; the hub looks by other means (``agents.family``).
"""

from __future__ import annotations

import os
import signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


TYPE_CHECKING = False  # as in ``typing``, whose import would cost each keeper memory
if TYPE_CHECKING:
    from collections.abc import Callable


def _find_prctl() -> Callable[..., int] | None:
    if not os.path.isdir("/proc/self"):
        return None
    import ctypes

    try:
        return ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None


_prctl = _find_prctl()


def become_subreaper() -> bool:
    """From now on orphans of our descendants become our children; False where the system cannot do that."""
    return _prctl is not None and _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent: int) -> None:
    """Be killed when the process that forked us goes."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def children_of(pid: int) -> list[int]:
    """Its children, zombies included; nobody when it is gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    if not _HAS_CHILDREN:
        return _children_by_stat(pid)
    return [int(word) for thread in threads for word in _read_or_nothing(f"/proc/{pid}/task/{thread}/children").split()]


def descendants_of(pid: int, *, but: frozenset[int] | set[int] = frozenset()) -> list[tuple[int, int]]:
    """Everyone below a process, each with its parent, parents first; ``but`` are left out, with all below them."""
    found: list[tuple[int, int]] = []
    seen = {pid, *but}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for child in children_of(parent):
            if child not in seen:
                seen.add(child)
                found.append((child, parent))
                waiting.append(child)
    return found


def send_signal(pid: int, parent: int, number: int) -> None:
    """Signal a process that is ``parent``'s child, if it still is; one that is gone or not ours to signal is left."""
    try:
        if parent == os.getpid():
            os.kill(pid, number)
            return
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if parent_of(pid) == parent:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)


def parent_of(pid: int) -> int | None:
    """Whose child it is; None when it is gone."""
    try:
        return int(_read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


def own_memory(pid: int) -> int:
    """Bytes in memory that no file and no other process shares; 0 when it is gone."""
    try:
        fields = _read(f"/proc/{pid}/statm").split()
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def command_line(pid: int) -> list[str]:
    """Its arguments; none when it is gone or a zombie."""
    try:
        return [word.decode("utf-8", "replace") for word in _read(f"/proc/{pid}/cmdline").rstrip(b"\0").split(b"\0")]
    except OSError:
        return []


def daemon_index(words: list[str], daemons: list[list[str]]) -> int | None:
    """Which of the shared daemons a command line is: its program is the first word, all others stand among its arguments."""
    for index, (program, *others) in enumerate(daemons if words else []):
        if os.path.basename(words[0]) == program and all(other in words[1:] for other in others):
            return index
    return None


def _children_by_stat(pid: int) -> list[int]:
    """A kernel without lists of children: every process is asked for its parent."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(int(name)) == pid]


def _read_or_nothing(path: str) -> bytes:
    try:
        return _read(path)
    except OSError:
        return b""


def _read(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(handle, 65536)
        while more := os.read(handle, 65536):
            data += more
        return data
    finally:
        os.close(handle)


_HAS_CHILDREN = os.path.exists("/proc/thread-self/children")
