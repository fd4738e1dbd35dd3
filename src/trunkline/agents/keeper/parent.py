"""The program of a keeper: starts one agent, waits, and ends it with everything that it started.

    run ─▶ the agent exits, or its end is asked for, or the hub is gone, or a limit is reached
        ─▶ SIGTERM to its group, SIGKILL ─▶ the rest of its family: SIGTERM, SIGKILL ─▶ nothing is left: go

Rule 1: every child is reaped as it ends: no zombie stays, not even one that an agent orphaned an hour ago.
Rule 2: signals that ask to end are followed by SIGCONT: who is stopped would never get them.
Rule 3: who does not go by SIGKILL is not waited for: a process that another one traces is reaped only when that one is gone.
Rule 4: only a keeper that leaves nobody says so. Whoever it leaves, the nursery goes on to end.
Rule 5: shared daemons that the catalog names are left running, with all below them, and reported.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time

from trunkline.agents.keeper import proc
from trunkline.agents.keeper.cgroup import ControlGroup
from trunkline.agents.keeper.launch import LaunchFailed, launch
from trunkline.agents.keeper.wire import HERE, LENGTH, LINE_MOST, Wishes, decode, receive

TYPE_CHECKING = False  # as in ``typing``, whose import would cost each keeper memory
if TYPE_CHECKING:
    from collections.abc import Callable

HUB_GONE_TERM_S = 3.0
"""What an agent gets between SIGTERM and SIGKILL when its hub died: as much as when it is stopped."""

AGENT_KILL_S = 2.0
"""How long its agent may take to go after SIGKILL before all others are ended too."""

FAMILY_TERM_S = 1.0
"""How long what an ended agent left behind gets between SIGTERM and SIGKILL: nobody waits for its work any more."""

FAMILY_KILL_S = 5.0
"""How long SIGKILL is repeated; what is there still is another user's, or hangs in the kernel."""

ROUND_S = 0.01
"""How soon SIGKILL is repeated: a killed process's children become ours only then."""

MEMORY_HARD = 125
"""Per cent of its memory limit at which the kernel stops an agent that has a group: we look first, and can say why."""

LOOK_S = 0.25
"""How often an agent that has limits is looked at. What it takes in that time is how far it can overshoot."""


class AgentKeeper:
    """Keeps one agent."""

    def __init__(self, control: socket.socket, wakeup: int, to_nursery: int, group: ControlGroup | None) -> None:
        """``wakeup`` gets a byte for each SIGCHLD. ``to_nursery`` takes the numbers of daemons that outlive us."""
        self._group = group
        self._control = control
        self._wakeup = wakeup
        self._to_nursery = to_nursery
        self._poll = select.poll()
        self._poll.register(control.fileno(), select.POLLIN)
        self._poll.register(wakeup, select.POLLIN)
        self._received = b""
        self._agent = 0
        self._is_subreaper = False
        self._exited = False
        self._has_children = True
        self._end_asked = False
        self._term_s = HUB_GONE_TERM_S
        self._limits: dict[str, int] = {}
        self._daemons: list[list[str]] = []
        self._spared: set[int] = set()

    def run(self) -> bool:
        """From the hub's wishes to the end; whether nobody is left."""
        wishes, stdio = self._receive_wishes()
        self._is_subreaper = proc.become_subreaper()
        self._limits, self._daemons = wishes.limits, wishes.daemons
        self._make_group()
        try:
            self._agent = launch(wishes, stdio, self._group)
        except LaunchFailed as failure:
            self._remove_group()
            self._send(f"failed {failure.step} {failure.number}")
            return True
        finally:
            for handle in stdio:
                os.close(handle)
        self._send(f"started {self._agent} {os.getpid()} {int(self._is_subreaper)}")
        self._keep(wishes.lingers)
        self._remove_group()
        if self._is_alone():
            self._send("gone")
            return True
        return False

    def _make_group(self) -> None:
        memory = self._limits.get("memory")
        if self._group is not None and not self._group.make(memory and memory * MEMORY_HARD // 100):
            self._group = None

    def _remove_group(self) -> None:
        if self._group is not None:
            self._group.remove()

    def _keep(self, lingers: bool) -> None:
        self._wait(lambda: self._exited or self._end_asked)
        if not self._exited:
            self._end_agent()
        if lingers:
            self._wait(lambda: self._end_asked or not self._has_children)
        self._end_family()

    def _end_agent(self) -> None:
        self._signal_group(signal.SIGTERM)
        self._signal_group(signal.SIGCONT)
        if not self._wait(lambda: self._exited, self._term_s):
            self._signal_group(signal.SIGKILL)
            self._wait(lambda: self._exited, AGENT_KILL_S)

    def _end_family(self) -> None:
        self._limits = {}
        if not self._is_subreaper:
            self._end_group()
        if self._is_alone():
            return
        self._signal_family(signal.SIGTERM)
        self._signal_family(signal.SIGCONT)
        if self._wait(self._is_alone, FAMILY_TERM_S):
            return
        until = time.monotonic() + FAMILY_KILL_S
        while not self._is_alone() and time.monotonic() < until:
            self._signal_family(signal.SIGKILL)
            self._kill_group()
            self._wait(self._is_alone, ROUND_S)
        for pid, _ in proc.descendants_of(os.getpid(), but=self._spared):
            self._send(f"left {pid}")

    def _kill_group(self) -> None:
        """By the kernel, all at once; not where a daemon that is to be spared could not be taken out."""
        if self._group is not None and all([self._group.let_out(pid) for pid in self._spared]):
            self._group.kill()

    def _end_group(self) -> None:
        """Where orphans go elsewhere (macOS) the group is what we know; the hub looks for others."""
        self._signal_group(signal.SIGTERM)
        self._signal_group(signal.SIGCONT)
        if not self._wait(lambda: not self._signal_group(0), FAMILY_TERM_S):
            self._signal_group(signal.SIGKILL)

    def _wait(self, done: Callable[[], bool], within_s: float | None = None) -> bool:
        """Reap and listen until ``done``, or until time is up; whether it is done."""
        until = None if within_s is None else time.monotonic() + within_s
        self._reap()
        while not done():
            left_s = None if until is None else until - time.monotonic()
            if left_s is not None and left_s <= 0:
                return False
            self._rest(left_s)
            self._reap()
            self._check_limits()
        return True

    def _rest(self, limit_s: float | None) -> None:
        if self._limits:
            limit_s = LOOK_S if limit_s is None else min(limit_s, LOOK_S)
        for handle, _ in self._poll.poll(None if limit_s is None else limit_s * 1000):
            if handle == self._wakeup:
                os.read(self._wakeup, 4096)
            else:
                self._listen()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._has_children = False
                return
            if pid == 0:
                self._has_children = True
                return
            if os.WIFSTOPPED(status):  # it wished to be traced, and waits for us: it is stopped like any other
                continue
            self._spared.discard(pid)
            if pid == self._agent:
                self._exited = True
                self._send(f"exited {os.waitstatus_to_exitcode(status)}")

    def _is_alone(self) -> bool:
        """Nobody is left but who is spared. A list of children decides only where somebody is: the kernel's is a moment old."""
        if not self._has_children:
            return True
        self._spare_daemons()
        return bool(self._spared) and not set(proc.children_of(os.getpid())) - self._spared

    def _spare_daemons(self) -> None:
        """Find shared daemons, and let the nursery know before we go: it would end what it does not know."""
        if not self._daemons:
            return
        for pid, _ in proc.descendants_of(os.getpid(), but=self._spared):
            index = proc.daemon_index(proc.command_line(pid), self._daemons)
            if index is not None:
                self._spared.add(pid)
                os.write(self._to_nursery, f"{pid}\n".encode())
                self._send(f"spared {pid} {index}")

    def _check_limits(self) -> None:
        if not self._limits or self._end_asked:
            return
        family = [pid for pid, _ in proc.descendants_of(os.getpid())]
        used = {"processes": len(family)}
        if "memory" in self._limits:
            used["memory"] = proc.memory_of(family, self._limits["memory"])
        for name, amount in used.items():
            if amount > self._limits.get(name, amount):
                self._send(f"over {name} {amount}")
                self._end_asked, self._term_s = True, 0.0
                return

    def _signal_group(self, number: int) -> bool:
        """Signal the agent's own group, which keeps its number while anybody is in it; False when nobody is."""
        try:
            os.killpg(self._agent, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _signal_family(self, number: int) -> None:
        for pid, parent in proc.descendants_of(os.getpid(), but=self._spared):
            proc.send_signal(pid, parent, number)

    def _listen(self) -> None:
        try:
            data = self._control.recv(LINE_MOST)
        except OSError:
            data = b""
        if not data:  # the hub is gone
            self._poll.unregister(self._control.fileno())
            self._end_asked = True
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            word, _, seconds = line.partition(b" ")
            if word == b"end":
                self._end_asked, self._term_s = True, float(seconds)

    def _send(self, line: str) -> None:
        try:
            self._control.sendall(line.encode() + b"\n")
        except OSError:
            pass  # the hub is gone, and nobody else is interested

    def _receive_wishes(self) -> tuple[Wishes, list[int]]:
        try:
            self._control.sendall(HERE)
        except OSError:
            raise EOFError("the hub does not wait any more") from None
        head, stdio = receive(self._control, LENGTH.size, 3)
        if len(head) < LENGTH.size or len(stdio) != 3:
            raise EOFError("the hub went before it sent what to run")
        body, size = bytearray(), LENGTH.unpack(head)[0]
        while len(body) < size:
            data = self._control.recv(min(size - len(body), 1 << 16))
            if not data:
                raise EOFError("the hub went before it sent what to run")
            body += data
        return decode(bytes(body)), stdio


def keep(control: socket.socket, wakeup: int, to_nursery: int, group: ControlGroup | None) -> int:
    """Keep one agent to its end; the exit code of the keeper: 0 where nothing is left of it."""
    try:
        os.setsid()
        return 0 if AgentKeeper(control, wakeup, to_nursery, group).run() else 1
    except EOFError:
        return 0
    except BaseException as error:  # the process's boundary: it is reported to the hub, and the nursery ends what is left
        try:
            control.sendall(f"broken {error!r}\n".encode())
        except OSError:
            pass
        return 1
