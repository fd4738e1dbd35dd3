"""Child processes: the agents, and the commands that agents ask us to run. Whoever wants to run something comes here.

Rule 1: a child heads its own session and process group, and sees only the environment it was given (``environment``).
Rule 2: nothing it does blocks the loop or grows without bound: output is read as it comes, stderr kept to its last bytes,
what it does not read is bounded (``pipes``), and who has much to write waits by ``drain``.
Rule 3: an exit is reported once, after every byte the child itself wrote, and never waits for a grandchild that holds the pipe.
Rule 4: an ended child leaves nothing behind: no zombie, and none of its family. Its parent is a keeper of its own, which knows
them all (``keeper``); where the keeper was killed, or the system has no subreapers, the family is looked for (``family``).

Pipes are ``os.pipe`` read by the loop's own transport: a loop's subprocess API may hand the child a socket instead, which costs
twice the CPU when an agent writes line by line.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Final

import msgspec

from trunkline.agents.daemons import Daemon
from trunkline.agents.environment import MARKER, clean_env, marker_below, new_marker
from trunkline.agents.keeper import link
from trunkline.agents.keeper.link import KeptAgent
from trunkline.agents.keeper.wire import Wishes, candidates
from trunkline.agents.pipes import INPUT_MOST, InputPipe, OutputPipe
from trunkline.agents.process_table import Identity, start_time
from trunkline.agents.process_tree import end_below, end_leftover, end_leftovers, end_process, wake
from trunkline.agents.resources import Resources
from trunkline.agents.sandbox.bwrap import MAKES_NAMESPACE
from trunkline.agents.tail import Tail
from trunkline.errors import AgentError, AgentNotInstalled, AgentStartFailed, Forbidden, Invalid, TrunklineError
from trunkline.threads import Lane, check_off_loop

__all__ = ["AgentProcess", "ChildCommand", "Exit", "clean_env", "close_nursery", "end_leftover", "find_argv"]

STDERR_KEPT: Final = 1 << 20
"""Bytes of an agent's stderr that are kept to explain a failure."""

DRAIN_S: Final = 60.0
"""How long ``drain`` waits for an agent that does not read."""

MUTE_S: Final = 1.0
"""How long an agent may live on after it closed its stdin or stdout: nobody can talk with it any more."""

KILL_S: Final = 8.0
"""How long a child and its family may take to go, beyond the time that it is given, before we stop waiting for its keeper: the
keeper gives the family a second and repeats SIGKILL for five. A keeper that takes longer was stopped or hangs."""

COMMAND_TERM_S: Final = 1.0
"""What a terminal's command gets between SIGTERM and SIGKILL."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")

log = logging.getLogger(__name__)


class Exit(msgspec.Struct, frozen=True):
    """How a process ended: an exit code, or the name of the signal that ended it; neither when it could not be ended."""

    code: int | None = None
    signal: str | None = None
    reason: str | None = None
    """Why the hub ended it, where it did: the limit that was reached."""

    def __str__(self) -> str:
        if self.reason is not None:
            return f"ended by the hub: {self.reason}"
        if self.signal is not None:
            return f"ended by {self.signal}"
        return "hangs in the kernel" if self.code is None else f"exited with code {self.code}"


class AgentProcess:
    """A running agent: bytes in, bytes out, one exit.

    ``on_data`` gets each read of stdout. ``on_exit`` is called once, after the last ``on_data``. Both run on the loop, not before
    ``spawn`` has returned, and must not block. When the agent goes by itself its family is ended too; ``stop`` waits for that.
    """

    def __init__(self, leader: _Leader, on_data: Callable[[bytes], None], on_exit: Callable[[Exit], None]) -> None:
        self.pid: Final = leader.pid
        self.start_time: Final = leader.start_time
        self.marker: Final = leader.marker
        self._leader = leader
        self._on_exit = on_exit
        self._stderr = Tail(STDERR_KEPT)
        self._stdin = InputPipe(self._pipe_ended, self._end_deaf)
        self._why: str | None = None
        """Why it was ended, where nobody asked for that."""
        self._stdout_pipe = OutputPipe(on_data, self._pipe_ended)
        self._stderr_pipe = OutputPipe(self._stderr.append)
        self._stopping: asyncio.Task[Exit] | None = None

    @classmethod
    async def spawn(
        cls,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        on_exit: Callable[[Exit], None],
        resources: Resources | None = None,
        daemons: Sequence[Daemon] = (),
    ) -> AgentProcess:
        """Start ``command`` in ``cwd`` with exactly ``env`` (and a marker, if it has none), within ``resources``.

        ``daemons`` are left running when it ends. Raises AgentNotInstalled when there is no such command on ``env``'s PATH,
        AgentStartFailed when it cannot be run, Invalid for a ``cwd`` that is no directory.
        """
        env = {**env, MARKER: env.get(MARKER) or new_marker()}
        with _Pipes() as pipes:
            stdin, stdout, stderr = pipes.to_child(), pipes.from_child(), pipes.from_child()
            leader = await _Leader.start(command, cwd, env, pipes.childs, resources=resources, daemons=daemons)
            process = cls(leader, on_data, on_exit)
            try:
                await process._connect(stdin, stdout, stderr)
            except BaseException:
                leader.let_go()
                raise
            pipes.keep_ours()
        asyncio.get_running_loop().call_soon(process._begin)
        return process

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return self._leader.exit

    @property
    def left_running(self) -> list[tuple[int, str]]:
        """Shared daemons that its family was and that go on: process and name. Known once it has been stopped."""
        return self._leader.left_running

    def write(self, data: bytes) -> None:
        """Send bytes to the agent's stdin; never blocks. After its end they go nowhere: ``on_exit`` has been called."""
        self._stdin.write(data)

    async def drain(self) -> None:
        """Wait until the agent has read enough that more may be written; AgentError when it does not read for a minute."""
        if not await self._stdin.wait_writable(DRAIN_S):
            raise AgentError(f"the agent (process {self.pid}) does not read its input: {self._stdin.waiting} bytes wait")

    def pause_reading(self) -> None:
        """Stop reading stdout, so that the pipe fills and the agent waits. At its exit the rest of the pipe still comes."""
        self._stdout_pipe.pause()

    def resume_reading(self) -> None:
        """Read on."""
        self._stdout_pipe.resume()

    def stderr_tail(self, lines: int = 20) -> str:
        """The last lines the agent wrote to stderr, without terminal escapes."""
        text = self._stderr.text().replace("\r\n", "\n").rstrip()
        return "\n".join(_ESCAPES.sub("", line) for line in text.split("\n")[-lines:])

    async def stop(self, *, close_stdin_s: float = 2.0, term_s: float = 3.0) -> Exit:
        """End the agent and all it started: close stdin, wait, SIGTERM to the group, wait, SIGKILL, then the rest of the family.

        Safe to call at any time and more than once; every caller waits for the same end.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._end(close_stdin_s, term_s), name=f"stop agent {self.pid}")
        return await asyncio.shield(self._stopping)

    async def _connect(self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> None:
        await self._stdin.connect(stdin)
        await self._stderr_pipe.connect(stderr)
        self._stderr_pipe.start()
        await self._stdout_pipe.connect(stdout)

    def _begin(self) -> None:
        try:
            self._stdout_pipe.start()
        finally:  # whoever fails to read what came before hears of the end all the same
            self._leader.watch(self._report)

    def _report(self, exit_: Exit) -> None:
        try:
            self._stdin.abort()
            self._stderr_pipe.finish()
            self._stdout_pipe.finish()
        finally:
            self._on_exit(msgspec.structs.replace(exit_, reason=self._why) if self._why is not None else exit_)

    def _pipe_ended(self) -> None:
        asyncio.get_running_loop().call_later(MUTE_S, self._end_mute)

    def _end_mute(self) -> None:
        if self.exit is None and self._stopping is None:
            log.warning("agent process %d closed its stdin or stdout and lives on; stopping it", self.pid)
            self._stopping = asyncio.create_task(self._end(0, MUTE_S), name=f"stop mute agent {self.pid}")

    def _end_deaf(self) -> None:
        """It lets pile up what it asked for."""
        if self.exit is None and self._stopping is None:
            self._why = f"it does not read its input: over {INPUT_MOST >> 20} MiB wait"
            log.warning("agent process %d does not read its input; stopping it", self.pid)
            self._stdin.abort()
            self._stopping = asyncio.create_task(self._end(0, MUTE_S), name=f"stop deaf agent {self.pid}")

    async def _end(self, close_stdin_s: float, term_s: float) -> Exit:
        if self.exit is None:
            self._stdin.close()
            await self._leader.ended_within(close_stdin_s)
        return await self._leader.end(term_s)


class ChildCommand:
    """A command that runs for an agent (``terminal/*``): its output, kept from the end, and its exit.

    It stays readable after its end until ``release``. Commands it left in the background go on until then.
    """

    def __init__(self, leader: _Leader, output_byte_limit: int, on_data: Callable[[bytes], None]) -> None:
        self.pid: Final = leader.pid
        self._leader = leader
        self._kept = Tail(output_byte_limit)
        self._on_data = on_data
        self._pipe = OutputPipe(self._received)
        self._ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()

    @classmethod
    async def spawn(
        cls, command: str, args: Sequence[str] = (), *, cwd: str, env: Mapping[str, str], output_byte_limit: int = 1 << 20,
        on_data: Callable[[bytes], None] = lambda data: None, resources: Resources | None = None, cwd_is_real: bool = False,
    ) -> ChildCommand:
        """Start a command with its stdout and stderr joined and no stdin.

        A ``command`` without ``args`` that is no program is run as a shell line: agents send those too. Raises as
        ``AgentProcess.spawn`` does; with ``cwd_is_real``, Forbidden where the folder leads through a link by now.
        """
        env = {**env, MARKER: marker_below(env.get(MARKER) or new_marker())}
        with _Pipes() as pipes:
            pipes.nothing_to_child()
            stdout = pipes.from_child()
            pipes.childs.append(pipes.childs[1])
            leader = await _Leader.start(await find_argv(command, args, env), cwd, env, pipes.childs, resources=resources,
                                         lingers=True, cwd_is_real=cwd_is_real)
            child = cls(leader, output_byte_limit, on_data)
            try:
                await child._pipe.connect(stdout)
            except BaseException:
                leader.let_go()
                raise
            pipes.keep_ours()
        child._pipe.start()
        leader.watch(child._leader_ended)
        return child

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return self._leader.exit

    @property
    def truncated(self) -> bool:
        """Whether the beginning of the output was dropped."""
        return self._kept.truncated

    def output(self) -> str:
        """The output so far, its last bytes within the limit, cut at a character boundary."""
        return self._kept.text()

    def output_bytes(self) -> bytes:
        """The same, as it came."""
        return bytes(self._kept)

    async def wait(self) -> Exit:
        """Wait for its end; all it wrote itself is in ``output`` by then."""
        return await asyncio.shield(self._ended)

    async def kill(self) -> Exit:
        """End it and all it started; its output stays readable."""
        return await self._leader.end(COMMAND_TERM_S)

    async def release(self) -> None:
        """End it and give everything back; nothing can be asked of it afterwards but what was read already."""
        await self.kill()
        self._pipe.finish()

    def _received(self, data: bytes) -> None:
        self._kept.append(data)
        self._on_data(data)

    def _leader_ended(self, exit_: Exit) -> None:
        self._pipe.take_waiting()
        if not self._ended.done():
            self._ended.set_result(exit_)


class _Leader:
    """The process at the head of its own session, from its start until nothing is left of it."""

    def __init__(self, kept: KeptAgent, marker: str, resources: Resources, daemons: Sequence[Daemon], lingers: bool) -> None:
        self.pid: Final = kept.pid
        self.start_time: Final = start_time(kept.pid)
        self.marker: Final = marker
        self.exit: Exit | None = None
        self._kept = kept
        self._keeper = Identity(kept.keeper_pid, start_time(kept.keeper_pid) or -1)
        self._resources = resources
        self._daemons = daemons
        self._lingers = lingers
        self._on_exit: Callable[[Exit], None] | None = None
        self._has_exited = asyncio.Event()
        self._is_gone = asyncio.Event()
        kept.on_exit = self._exited
        kept.on_gone = self._is_gone.set
        if kept.has_exited:
            self._exited()
        if kept.is_gone:
            self._is_gone.set()

    @classmethod
    async def start(cls, command: Sequence[str], cwd: str, env: Mapping[str, str], stdio: Sequence[int], *,
                    resources: Resources | None, daemons: Sequence[Daemon] = (), lingers: bool = False,
                    cwd_is_real: bool = False) -> _Leader:
        """Start a program with these three descriptors."""
        resources = resources or Resources()
        try:
            wishes = _wishes(command, cwd, env, lingers, resources, daemons, cwd_is_real)
            kept = await link.start(wishes, stdio)
        except link.StartFailed as failure:
            raise _start_error(failure, command, cwd) from None
        except (OSError, ValueError) as error:
            raise AgentStartFailed(f"command {command[0]!r} cannot be run: {error}",
                                   details={"command": list(command)}) from error
        return cls(kept, env[MARKER], resources, daemons, lingers)

    @property
    def left_running(self) -> list[tuple[int, str]]:
        """Shared daemons of its family that go on."""
        return [(pid, self._daemons[index].name) for pid, index in self._kept.spared if index < len(self._daemons)]

    def watch(self, on_exit: Callable[[Exit], None]) -> None:
        """Call back on the loop as soon as the process has ended."""
        self._on_exit = on_exit
        if self.exit is not None:
            asyncio.get_running_loop().call_soon(on_exit, self.exit)

    def let_go(self) -> None:
        """Nobody wants it any more: the keeper ends it."""
        self._kept.close()

    async def ended_within(self, limit_s: float) -> bool:
        """Wait for its exit."""
        return await _happens(self._has_exited, limit_s)

    async def end(self, term_s: float) -> Exit:
        """SIGTERM to the group, wait, SIGKILL, then whatever is left of its family; returns when nothing is."""
        if not self._is_gone.is_set():
            if self.exit is None or self._lingers:
                self._kept.end(term_s)
            # Else the keeper ends the family by itself. To ask it to while it goes would fail, and drop what it sent last.
            wake(self._keeper)  # its agent may have stopped it, and then it reads nothing
            await _happens(self._is_gone, term_s + KILL_S)
        if not (self._kept.ended_well and self._kept.has_subreaper):
            await self._end_without_keeper()
        if self.exit is None:
            log.error("process %d does not go, not even by SIGKILL", self.pid)
            self._exited()
        for pid, name in self.left_running:
            log.info("%s (process %d), which process %d started for all its users, is left running", name, pid, self.pid)
        assert self.exit is not None  # set by the keeper's word or just above
        return self.exit

    async def _end_without_keeper(self) -> None:
        """The keeper was killed or stopped, or cannot know the whole family: look for it. What a keeper leaves when it is
        killed, the nursery ends too."""
        spared = [daemon.command for daemon in self._daemons]
        if not self._kept.ended_well:
            await end_below([self._keeper], spared=spared)  # while it lives, even stopped, no orphan leaves it
            await end_process(self._keeper)
            link.wake_nurseries()  # somebody may have stopped the one that ends a killed keeper's orphans
            await _happens(self._is_gone, 1.0)
        born_before = -1 if self.start_time is None else float("inf")
        await end_leftovers(self.pid, self.marker, known=[Identity(self.pid, self.start_time or -1)], born_before=born_before,
                            spared=spared)

    def _exited(self) -> None:
        self.exit = self._outcome()
        self._has_exited.set()
        if self._on_exit is not None:
            self._on_exit(self.exit)

    def _outcome(self) -> Exit:
        code = self._kept.exit_code
        if self._kept.over is not None:
            return Exit(signal="SIGKILL", reason=self._resources.reached(*self._kept.over))
        if code is None:
            return Exit(reason="the process that kept it was killed") if self._kept.is_gone else Exit()
        return Exit(code=code) if code >= 0 else Exit(signal=_signal_name(-code))


class _Pipes:
    """The pipes of one child: its ends, which are closed here once it has them, and ours, until somebody takes them."""

    def __init__(self) -> None:
        self.childs: list[int] = []
        self._ours: list[IO[bytes]] = []

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in set(self.childs):
            os.close(handle)
        for file in self._ours:
            file.close()

    def to_child(self) -> IO[bytes]:
        """A pipe that the child reads; our end of it."""
        reader, writer = os.pipe()
        self.childs.append(reader)
        self._ours.append(open(writer, "wb", buffering=0))
        return self._ours[-1]

    def from_child(self) -> IO[bytes]:
        """A pipe that the child writes; our end of it."""
        reader, writer = os.pipe()
        self.childs.append(writer)
        self._ours.append(open(reader, "rb", buffering=0))
        return self._ours[-1]

    def nothing_to_child(self) -> None:
        """An input that has ended."""
        self.childs.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def keep_ours(self) -> None:
        """Our ends belong to somebody else from now on."""
        self._ours.clear()


def close_nursery() -> None:
    """Nothing is to be started for now: what starts agents goes when the last of them does, and comes back when it is needed."""
    link.close()


def _wishes(command: Sequence[str], cwd: str, env: Mapping[str, str], lingers: bool, resources: Resources,
            daemons: Sequence[Daemon], cwd_is_real: bool) -> Wishes:
    texts = [*command, cwd, *env, *env.values()]
    if any("\0" in text for text in texts):
        raise ValueError("embedded null byte")
    return Wishes(
        candidates(command[0], dict(env)), [os.fsencode(word) for word in command], os.fsencode(cwd),
        {os.fsencode(name): os.fsencode(value) for name, value in env.items()}, lingers, resources.as_wishes(),
        [list(daemon.command) for daemon in daemons], cwd_is_real, own_keyring=MAKES_NAMESPACE in command)


def _start_error(failure: link.StartFailed, command: Sequence[str], cwd: str) -> TrunklineError:
    details = {"command": list(command)}
    is_missing = failure.errno in (errno.ENOENT, errno.ENOTDIR)
    if failure.step == "folder" and is_missing:
        return Invalid(f"cwd {cwd!r} is not a directory", details={"field": "cwd"})
    if failure.step == "folder" and failure.errno == errno.ELOOP:
        return Forbidden(f"cwd {cwd!r} leads elsewhere by now", details={"field": "cwd"})
    if failure.step == "program" and is_missing:
        return AgentNotInstalled(f"command {command[0]!r} was not found", details=details)
    return AgentStartFailed(f"command {command[0]!r} cannot be run: {failure.strerror} ({failure.step})", details=details)


async def _happens(event: asyncio.Event, within_s: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
    return event.is_set()


async def find_argv(command: str, args: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """``argv_of`` for callers on the loop: the folders of a PATH may be on a disk that does not answer."""
    return [command, *args] if args else await Lane(1).run(argv_of, command, args, env)


def argv_of(command: str, args: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The words to run; a ``command`` without ``args`` that is no program is a shell line. It looks for it on the disk."""
    check_off_loop()
    if args or shutil.which(command, path=env.get("PATH")):
        return [command, *args]
    return ["/bin/sh", "-c", command]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"
