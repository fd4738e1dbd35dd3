"""The hub's side: starts the nursery, has it fork a keeper, and reads what that keeper reports.

Rule 1: nothing here waits on the loop: a nursery is started in a lane (``check_off_loop`` holds it), all else is a socket.
Rule 2: one nursery per process, started with the first agent or before (``open_nursery``) and again when it is gone; it serves
every event loop. Whoever never closes it has its socket closed when the program ends.
Rule 3: a keeper that ends without saying that nothing is left was killed. That is reported as an exit, and whoever kept the agent
looks for its family by other means.
Rule 4: at most one keeper waits for an agent that is about to be started (``fork_ahead``); one that is not leaves it to the next.
Rule 5: a nursery that does not answer in time is stopped or hangs. It is woken and keeps what it has; another one serves from
then on. What is to be run is sent only to a keeper that reported to be there, so that nothing runs twice.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, cast

from trunkline.agents.keeper.wire import HERE, LENGTH, LINE_MOST, Wishes
from trunkline.errors import Unavailable
from trunkline.threads import Lane, check_off_loop

SEND_AGAIN_S: Final = 0.005
"""When the nursery has more requests waiting than its socket holds (hundreds), how soon we try again."""

ANSWER_S: Final = 5.0
"""How long a nursery may take to fork a keeper, which takes a millisecond; a busy machine a hundred."""

AHEAD_S: Final = 1.0
"""How long a keeper that was forked ahead is believed to be well. Most are used a millisecond later."""

PACKAGE: Final = Path(__file__).parents[2]

BOOT: Final = """
import sys
for name, folder in (("trunkline", ""), ("trunkline.agents", "/agents"), ("trunkline.agents.keeper", "/agents/keeper")):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = [sys.argv[2] + folder]
from trunkline.agents.keeper.nursery import main
main(int(sys.argv[1]), sys.argv[3])
"""
"""Bare packages first: the real ones import what the nursery, of which every keeper is a copy, must not carry."""

control_group = ""
"""The control group below which agents get theirs; empty: the hub's own, where that was delegated to it. Set by tests."""

log = logging.getLogger(__name__)


class StartFailed(OSError):
    """The program could not be started; ``step`` is ``folder``, ``files`` or ``program``."""

    def __init__(self, number: int, step: str) -> None:
        super().__init__(number, os.strerror(number))
        self.step = step


class KeeperGone(Exception):
    """The nursery or the keeper ended before it sent anything."""


class KeptAgent(asyncio.Protocol):
    """One agent in the hands of its keeper. ``on_exit`` and ``on_gone`` are called once each, in this order, on the loop.

    Either may be true already when ``start`` returns: a short command is over by then.
    """

    def __init__(self) -> None:
        self.pid = 0
        self.keeper_pid = 0
        self.has_subreaper = False
        self.has_exited = False
        self.exit_code: int | None = None
        """As Python writes it: negative for a signal. None while it runs, and when its keeper was killed."""
        self.over: tuple[str, int] | None = None
        """The limit that was reached, and what was used."""
        self.spared: list[tuple[int, int]] = []
        """Shared daemons left running: process and place in the list."""
        self.is_gone = False
        """The keeper has gone; ``ended_well`` says whether it left nothing."""
        self.ended_well = False
        self.on_exit: Callable[[], None] = lambda: None
        self.on_gone: Callable[[], None] = lambda: None
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start(self, control: socket.socket, wishes: Wishes, stdio: Sequence[int]) -> None:
        """Say what is to be run, and wait until it runs; StartFailed when it cannot, KeeperGone when nobody answers."""
        data = wishes.encode()
        try:
            await _await_keeper(control)
            socket.send_fds(control, [data[:LENGTH.size]], list(stdio))
            transport, _ = await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=control)
        except (BrokenPipeError, ConnectionResetError):
            control.close()
            raise KeeperGone("the keeper went before it got what to run") from None
        except BaseException:
            control.close()
            raise
        transport.write(data[LENGTH.size:])
        await self._started

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, since another loop's transports need not derive from asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def end(self, term_s: float) -> None:
        """Have the agent ended: SIGTERM, that long, SIGKILL; then all that it started."""
        if self._transport is not None:
            self._transport.write(f"end {term_s:.3f}\n".encode())

    def close(self) -> None:
        """Let go of the keeper, which then ends what it keeps."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._on_report(line.decode("ascii", "replace").split(" "))
        if len(self._received) > LINE_MOST:
            self._gone()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._gone()

    def _on_report(self, words: list[str]) -> None:
        try:
            self._read_report(words)
        except (ValueError, IndexError):
            log.warning("the keeper of process %d says what makes no sense: %.100r", self.pid, " ".join(words))

    def _read_report(self, words: list[str]) -> None:
        match words[0]:
            case "started" if not self._started.done():
                self.pid, self.keeper_pid, self.has_subreaper = int(words[1]), int(words[2]), words[3] == "1"
                self._started.set_result(None)
            case "failed" if not self._started.done():
                self._started.set_exception(StartFailed(int(words[2]), words[1]))
            case "over":
                self.over = (words[1], int(words[2]))
            case "exited":
                self._exited(int(words[1]))
            case "spared":
                self.spared.append((int(words[1]), int(words[2])))
            case "gone":
                self.ended_well = True
                self._gone()
            case _:
                log.warning("the keeper of process %d says: %.200s", self.pid, " ".join(words))

    def _exited(self, code: int | None) -> None:
        if not self.has_exited:
            self.has_exited = True
            self.exit_code = code
            self.on_exit()

    def _gone(self) -> None:
        if self.is_gone:
            return
        self.is_gone = True
        self.close()
        if not self._started.done():
            self._started.set_exception(KeeperGone("the keeper went before it started anything"))
        elif self.pid:
            try:
                self._exited(None)
            finally:
                self.on_gone()


async def _await_keeper(control: socket.socket) -> None:
    """Wait until the keeper is there; KeeperGone where none comes."""
    try:
        async with asyncio.timeout(ANSWER_S):
            word = await asyncio.get_running_loop().sock_recv(control, LINE_MOST)
    except TimeoutError:
        raise KeeperGone("the nursery does not answer") from None
    if word != HERE:
        raise KeeperGone("the keeper went before it got what to run")


class _Nursery:
    """The running nursery process."""

    def __init__(self) -> None:
        check_off_loop()
        self.hub = os.getpid()
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        try:
            words = ["-I", "-S", "-c", BOOT, str(theirs.fileno()), str(PACKAGE), control_group]
            self._process = subprocess.Popen(
                [sys.executable, *words], pass_fds=[theirs.fileno()], env={}, cwd="/",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True)
        except BaseException:
            self._socket.close()
            raise
        finally:
            theirs.close()
        threading.Thread(target=self._process.wait, name="wait for the nursery", daemon=True).start()
        self._ahead: socket.socket | None = None
        """Of a keeper that waits for the next agent."""
        self._ahead_at = 0.0

    def fork_ahead(self) -> None:
        """Have a keeper forked for the next agent, unless one waits. Where that cannot be asked for now, its start asks again."""
        if self._ahead is None:
            with contextlib.suppress(OSError, KeeperGone):
                self._ahead, self._ahead_at = self._fork(), time.monotonic()

    async def fork_keeper(self) -> socket.socket:
        """Our end of a keeper's control socket: of the one that was forked ahead, else of a new one. KeeperGone when there is no
        nursery any more."""
        if (ahead := self._take_ahead()) is not None:
            return ahead
        try:
            async with asyncio.timeout(ANSWER_S):
                while True:
                    with contextlib.suppress(BlockingIOError):
                        return self._fork()
                    await asyncio.sleep(SEND_AGAIN_S)
        except TimeoutError:
            raise KeeperGone("the nursery does not listen") from None

    def _take_ahead(self) -> socket.socket | None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and time.monotonic() - self._ahead_at > AHEAD_S:
            ahead.close()
            return None
        return ahead

    def _fork(self) -> socket.socket:
        """Have a keeper forked; BlockingIOError where the nursery has too much to do."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs:
                socket.send_fds(self._socket, [b"k"], [theirs.fileno()])
        except OSError as error:
            ours.close()
            if isinstance(error, BlockingIOError):
                raise
            raise KeeperGone("the nursery is gone") from None
        return ours

    @property
    def runs(self) -> bool:
        """Whether its process is still there."""
        return self._process.returncode is None

    def wake(self) -> None:
        """Let it go on if somebody stopped it: it has to end the orphans of killed keepers, and itself."""
        if self.runs:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """It ends when its last keeper does."""
        if self._ahead is not None:
            self._ahead.close()
        self._socket.close()
        self.wake()


_lock = threading.Lock()
_nursery: _Nursery | None = None
_retired: list[_Nursery] = []
"""Those that serve no more but have keepers still."""


async def start(wishes: Wishes, stdio: Sequence[int]) -> KeptAgent:
    """Run a program under a keeper of its own. ``stdio`` are the child's ends, which stay the caller's to close.

    Raises StartFailed when the program cannot be run, OSError when the hub itself lacks the means."""
    for is_last in (False, True):
        nursery = await _running()
        kept = KeptAgent()
        try:
            await kept.start(await nursery.fork_keeper(), wishes, stdio)
            return kept
        except KeeperGone as error:
            kept.close()
            _forget(nursery)
            if is_last:
                raise OSError(f"no keeper could be started for it: {error}") from error
        except BaseException:
            kept.close()
            raise
    raise AssertionError("unreachable")


def fork_ahead() -> None:
    """Have a keeper forked, where a nursery runs: an agent is about to be started, once it is clear whether it may and how."""
    nursery = _nursery
    if nursery is not None and nursery.hub == os.getpid():
        nursery.fork_ahead()


async def open_nursery() -> None:
    """Have a nursery run, so that the first agent need not wait for it. Where it cannot be started, that agent says so."""
    with contextlib.suppress(OSError, Unavailable):
        await _running()


def close() -> None:
    """The process needs no more agents for now: the nursery goes when its last keeper does."""
    if _nursery is not None:
        _forget(_nursery)
    wake_nurseries()


def wake_nurseries() -> None:
    """Let all that somebody stopped go on."""
    with _lock:
        for nursery in [*_retired, *([_nursery] if _nursery is not None else [])]:
            if nursery.hub == os.getpid():
                nursery.wake()


atexit.register(close)


async def _running() -> _Nursery:
    nursery = _nursery
    if nursery is not None and nursery.hub == os.getpid():
        return nursery
    return await Lane().run(_start)


def _start() -> _Nursery:
    global _nursery
    with _lock:
        if _nursery is None or _nursery.hub != os.getpid():
            if _nursery is not None:
                _nursery.close()  # a forked program's copy of what serves its parent
            _nursery = _Nursery()
        return _nursery


def _forget(nursery: _Nursery) -> None:
    global _nursery
    with _lock:
        _retired[:] = [each for each in {*_retired, nursery} if each.runs and each.hub == os.getpid()]
        if _nursery is nursery:
            _nursery = None
    nursery.close()
