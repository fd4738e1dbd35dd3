"""Child processes: the agents, and the commands that agents ask us to run. The only place that spawns.

Rule 1: a child heads its own session and process group, and sees only the environment it was given (``environment``).
Rule 2: nothing it does blocks the loop or grows without bound: output is read as it comes, stderr kept to its last bytes,
input is bounded by ``drain``.
Rule 3: an exit is told once, after every byte the child itself wrote, and never waits for a grandchild that holds the pipe.
Rule 4: an ended child leaves nothing behind: no zombie, and none of its family (``family``).

Pipes are ``os.pipe`` read by the loop's own transport: a loop's subprocess API may hand the child a socket instead, which costs
twice the CPU when an agent writes line by line.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from trunkline.agents.environment import MARKER, clean_env, marker_below, new_marker
from trunkline.agents.family import (
    Identity,
    end_leftover,
    end_leftovers,
    members,
    scan,
    signal_group,
    start_time,
    ticks_now,
)
from trunkline.agents.pipes import Input, Output
from trunkline.agents.tail import Tail
from trunkline.errors import AgentError, AgentNotInstalled, AgentStartFailed, Invalid

__all__ = ["AgentProcess", "ChildCommand", "Exit", "argv_of", "clean_env", "end_leftover"]

STDERR_KEPT: Final = 1 << 20
"""Bytes of an agent's stderr that are kept to explain a failure."""

DRAIN_S: Final = 60.0
"""How long ``drain`` waits for an agent that does not read."""

MUTE_S: Final = 1.0
"""How long an agent may live on after it closed its stdin or stdout: nobody can talk with it any more."""

KILL_S: Final = 5.0
"""How long a child may take to go after SIGKILL before we stop waiting (it hangs in the kernel)."""

COMMAND_TERM_S: Final = 1.0
"""What a terminal's command gets between SIGTERM and SIGKILL."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]")

log = logging.getLogger(__name__)


class Exit(msgspec.Struct, frozen=True):
    """How a process ended: an exit code, or the name of the signal that ended it; neither when it could not be ended."""

    code: int | None = None
    signal: str | None = None

    def __str__(self) -> str:
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
        self._stdin = Input(self._pipe_ended)
        self._stdout_pipe = Output(on_data, self._pipe_ended)
        self._stderr_pipe = Output(self._stderr.append)
        self._stopping: asyncio.Task[Exit] | None = None
        self._sweep: asyncio.Task[None] | None = None
        self._known: set[Identity] = set()

    @classmethod
    async def spawn(
        cls,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        on_exit: Callable[[Exit], None],
    ) -> AgentProcess:
        """Start ``command`` in ``cwd`` with exactly ``env`` (and a marker, if it has none).

        Raises AgentNotInstalled when there is no such command on ``env``'s PATH, AgentStartFailed when it cannot be run, Invalid
        for a ``cwd`` that is no directory.
        """
        env = {**env, MARKER: env.get(MARKER) or new_marker()}
        popen = _popen(command, cwd, env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        leader = _Leader(popen, env[MARKER])
        process = cls(leader, on_data, on_exit)
        try:
            await process._connect(popen)
        except BaseException:
            popen.kill()
            popen.wait()
            raise
        asyncio.get_running_loop().call_soon(process._begin)
        return process

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        return self._leader.exit

    def write(self, data: bytes) -> None:
        """Send bytes to the agent's stdin; never blocks. After its end they go nowhere: ``on_exit`` has told so."""
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

    async def _connect(self, popen: subprocess.Popen[bytes]) -> None:
        assert popen.stdin and popen.stdout and popen.stderr  # asked for as pipes above
        await self._stdin.connect(popen.stdin)
        await self._stderr_pipe.connect(popen.stderr)
        self._stderr_pipe.start()
        await self._stdout_pipe.connect(popen.stdout)

    def _begin(self) -> None:
        self._stdout_pipe.start()
        self._leader.watch(self._leader_ended)

    def _leader_ended(self) -> None:
        # Before the leader is reaped nobody else can have its number, so the group can be signalled without a look.
        signal_group(self.pid, signal.SIGTERM)
        exit_ = self._leader.reap()
        self._report(exit_)

    def _report(self, exit_: Exit) -> None:
        reaped_at = ticks_now()
        try:
            self._stdin.abort()
            self._stderr_pipe.finish()
            self._stdout_pipe.finish()
        finally:
            self._on_exit(exit_)
            self._sweep = asyncio.get_running_loop().create_task(self._sweep_family(reaped_at))

    async def _sweep_family(self, reaped_at: int) -> None:
        await end_leftovers(self.pid, self.marker, known=self._known, born_before=reaped_at)

    def _pipe_ended(self) -> None:
        asyncio.get_running_loop().call_later(MUTE_S, self._end_mute)

    def _end_mute(self) -> None:
        if self.exit is None and self._stopping is None:
            log.warning("agent process %d closed its stdin or stdout and lives on; stopping it", self.pid)
            self._stopping = asyncio.create_task(self._end(0, MUTE_S), name=f"stop mute agent {self.pid}")

    async def _end(self, close_stdin_s: float, term_s: float) -> Exit:
        leader = self._leader
        if leader.exit is None:
            # A child that left the session with an empty environment is known only while its parents live: look first.
            self._known = members(await asyncio.to_thread(scan), self.pid, self.marker)
            self._stdin.close()
            await leader.end_within(close_stdin_s, term_s)
        if leader.exit is None:
            log.error("agent process %d does not go, not even by SIGKILL", self.pid)
            leader.exit = Exit()
            self._report(leader.exit)
        if self._sweep is not None:
            await self._sweep
        assert leader.exit is not None  # set by the reaper or just above
        return leader.exit


class ChildCommand:
    """A command that runs for an agent (``terminal/*``): its output, kept from the end, and its exit.

    It stays readable after its end until ``release``. Commands it left in the background go on until then.
    """

    def __init__(self, leader: _Leader, output_byte_limit: int, on_data: Callable[[bytes], None]) -> None:
        self.pid: Final = leader.pid
        self._leader = leader
        self._kept = Tail(output_byte_limit)
        self._on_data = on_data
        self._pipe = Output(self._received)
        self._ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._reaped_at = 0

    @classmethod
    async def spawn(
        cls, command: str, args: Sequence[str] = (), *, cwd: str, env: Mapping[str, str], output_byte_limit: int = 1 << 20,
        on_data: Callable[[bytes], None] = lambda data: None,
    ) -> ChildCommand:
        """Start a command with its stdout and stderr joined and no stdin.

        A ``command`` without ``args`` that is no program is run as a shell line: agents send those too. Raises as
        ``AgentProcess.spawn`` does.
        """
        marker = marker_below(env.get(MARKER) or new_marker())
        env = {**env, MARKER: marker}
        popen = _popen(argv_of(command, args, env), cwd, env, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        child = cls(_Leader(popen, marker), output_byte_limit, on_data)
        assert popen.stdout  # asked for as a pipe
        try:
            await child._pipe.connect(popen.stdout)
            child._pipe.start()
        except BaseException:
            popen.kill()
            popen.wait()
            raise
        child._leader.watch(child._leader_ended)
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

    async def wait(self) -> Exit:
        """Wait for its end; all it wrote itself is in ``output`` by then."""
        return await asyncio.shield(self._ended)

    async def kill(self) -> Exit:
        """End it and all it started; its output stays readable."""
        if self.exit is None:
            await self._leader.end_within(0, COMMAND_TERM_S)
        # Leftovers are looked for by marker and, up to the moment of the reaping, by group.
        await end_leftovers(self.pid, self._leader.marker, born_before=self._reaped_at)
        return self.exit or Exit()

    async def release(self) -> None:
        """End it and give everything back; nothing can be asked of it afterwards but what was read already."""
        await self.kill()
        self._pipe.finish()

    def _received(self, data: bytes) -> None:
        self._kept.append(data)
        self._on_data(data)

    def _leader_ended(self) -> None:
        exit_ = self._leader.reap()
        self._reaped_at = ticks_now()
        self._pipe.take_waiting()
        if not self._ended.done():
            self._ended.set_result(exit_)


class _Leader:
    """The process at the head of its own session, from spawn to reap."""

    def __init__(self, popen: subprocess.Popen[bytes], marker: str) -> None:
        self.pid: Final = popen.pid
        self.start_time: Final = start_time(popen.pid)
        self.marker: Final = marker
        self.exit: Exit | None = None
        self._popen = popen
        self._gone = asyncio.Event()

    def watch(self, ended: Callable[[], None]) -> None:
        """Call ``ended`` on the loop as soon as the process has ended."""
        loop = asyncio.get_running_loop()
        if sys.platform == "linux":
            try:
                handle = os.pidfd_open(self.pid)
            except OSError:  # a kernel or sandbox without pidfd
                handle = None
            if handle is not None:
                loop.add_reader(handle, _on_pidfd, loop, handle, ended)
                return
        threading.Thread(target=self._wait_in_thread, args=(loop, ended), name=f"wait for {self.pid}", daemon=True).start()

    def reap(self) -> Exit:
        """Take the exit status of the ended process, so that no zombie stays."""
        code = self._popen.wait()
        self.exit = Exit(code=code) if code >= 0 else Exit(signal=_signal_name(-code))
        self._gone.set()
        return self.exit

    async def end_within(self, wait_s: float, term_s: float) -> None:
        """Wait, SIGTERM to the group, wait, SIGKILL, wait; returns as soon as it is gone."""
        if await self._is_gone(wait_s):
            return
        signal_group(self.pid, signal.SIGTERM)
        if await self._is_gone(term_s):
            return
        signal_group(self.pid, signal.SIGKILL)
        await self._is_gone(KILL_S)

    async def _is_gone(self, within_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._gone.wait()
        return self._gone.is_set()

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        self._popen.wait()
        # The loop may be closed by now; then nobody is left to tell.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(ended)


def _popen(command: Sequence[str], cwd: str, env: Mapping[str, str], *, stdin: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start a process, on the loop: a thread would not help, since Python holds its lock until the child runs (about 2 ms)."""
    if not os.path.isdir(cwd):
        raise Invalid(f"cwd {cwd!r} is not a directory", details={"field": "cwd"})
    try:
        return subprocess.Popen(
            command, cwd=cwd, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, bufsize=0, start_new_session=True
        )
    except FileNotFoundError:
        raise AgentNotInstalled(f"command {command[0]!r} was not found", details={"command": list(command)}) from None
    except (OSError, ValueError) as error:
        raise AgentStartFailed(f"command {command[0]!r} cannot be run: {error}", details={"command": list(command)}) from error


def argv_of(command: str, args: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The words to run; a ``command`` without ``args`` that is no program is a shell line."""
    if args or shutil.which(command, path=env.get("PATH")):
        return [command, *args]
    return ["/bin/sh", "-c", command]


def _on_pidfd(loop: asyncio.AbstractEventLoop, handle: int, ended: Callable[[], None]) -> None:
    loop.remove_reader(handle)
    os.close(handle)
    ended()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"
