"""The program of the nursery: one small process that forks a keeper for each agent.

Rule 1: it does nothing that could take long or fail for the sake of one agent: what is to be run, its keeper reads itself.
Rule 2: it ends when its hub is gone and its last keeper is. Then nobody else wakes who was stopped: the kernel wakes it
(``proc.wake_with_parent``), it wakes its keepers, and kills those that do not go all the same.
Rule 3: a keeper that did not end by itself leaves orphans, which come here; all but keepers and spared daemons are ended.
Rule 4: it and its keepers are closed to the programs of the same user: they know whom to spare, and are believed.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time

from trunkline.agents.keeper import cgroup, proc
from trunkline.agents.keeper.parent import keep
from trunkline.agents.keeper.wire import receive

ORPHANS_S = 5.0
"""How long orphans of a killed keeper are hunted; what is there still is another user's, or hangs in the kernel."""

ROUND_S = 0.01
"""How soon they are looked for again: a killed process's children become ours only then."""

HUB_GONE_S = 20.0
"""How long a keeper may take to go after the hub has: at most eleven seconds (``parent``), and a busy machine."""

WAKE_S = 0.5
"""How often keepers are woken meanwhile."""


class Nursery:
    """Forks keepers until its hub goes."""

    def __init__(self, hub: socket.socket, groups: str | None) -> None:
        """``groups``: the control group below which each keeper makes one; None where there is none for us."""
        self._hub = hub
        self._groups = groups
        self._wakeup = _wakeup_pipe()
        self._notes, self._notes_writer = os.pipe()
        os.set_blocking(self._notes, False)
        self._keepers: set[int] = set()
        self._spared: set[int] = set()
        self._hunts_until = 0.0
        self._hub_gone_at: float | None = None
        self._poll = select.poll()
        for handle in (hub.fileno(), self._wakeup):
            self._poll.register(handle, select.POLLIN)

    def run(self) -> None:
        """Until the hub is gone, and all keepers."""
        while self._hub_gone_at is None or self._keepers or self._hunts:
            ready = dict(self._poll.poll(self._patience_ms()))
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
            self._reap()
            if self._hunts:
                self._kill_orphans()
            if self._hub.fileno() in ready:
                self._listen()
            if self._hub_gone_at is not None:
                self._urge_keepers(time.monotonic() - self._hub_gone_at)

    def _patience_ms(self) -> float | None:
        if self._hunts:
            return ROUND_S * 1000
        return None if self._hub_gone_at is None else WAKE_S * 1000

    def _urge_keepers(self, gone_for_s: float) -> None:
        """The hub is gone, and they have seen its socket end, unless somebody stops them."""
        for keeper in self._keepers:
            proc.send_signal(keeper, os.getpid(), signal.SIGCONT if gone_for_s < HUB_GONE_S else signal.SIGKILL)

    @property
    def _hunts(self) -> bool:
        return self._hunts_until > time.monotonic()

    def _listen(self) -> None:
        try:
            data, handles = receive(self._hub, 1, 1)
        except OSError:
            data, handles = b"", []
        if not data:
            self._poll.unregister(self._hub.fileno())
            self._hub_gone_at = time.monotonic()
        for handle in handles:
            self._fork(handle)
            os.close(handle)

    def _fork(self, control: int) -> None:
        try:
            pid = os.fork()
        except OSError:  # too many processes; the hub sees the socket end without a word
            return
        if pid:
            self._keepers.add(pid)
            return
        code = 1
        try:
            self._hub.close()
            os.close(self._notes)
            os.close(self._wakeup)
            wakeup = _wakeup_pipe()
            code = keep(socket.socket(fileno=control), wakeup, self._notes_writer, self._group_of(os.getpid()))
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if os.WIFSTOPPED(status):  # it wished to be traced
                continue
            self._spared.discard(pid)
            if pid in self._keepers:
                self._keepers.discard(pid)
                self._note_spared()
                if status != 0:
                    self._hunts_until = time.monotonic() + ORPHANS_S
                    self._end_group_of(pid)

    def _group_of(self, keeper: int) -> cgroup.ControlGroup | None:
        return cgroup.ControlGroup(self._groups, keeper) if self._groups is not None else None

    def _end_group_of(self, keeper: int) -> None:
        group = self._group_of(keeper)
        if group is not None:
            group.kill()
            group.remove()

    def _note_spared(self) -> None:
        try:
            self._spared |= {int(line) for line in os.read(self._notes, 65536).split()}
        except BlockingIOError:
            pass

    def _kill_orphans(self) -> None:
        known = self._keepers | self._spared
        orphans = proc.descendants_of(os.getpid(), but=known)
        for pid, parent in orphans:
            proc.send_signal(pid, parent, signal.SIGKILL)
        if not orphans:
            self._hunts_until = 0.0


def _wakeup_pipe() -> int:
    """A pipe that gets a byte for each SIGCHLD; its reading end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    old = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if old != -1:
        os.close(old)
    return reader


def main(handle: int, groups: str) -> None:
    """Serve the hub at the other end of this socket. ``groups``: a control group to use; empty: our own, where that is ours."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it goes when its hub does
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    proc.become_subreaper()
    proc.wake_with_parent()
    proc.close_to_others()
    base = groups or cgroup.own_base()
    if base is not None:
        cgroup.end_left_behind(base)
    gc.disable()
    gc.freeze()  # forks share what nobody writes to
    Nursery(socket.socket(fileno=handle), base).run()
