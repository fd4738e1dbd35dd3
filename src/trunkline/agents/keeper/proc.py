"""What the kernel reports of processes, for the programs that keep agents; and what is set there: who adopts orphans, who gets a
signal at its parent's end, who may be looked into.

Rule 1: a process that is not our child is signalled only through a pidfd, after a second look at whose child it is: its number
may be somebody else's by then. Our own children keep their numbers until we reap them.
Rule 2: where there is no ``/proc`` (macOS) nobody is found; the hub looks by other means (``agents/process_table.py``).
"""

from __future__ import annotations

import os
import signal

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
"""The number of the system's call ``keyctl``, which the C library has no function for."""
KEYCTL_JOIN_SESSION_KEYRING = 1


TYPE_CHECKING = False  # as in ``typing``, whose import would cost each keeper memory
if TYPE_CHECKING:
    from collections.abc import Callable


def _find(name: str) -> Callable[..., int] | None:
    if not os.path.isdir("/proc/self"):
        return None
    import ctypes

    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)  # type: ignore[no-any-return]
    except (OSError, AttributeError):
        return None


_prctl = _find("prctl")
_syscall = _find("syscall")


def become_subreaper() -> bool:
    """From now on orphans of our descendants become our children; False where the system cannot do that."""
    return _prctl is not None and _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent: int) -> None:
    """Be killed when the process that forked us goes."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def wake_with_parent() -> None:
    """Go on when the process that started us goes, should somebody have stopped us by then."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0)


def close_to_others() -> None:
    """Let no program of the same user look into this process, use its descriptors or trace it. A program that it starts is as
    open as ever."""
    if _prctl is not None:
        _prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def leave_keyring() -> None:
    """Have a session keyring of our own, empty: the kernel hands on the one of who logged in, to whatever namespace."""
    number = KEYCTL.get(os.uname().machine)
    if _syscall is not None and number is not None:
        _syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None, 0, 0, 0)


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


def memory_of(pids: list[int], limit: int) -> int:
    """Bytes in memory that these hold, without files. What they share with each other or with others counts by its parts; that is
    dear to find out, and done only where it decides whether they are over ``limit``."""
    sizes = [_memory(pid) for pid in pids]
    own = sum(size for size, _ in sizes)
    if own > limit or own + sum(others for _, others in sizes) <= limit:
        return own
    sharing = [(pid, shared) for pid in pids if (shared := _number_in(f"/proc/{pid}/status", b"RssShmem:"))]
    if own + sum(shared for _, shared in sharing) <= limit:
        return own
    # A process that is closed to us does not tell its part: all of it counts.
    return own + sum(shared if (part := _number_in(f"/proc/{pid}/smaps_rollup", b"Pss_Shmem:")) is None else part
                     for pid, shared in sharing)


def own_memory(pid: int) -> int:
    """Bytes in memory that no file and no other process shares; 0 when it is gone."""
    return _memory(pid)[0]


def _memory(pid: int) -> tuple[int, int]:
    """Bytes of its own, and those that are files' or may be shared; nothing when it is gone."""
    try:
        fields = _read(f"/proc/{pid}/statm").split()
        resident, others = int(fields[1]), int(fields[2])
    except (OSError, IndexError):
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return (resident - others) * page, others * page


def _number_in(path: str, name: bytes) -> int | None:
    """Bytes that the kernel names so in kilobytes; None where it does not."""
    for line in _read_or_nothing(path).split(b"\n"):
        if line.startswith(name):
            return int(line.split()[1]) << 10
    return None


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
