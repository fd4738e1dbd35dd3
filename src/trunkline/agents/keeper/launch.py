"""From fork to exec: the agent's process, in a session of its own, with its pipes, its folder and its limits.

Rule 1: whatever fails before the program runs is reported by a pipe that closes with exec, with the step and the error number.
Rule 2: a folder that was looked at before (its real path) is entered as that or not at all: a link that came since is refused.
Rule 3: the program begins with every signal as the system has it, and with no descriptor but its three.
"""

from __future__ import annotations

import errno
import os
import resource
import signal

from trunkline.agents.keeper.cgroup import ControlGroup
from trunkline.agents.keeper.proc import die_with_parent, leave_keyring
from trunkline.agents.keeper.wire import Wishes

IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that a Python program or a keeper ignores; ignoring would be inherited."""


class LaunchFailed(Exception):
    """The program could not be started: at which step, and the error number."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step, number)
        self.step = step
        self.number = number


def launch(wishes: Wishes, stdio: list[int], group: ControlGroup | None) -> int:
    """Start the program, in ``group`` where there is one; its process id. Raises LaunchFailed."""
    reader, writer = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(wishes, stdio, group, writer, keeper)
    os.close(writer)
    message = os.read(reader, 64)
    os.close(reader)
    if message:
        os.waitpid(pid, 0)
        step, _, number = message.decode().partition(" ")
        raise LaunchFailed(step, int(number))
    return pid


def _become(wishes: Wishes, stdio: list[int], group: ControlGroup | None, writer: int, keeper: int) -> None:
    """In the new process: never returns."""
    step = "session"
    try:
        os.setsid()
        die_with_parent(keeper)
        if group is not None:
            group.enter()
        for number in IGNORED_HERE:
            signal.signal(number, signal.SIG_DFL)
        for target, handle in enumerate(stdio):
            os.dup2(handle, target)
        if wishes.own_keyring:
            leave_keyring()
        step = "files"
        _limit_files(wishes.limits)
        step = "folder"
        _enter(wishes)
        step = "program"
        _exec(wishes)
    except OSError as error:
        os.write(writer, f"{step} {error.errno}".encode())
    except BaseException:  # the process's boundary; a limit that cannot be set is no OSError
        os.write(writer, f"{step} {errno.EINVAL}".encode())
    finally:
        os._exit(127)


def _enter(wishes: Wishes) -> None:
    """Go into the folder. Where we are then is looked at, not what the path leads to: that may be swapped at any moment."""
    os.chdir(wishes.cwd)
    if wishes.cwd_is_real and os.getcwdb() != wishes.cwd:
        raise OSError(errno.ELOOP, "the folder leads elsewhere")


def _limit_files(limits: dict[str, int]) -> None:
    if "files" in limits:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits["files"], limits["files"]))


def _exec(wishes: Wishes) -> None:
    """Try each place where the program may be; of the errors the one that explains most is reported, the first of its kind."""
    failures: list[OSError] = []
    for candidate in wishes.candidates:
        try:
            os.execve(candidate, wishes.argv, wishes.env)
        except OSError as error:
            failures.append(error)
    if failures:
        raise max(failures, key=_explanation_rank)


def _explanation_rank(error: OSError) -> int:
    """A place without it explains least; one that may not be looked into little more; one where it is and cannot be run most."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return 0
    return 1 if isinstance(error, PermissionError) else 2
