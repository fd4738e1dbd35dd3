"""A control group per agent, where the system hands us a part of its tree: nobody leaves one, and the kernel ends all in it.

Rule 1: used only where it is ours to use: cgroup version 2, writable, and marked as delegated by who manages the machine
(``Delegate=yes`` in a systemd unit). Without it keepers do all of this by themselves.
Rule 2: it is a second net. Nothing waits for it and no failure of it is one of the agent's.
Rule 3: a group is named after its keeper. One whose keeper is gone (both it and its nursery were killed) is ended and removed
when the next nursery starts.
"""

from __future__ import annotations

import os

PREFIX = "trunkline-"
MOUNTS = "/proc/self/mountinfo"
OWN = "/proc/self/cgroup"


def own_base() -> str | None:
    """The group that this process is in, where it was delegated to us; None where not."""
    try:
        folder = _own_folder()
        if folder is not None and os.access(os.path.join(folder, "cgroup.procs"), os.W_OK) and _is_delegated(folder):
            return folder
    except OSError:
        pass
    return None


class ControlGroup:
    """The group of one keeper."""

    def __init__(self, base: str, keeper: int) -> None:
        self._base = base
        self._folder = os.path.join(base, f"{PREFIX}{keeper}")

    def make(self, memory: int | None) -> bool:
        """Whether it is there. ``memory``: bytes at which the kernel stops it, where the kernel counts them here."""
        try:
            os.makedirs(self._folder, exist_ok=True)
        except OSError:
            return False
        if memory is not None and os.path.exists(os.path.join(self._folder, "memory.max")):
            self._write("memory.max", str(memory))
        return True

    def enter(self) -> None:
        """Be in it from now on, with all that is started."""
        self._write("cgroup.procs", "0")

    def let_out(self, pid: int) -> bool:
        """Put a process back to where we are; whether that went."""
        return _write(os.path.join(self._base, "cgroup.procs"), str(pid))

    def kill(self) -> None:
        """End everybody in it."""
        self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Take it away; one in which somebody still ends is taken away later."""
        try:
            os.rmdir(self._folder)
        except OSError:
            pass

    def _write(self, name: str, text: str) -> None:
        _write(os.path.join(self._folder, name), text)


def end_left_behind(base: str) -> None:
    """End and remove the groups whose keepers are gone."""
    try:
        names = [name for name in os.listdir(base) if name.startswith(PREFIX)]
    except OSError:
        return
    for keeper in [int(name[len(PREFIX):]) for name in names if name[len(PREFIX):].isdigit()]:
        if not os.path.exists(f"/proc/{keeper}"):
            group = ControlGroup(base, keeper)
            group.kill()
            group.remove()


def _own_folder() -> str | None:
    own = next((line[3:].strip() for line in _lines(OWN) if line.startswith("0::")), None)
    mount = next((line.split()[4] for line in _lines(MOUNTS) if " - cgroup2 " in line), None)
    return os.path.join(mount, own.lstrip("/")) if own is not None and mount is not None else None


def _is_delegated(folder: str) -> bool:
    for name in ("user.delegate", "trusted.delegate"):
        try:
            if os.getxattr(folder, name) == b"1":
                return True
        except (OSError, AttributeError):
            pass
    return False


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readlines()


def _write(path: str, text: str) -> bool:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(handle, text.encode())
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
