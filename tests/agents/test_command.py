"""Commands that run for an agent: output from the end, exit, kill, release."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.agents.test_process import exists, is_running
from tests.aio import eventually, run
from trunkline.agents.environment import MARKER
from trunkline.agents.process import ChildCommand, Exit, clean_env
from trunkline.errors import AgentNotInstalled, AgentStartFailed, Invalid

ENV = {**clean_env((), os.environ)}


async def start(command: str, *args: str, cwd: Path, limit: int = 1 << 20) -> ChildCommand:
    return await ChildCommand.spawn(command, args, cwd=str(cwd), env=ENV, output_byte_limit=limit)


def test_output_of_both_kinds_comes_in_order_with_the_exit(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("/bin/sh", "-c", "pwd; echo err >&2; echo out; exit 3", cwd=tmp_path)
        assert await child.wait() == Exit(code=3)
        assert child.output() == f"{tmp_path}\nerr\nout\n"
        assert child.exit == Exit(code=3)
        assert not child.truncated
        await child.release()
        assert not exists(child.pid)

    run(scenario())


def test_all_output_is_there_when_wait_returns(tmp_path: Path) -> None:
    async def scenario() -> None:
        for _ in range(20):
            child = await start(sys.executable, "-c", "import os; os.write(1, b'x' * 60000); os._exit(0)", cwd=tmp_path)
            await child.wait()
            assert len(child.output()) == 60000
            await child.release()

    run(scenario())


def test_a_command_without_arguments_that_is_no_program_is_a_shell_line(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("echo one && echo two | tr a-z A-Z", cwd=tmp_path)
        await child.wait()
        assert child.output() == "one\nTWO\n"
        await child.release()

    run(scenario())


def test_a_program_whose_name_has_a_space_is_a_program(tmp_path: Path) -> None:
    program = tmp_path / "my tool"
    program.write_text("#!/bin/sh\necho it ran")
    program.chmod(0o755)

    async def scenario() -> None:
        child = await start(str(program), cwd=tmp_path)
        await child.wait()
        assert child.output() == "it ran\n"
        await child.release()

    run(scenario())


def test_what_cannot_be_started_is_a_clear_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        with pytest.raises(AgentNotInstalled, match="no-such-tool"):
            await start("no-such-tool", "--flag", cwd=tmp_path)
        with pytest.raises(Invalid, match="not a directory"):
            await start("true", cwd=tmp_path / "gone")
        with pytest.raises(AgentStartFailed, match="cannot be run"):
            await start("true", "zero\0byte", cwd=tmp_path)

    run(scenario())


def test_only_the_end_of_long_output_is_kept_cut_at_a_character(tmp_path: Path) -> None:
    program = "import sys; sys.stdout.write('€' * 100_000 + 'end')"

    async def scenario() -> None:
        child = await start(sys.executable, "-X", "utf8", "-c", program, cwd=tmp_path, limit=100)
        await child.wait()
        assert child.truncated
        assert child.output() == "€" * 32 + "end"
        await child.release()

    run(scenario())


def test_a_limit_of_nothing_keeps_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("echo hello", cwd=tmp_path, limit=0)
        await child.wait()
        assert (child.output(), child.truncated) == ("", True)
        await child.release()

    run(scenario())


def test_kill_ends_it_and_all_it_started_but_keeps_its_output(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("sleep 600 & echo $!; setsid sleep 600 & echo $!; wait", cwd=tmp_path)
        await eventually(lambda: child.output().count("\n") == 2)
        near, far = (int(line) for line in child.output().split())
        assert await child.kill() == Exit(signal="SIGTERM")
        assert child.exit == await child.wait() == Exit(signal="SIGTERM")
        await eventually(lambda: not is_running(near) and not is_running(far))
        assert child.output() == f"{near}\n{far}\n"
        assert await child.kill() == Exit(signal="SIGTERM")
        await child.release()

    run(scenario())


def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("trap '' TERM; echo up; while :; do sleep 0.05; done", cwd=tmp_path)
        await eventually(lambda: child.output() == "up\n")
        assert await child.kill() == Exit(signal="SIGKILL")
        await child.release()

    run(scenario())


def test_what_it_left_in_the_background_goes_on_writing_until_release(tmp_path: Path) -> None:
    program = "(echo $PPID; while [ ! -e go ]; do sleep 0.02; done; echo later; exec sleep 600) & echo left=$!"

    async def scenario() -> None:
        child = await start(program, cwd=tmp_path)
        assert await child.wait() == Exit(code=0)
        (left,) = [int(line.removeprefix("left=")) for line in child.output().split() if line.startswith("left=")]
        assert not exists(child.pid)
        assert is_running(left)
        (tmp_path / "go").touch()
        await eventually(lambda: "later" in child.output())
        await child.release()
        assert not is_running(left)

    run(scenario())


def test_it_carries_a_marker_below_the_agents_so_that_either_can_end_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = await start(f"echo ${MARKER}; sleep 600", cwd=tmp_path)
        two = await start(f"echo ${MARKER}; sleep 600", cwd=tmp_path)
        await eventually(lambda: "\n" in one.output() and "\n" in two.output())
        assert one.output() != two.output()
        assert one.output().startswith(ENV[MARKER] + ".")
        await one.release()
        assert is_running(two.pid)
        await two.release()

    run(scenario())


def test_two_may_wait_and_one_may_give_up(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await start("read line; echo never", cwd=tmp_path)
        assert await child.wait() == Exit(code=0)  # there is no stdin to read from
        await child.release()
        child = await start("sleep 600", cwd=tmp_path)
        waiting = asyncio.create_task(child.wait())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await child.wait()
        await child.kill()
        assert await waiting == Exit(signal="SIGTERM")
        await child.release()

    run(scenario())
