"""Agent processes, with real ones: small Python programs that behave well, badly or not at all."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import IO, Any, ClassVar

import pytest
import uvloop

from tests.aio import eventually, loop_turns
from trunkline.agents.environment import MARKER
from trunkline.agents.process import AgentProcess, Exit, clean_env
from trunkline.agents.process_table import start_time
from trunkline.errors import AgentNotInstalled, AgentStartFailed, Invalid

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a test's coroutine on one of the two loops, with a deadline."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def start(work: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            try:
                async with asyncio.timeout(60):
                    await work
            finally:
                await Watched.stop_all()  # to close uvloop waits for what an agent holds open, for ever

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(bounded())

    return start


class Watched:
    """An agent process and everything it said, to wait on."""

    def __init__(self) -> None:
        self.process: AgentProcess
        self.received = 0
        self.data = bytearray()
        self.exits: list[Exit] = []
        self.received_at_exit = -1
        self.exited = asyncio.Event()
        self.exited_at = 0.0
        self.keep = True
        self._changed = asyncio.Event()

    left: ClassVar[list[AgentProcess]] = []

    @classmethod
    async def stop_all(cls) -> None:
        """End what a test that failed has left."""
        while cls.left:
            process = cls.left.pop()
            if process.exit is None:
                await process.stop(close_stdin_s=0.0, term_s=0.0)

    @classmethod
    async def start(cls, program: str, *args: str, cwd: Path, env: dict[str, str] | None = None, keep: bool = True) -> Watched:
        watched = cls()
        watched.keep = keep
        watched.process = await AgentProcess.spawn(
            [sys.executable, "-c", program, *args],
            cwd=str(cwd),
            env=env if env is not None else clean_env((), os.environ),
            on_data=watched._on_data,
            on_exit=watched._on_exit,
        )
        cls.left.append(watched.process)
        return watched

    def _on_data(self, data: bytes) -> None:
        self.received += len(data)
        if self.keep:
            self.data += data
        self._changed.set()

    def _on_exit(self, exit_: Exit) -> None:
        self.exits.append(exit_)
        self.received_at_exit = self.received
        self.exited_at = time.time()
        self.exited.set()

    async def line(self) -> str:
        """The first whole line of stdout."""
        while b"\n" not in self.data:
            self._changed.clear()
            await self._changed.wait()
        return bytes(self.data).split(b"\n")[0].decode()


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    return start_time(pid) is not None


def exists(pid: int) -> bool:
    """Whether the process exists, a zombie included."""
    return os.path.exists(f"/proc/{pid}")


def ignore(data: bytes) -> None:
    """For agents that never start."""


ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
SAY_ENV = """
import json, os
print(json.dumps({'env': dict(os.environ), 'cwd': os.getcwd(), 'group': os.getpgrp(), 'session': os.getsid(0)}))
"""
IGNORE_EOF = "import time; print('up', flush=True); time.sleep(600)"
IGNORE_TERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen(['sleep', '600'], start_new_session={setsid}, stdin=subprocess.DEVNULL, env={env})
print(child.pid, flush=True)
{then}
"""


def test_what_is_written_comes_back_and_end_of_stdin_ends_the_agent(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(ECHO, cwd=tmp_path)
        agent.process.write(b"hello\n")
        await agent.process.drain()
        assert await agent.line() == "hello"
        assert await agent.process.stop() == Exit(code=0)
        assert agent.exits == [Exit(code=0)]
        assert not exists(agent.process.pid)

    run(scenario())


def test_the_agent_sees_only_its_own_environment_directory_and_group(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUNKLINE_TOKEN", "secret")
    monkeypatch.setenv("SOME_API_KEY", "key")
    monkeypatch.setenv("UNRELATED", "x")

    async def scenario() -> None:
        env = clean_env(["SOME_*"], os.environ, {"TRUNKLINE_SNEAKED": "y", "GIVEN": "z"})
        agent = await Watched.start(SAY_ENV, cwd=tmp_path, env=env)
        await agent.exited.wait()
        said = json.loads(agent.data)
        assert not [name for name in said["env"] if name.startswith("TRUNKLINE_")]
        assert "UNRELATED" not in said["env"]
        assert said["env"]["SOME_API_KEY"] == "key"
        assert said["env"]["GIVEN"] == "z"
        assert said["env"][MARKER] == agent.process.marker
        assert said["cwd"] == str(tmp_path)
        assert said["group"] == said["session"] == agent.process.pid
        await agent.process.stop()

    run(scenario())


def test_a_missing_command_is_named(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        with pytest.raises(AgentNotInstalled, match="no-such-agent"):
            await AgentProcess.spawn(
                ["no-such-agent", "--acp"], cwd=str(tmp_path), env={"PATH": "/bin"}, on_data=ignore, on_exit=print
            )

    run(scenario())


def test_a_file_that_is_no_program_and_a_missing_directory_are_told_apart(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "agent"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)

    async def scenario() -> None:
        with pytest.raises(AgentStartFailed, match=str(broken)):
            await AgentProcess.spawn([str(broken)], cwd=str(tmp_path), env={}, on_data=ignore, on_exit=print)
        with pytest.raises(Invalid, match="gone"):
            await AgentProcess.spawn(["true"], cwd=str(tmp_path / "gone"), env={}, on_data=ignore, on_exit=print)

    run(scenario())


def test_the_exit_comes_after_all_data(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        for _ in range(20):
            agent = await Watched.start("import os; os.write(1, b'x' * 60000); os._exit(3)", cwd=tmp_path)
            await agent.exited.wait()
            assert agent.exits == [Exit(code=3)]
            assert agent.received_at_exit == agent.received == 60000
            await agent.process.stop()

    run(scenario())


def test_the_exit_comes_within_100_ms_though_a_grandchild_holds_stdout(run: Run, tmp_path: Path) -> None:
    program = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "print(child.pid, flush=True)\n"
        "os.write(1, b'last words')\n"
        "os.write(1, repr(time.time()).encode() + b'\\n')\n"
        "os._exit(1)"
    )

    async def once() -> float:
        agent = await Watched.start(program, cwd=tmp_path)
        await agent.exited.wait()
        child, words, _ = bytes(agent.data).split(b"\n")
        assert words.startswith(b"last words")
        await agent.process.stop()
        assert not is_running(int(child))
        return agent.exited_at - float(words.removeprefix(b"last words"))

    async def scenario() -> None:
        # The best of three: tests share their machine with others.
        assert min([await once() for _ in range(3)]) < 0.1

    run(scenario())


def test_a_chatty_stderr_does_not_block_the_agent_and_its_last_mebibyte_is_kept(run: Run, tmp_path: Path) -> None:
    program = "import sys\nfor i in range(40000): sys.stderr.write(f'{i:06d} ' + 'e' * 93 + '\\n')\nprint('done')"

    async def scenario() -> None:
        agent = await Watched.start(program, cwd=tmp_path)
        await agent.exited.wait()
        assert agent.data == b"done\n"
        tail = agent.process.stderr_tail(lines=3).split("\n")
        assert [line[:6] for line in tail] == ["039997", "039998", "039999"]
        everything = agent.process.stderr_tail(lines=10**6)
        assert (1 << 20) - 200 <= len(everything) <= 1 << 20
        await agent.process.stop()

    run(scenario())


def test_the_stderr_tail_has_no_terminal_escapes(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(r"import sys; sys.stderr.write('\x1b[31mred\x1b[0m\tand\x07 plain\r\nlast')", cwd=tmp_path)
        await agent.exited.wait()
        assert agent.process.stderr_tail() == "red\tand plain\nlast"
        await agent.process.stop()

    run(scenario())


def test_an_agent_that_ignores_end_of_stdin_gets_sigterm(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(IGNORE_EOF, cwd=tmp_path)
        await agent.line()
        assert await agent.process.stop(close_stdin_s=0.05) == Exit(signal="SIGTERM")
        assert not exists(agent.process.pid)

    run(scenario())


def test_an_agent_that_ignores_sigterm_gets_sigkill(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(IGNORE_TERM, cwd=tmp_path)
        await agent.line()
        assert await agent.process.stop(close_stdin_s=0.05, term_s=0.05) == Exit(signal="SIGKILL")
        assert agent.exits == [Exit(signal="SIGKILL")]
        assert not exists(agent.process.pid)

    run(scenario())


@pytest.mark.parametrize("setsid", [False, True])
@pytest.mark.parametrize("then", ["sys.stdin.read()", "time.sleep(600)"])
def test_grandchildren_end_with_the_agent_also_outside_its_session(run: Run, tmp_path: Path, setsid: bool, then: str) -> None:
    async def scenario() -> None:
        agent = await Watched.start(GRANDCHILD.format(setsid=setsid, env=None, then=then), cwd=tmp_path)
        child = int(await agent.line())
        assert is_running(child)
        await agent.process.stop(close_stdin_s=0.1, term_s=0.5)
        assert not is_running(child)
        assert not exists(agent.process.pid)

    run(scenario())


def test_a_grandchild_with_an_empty_environment_and_its_own_session_ends_too(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(GRANDCHILD.format(setsid=True, env={}, then="sys.stdin.read()"), cwd=tmp_path)
        child = int(await agent.line())
        await agent.process.stop()
        assert not is_running(child)

    run(scenario())


def test_a_grandchild_that_ignores_sigterm_is_killed(run: Run, tmp_path: Path) -> None:
    program = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {IGNORE_TERM!r}], start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""

    async def scenario() -> None:
        agent = await Watched.start(program, cwd=tmp_path)
        child = int(await agent.line())
        await agent.process.stop()
        assert not is_running(child)

    run(scenario())


def test_behind_a_shell_wrapper_the_real_agent_ends_too(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        seen = bytearray()
        got = asyncio.Event()

        def on_data(data: bytes) -> None:
            seen.extend(data)
            got.set()

        process = await AgentProcess.spawn(
            ["/bin/sh", "-c", f'"{sys.executable}" -c "import os,time; print(os.getpid(), flush=True); time.sleep(600)"; true'],
            cwd=str(tmp_path),
            env=clean_env((), os.environ),
            on_data=on_data,
            on_exit=lambda _: None,
        )
        await got.wait()
        real = int(seen)
        assert real != process.pid
        await process.stop(close_stdin_s=0.05)
        assert not is_running(real)
        assert not exists(process.pid)

    run(scenario())


def test_when_an_agent_dies_its_family_ends_without_a_stop(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(GRANDCHILD.format(setsid=True, env=None, then="import os; os._exit(1)"), cwd=tmp_path)
        await agent.exited.wait()
        child = int(await agent.line())
        await eventually(lambda: not is_running(child))
        await agent.process.stop()

    run(scenario())


def test_stop_may_be_called_by_many_and_again(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(ECHO, cwd=tmp_path)
        exits = await asyncio.gather(*(agent.process.stop() for _ in range(5)))
        exits.append(await agent.process.stop())
        assert set(exits) == {Exit(code=0)}
        assert agent.exits == [Exit(code=0)]

    run(scenario())


def test_a_cancelled_stop_goes_on_for_the_others(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(IGNORE_EOF, cwd=tmp_path)
        await agent.line()
        first = asyncio.create_task(agent.process.stop(close_stdin_s=0.2))
        await asyncio.sleep(0)
        first.cancel()
        assert await agent.process.stop() == Exit(signal="SIGTERM")
        assert first.cancelled()

    run(scenario())


def test_an_agent_killed_from_outside_reports_the_signal(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(IGNORE_EOF, cwd=tmp_path)
        await agent.line()
        os.kill(agent.process.pid, signal.SIGSEGV)
        await agent.exited.wait()
        assert agent.exits == [Exit(signal="SIGSEGV")]
        agent.process.write(b"nobody reads this\n")
        await agent.process.drain()
        await agent.process.stop()

    run(scenario())


@pytest.mark.parametrize("end", [0, 1])
def test_an_agent_that_closes_its_stdin_or_stdout_is_stopped(run: Run, tmp_path: Path, end: int) -> None:
    async def scenario() -> None:
        agent = await Watched.start(f"import os, time; os.close({end}); os.write(2, b'closed'); time.sleep(600)", cwd=tmp_path)
        await eventually(lambda: agent.process.stderr_tail() == "closed")
        agent.process.write(b"is there anybody?")
        await agent.exited.wait()
        assert agent.exits == [Exit(signal="SIGTERM")]
        await agent.process.stop()

    run(scenario())


def test_input_that_is_not_read_makes_the_writer_wait_until_the_agent_ends(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(IGNORE_EOF, cwd=tmp_path)
        agent.process.write(b"x" * (8 << 20))
        waiting = asyncio.create_task(agent.process.drain())
        await agent.line()
        assert not waiting.done()
        await agent.process.stop(close_stdin_s=0.05)
        await waiting

    run(scenario())


def test_a_writer_does_not_wait_for_ever(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.agents.process.DRAIN_S", 0.05)

    async def scenario() -> None:
        agent = await Watched.start(IGNORE_EOF, cwd=tmp_path)
        agent.process.write(b"x" * (8 << 20))
        with pytest.raises(Exception, match="does not read its input"):
            await agent.process.drain()
        await agent.process.stop(close_stdin_s=0.05)

    run(scenario())


def test_a_big_message_reaches_an_agent_that_reads(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start("import sys; print(len(sys.stdin.buffer.readline()), flush=True)", cwd=tmp_path)
        agent.process.write(b"x" * (20 << 20) + b"\n")
        await agent.process.drain()
        assert await agent.line() == str((20 << 20) + 1)
        await agent.process.stop()

    run(scenario())


def test_fifty_megabytes_of_stdout_arrive_whole(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(
            "import os\nblock = b'y' * (1 << 20)\nfor _ in range(50):\n    sent = 0\n"
            "    while sent < len(block): sent += os.write(1, block[sent:])",
            cwd=tmp_path,
            keep=False,
        )
        await agent.exited.wait()
        assert agent.received == agent.received_at_exit == 50 << 20
        await agent.process.stop()

    run(scenario())


def test_a_paused_agent_waits_and_goes_on_when_resumed(run: Run, tmp_path: Path) -> None:
    program = """
import os
os.set_blocking(1, False)
left = 64 * 65536
try:
    while True: left -= os.write(1, b'z' * min(left, 65536))
except BlockingIOError:
    open('full', 'x').close()
os.set_blocking(1, True)
while left: left -= os.write(1, b'z' * min(left, 65536))
os._exit(0)
"""

    async def scenario() -> None:
        agent = await Watched.start(program, cwd=tmp_path, keep=False)
        agent.process.pause_reading()
        agent.process.pause_reading()
        held = agent.received
        await eventually(lambda: (tmp_path / "full").exists())
        await loop_turns()
        assert agent.received == held
        assert agent.process.exit is None
        agent.process.resume_reading()
        await agent.exited.wait()
        assert agent.received == 64 * 65536
        await agent.process.stop()

    run(scenario())


@pytest.mark.parametrize("came_early", [False, True])
def test_an_exception_of_the_reader_does_not_swallow_the_exit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                              came_early: bool) -> None:
    connect = AgentProcess._connect

    async def connect_late(process: AgentProcess, *pipes: IO[bytes]) -> None:
        await connect(process, *pipes)
        await eventually(lambda: process._stdout_pipe._held)

    if came_early:
        monkeypatch.setattr(AgentProcess, "_connect", connect_late)

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: None)
        exited = asyncio.Event()

        def fail(data: bytes) -> None:
            raise ValueError(data)

        process = await AgentProcess.spawn(
            [sys.executable, "-c", "print('x')"],
            cwd=str(tmp_path),
            env=clean_env((), os.environ),
            on_data=fail,
            on_exit=lambda _: exited.set(),
        )
        await exited.wait()
        await process.stop()

    run(scenario())


def test_without_pidfd_a_thread_waits_for_the_exit_and_the_family_still_ends(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, or in a sandbox that refuses the call."""

    def refuse(pid: int, flags: int = 0) -> int:
        raise OSError("not here")

    monkeypatch.setattr(os, "pidfd_open", refuse)

    async def scenario() -> None:
        agent = await Watched.start(GRANDCHILD.format(setsid=True, env=None, then="time.sleep(600)"), cwd=tmp_path)
        child = int(await agent.line())
        assert await agent.process.stop(close_stdin_s=0.05) == Exit(signal="SIGTERM")
        assert not exists(agent.process.pid)
        assert not is_running(child)

    run(scenario())


def test_nothing_is_called_before_spawn_has_returned(run: Run, tmp_path: Path) -> None:
    async def once() -> None:
        calls: list[str] = []
        process = await AgentProcess.spawn(
            ["/bin/echo", "quick"],
            cwd=str(tmp_path),
            env=clean_env((), os.environ),
            on_data=lambda _: calls.append("data"),
            on_exit=lambda _: calls.append("exit"),
        )
        assert calls == []
        await process.stop()
        assert calls == ["data", "exit"]

    async def scenario() -> None:
        for _ in range(20):
            await once()

    run(scenario())


def test_without_proc_the_group_still_ends(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        agent = await Watched.start(GRANDCHILD.format(setsid=False, env=None, then="time.sleep(600)"), cwd=tmp_path)
        child = int(await agent.line())
        with monkeypatch.context() as patch:
            patch.setattr("trunkline.agents.process_table._pids", list)
            await agent.process.stop(close_stdin_s=0.05)
        await eventually(lambda: not is_running(child))

    run(scenario())


def test_exits_read_as_sentences() -> None:
    assert str(Exit(code=2)) == "exited with code 2"
    assert str(Exit(signal="SIGKILL")) == "ended by SIGKILL"
