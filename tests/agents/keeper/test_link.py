"""Keepers from the hub's side: what they cost, what they leave running, and what happens when somebody harms them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agents.test_process import Run, Watched, exists, ignore, is_running
from tests.agents.test_process import run as run  # the fixture: both loops
from tests.aio import eventually
from tests.tooling.pace import slowness
from tests.tooling.processes import children_of, inside
from trunkline.agents.daemons import Daemon
from trunkline.agents.environment import clean_env
from trunkline.agents.keeper import link
from trunkline.agents.keeper.link import KeptAgent, StartFailed
from trunkline.agents.process import AgentProcess, ChildCommand, Exit
from trunkline.agents.resources import Resources
from trunkline.errors import AgentStartFailed

ENV = clean_env((), os.environ)
STAYS = "import time; print('up', flush=True); time.sleep(600)"
PRIVATE_MOST = 3 << 20
CPU_MOST_S = 0.010


def stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def parent_of(pid: int) -> int:
    return int(stat(pid)[1])


def cpu_s(pid: int) -> float:
    """CPU that a process has used, by the scheduler's own count."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def private_bytes(pid: int) -> int:
    lines = inside(pid, "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def test_a_keeper_costs_at_most_three_megabytes_of_its_own_and_ten_milliseconds(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agents = [await Watched.start(STAYS, cwd=tmp_path) for _ in range(8)]
        for agent in agents:
            await agent.line()
        keepers = [parent_of(agent.process.pid) for agent in agents]
        nursery = parent_of(keepers[0])
        assert {parent_of(keeper) for keeper in keepers} == {nursery} and len(set(keepers)) == 8
        assert max(map(private_bytes, keepers)) < PRIVATE_MOST
        before = cpu_s(nursery)
        more = [await Watched.start(STAYS, cwd=tmp_path) for _ in range(4)]
        forks_s = (cpu_s(nursery) - before) / 4
        kept_s = sorted(cpu_s(parent_of(agent.process.pid)) for agent in more)[1]
        assert (forks_s + kept_s) / slowness() < CPU_MOST_S
        await asyncio.gather(*(agent.process.stop(close_stdin_s=0) for agent in [*agents, *more]))
        await eventually(lambda: not any(map(exists, keepers)))

    run(scenario())


def test_starting_an_agent_does_not_hold_the_loop(run: Run, tmp_path: Path) -> None:
    """What the loop's own thread spends on a start; it was 2 ms and more when it forked itself."""
    async def scenario() -> None:
        await (await Watched.start(STAYS, cwd=tmp_path)).process.stop(close_stdin_s=0)
        before = time.thread_time()
        started = [await AgentProcess.spawn(["sleep", "180"], cwd="/", env=ENV, on_data=ignore, on_exit=_nothing)
                   for _ in range(10)]
        assert (time.thread_time() - before) / 10 / slowness() < 0.005
        await asyncio.gather(*(process.stop(close_stdin_s=0) for process in started))

    run(scenario())


def test_the_nursery_is_started_off_the_loop(run: Run, tmp_path: Path) -> None:
    """Whoever starts it on the loop fails, so that no caller can; the first agent goes by a thread that nobody joins."""
    async def scenario() -> None:
        link.close()
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.process.stop(close_stdin_s=0)
        link.close()
        with pytest.raises(RuntimeError, match="event loop"):
            link._start()

    run(scenario())


LEAVES = """
import asyncio, os
from trunkline.agents.environment import clean_env
from trunkline.agents.process import ChildCommand

async def main():
    child = await ChildCommand.spawn("true", cwd="/", env=clean_env((), os.environ))
    await child.wait()
    await child.release()

asyncio.run(main())
"""


def test_a_program_that_closes_nothing_ends_without_a_word() -> None:
    ended = subprocess.run([sys.executable, "-W", "always::ResourceWarning", "-c", LEAVES], capture_output=True, text=True,
                           timeout=30, check=True)
    assert ended.stderr == ""


def _nothing(exit_: Exit) -> None:
    """Nobody waits for it."""


def test_a_shared_daemon_of_the_catalog_is_left_running_and_told_of(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "shared-daemon"
    program.symlink_to(shutil.which("sleep") or "sleep")
    start = (f"import subprocess, sys; start = lambda word: subprocess.Popen([{str(program)!r}, word], env={{}}, "
             "start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid\n"
             "print(start('59'), start('58'), flush=True); sys.stdin.read()")

    async def scenario() -> None:
        agent = Watched()
        agent.process = await AgentProcess.spawn(
            [sys.executable, "-c", start], cwd="/", env=ENV, on_data=agent._on_data, on_exit=agent._on_exit,
            daemons=[Daemon(name="The shared one", command=("shared-daemon", "59"))])
        shared, own = map(int, (await agent.line()).split())
        await agent.process.stop()
        try:
            assert is_running(shared) and not is_running(own)
            assert agent.process.left_running == [(shared, "The shared one")]
            # Nor is it ended when another keeper is killed and its orphans are looked for.
            other = await Watched.start(STAYS, cwd=tmp_path)
            os.kill(parent_of(other.process.pid), signal.SIGKILL)
            await other.exited.wait()
            await other.process.stop()
            assert is_running(shared)
        finally:
            os.kill(shared, signal.SIGKILL)

    run(scenario())


def test_when_its_keeper_is_killed_an_agent_is_too_and_that_is_told(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.line()
        os.kill(parent_of(agent.process.pid), signal.SIGKILL)
        await agent.exited.wait()
        assert agent.exits == [Exit(reason="the process that kept it was killed")]
        await eventually(lambda: not exists(agent.process.pid))
        await agent.process.stop()

    run(scenario())


def dead_children() -> set[int]:
    """Children of this process that ended and that nobody has asked about."""
    return {child.pid for child in children_of(os.getpid()) if child.state == "Z"}


def test_when_the_nursery_is_killed_agents_go_on_and_the_next_has_another(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        before = dead_children()  # of other tests
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.line()
        nursery = parent_of(parent_of(agent.process.pid))
        assert parent_of(nursery) == os.getpid()
        os.kill(nursery, signal.SIGKILL)
        await eventually(lambda: not exists(nursery))
        other = await Watched.start(STAYS, cwd=tmp_path)
        await other.line()
        assert parent_of(parent_of(other.process.pid)) != nursery
        assert agent.exits == []
        await asyncio.gather(agent.process.stop(close_stdin_s=0), other.process.stop(close_stdin_s=0))
        assert dead_children() <= before

    run(scenario())


def test_a_stopped_nursery_is_woken_and_replaced_and_what_was_asked_of_it_never_runs(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NextNursery(link._Nursery):
        def __init__(self) -> None:
            monkeypatch.setattr(link, "ANSWER_S", 30.0)  # it has to start first, on a machine that may be busy
            super().__init__()

    async def scenario() -> None:
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.line()
        nursery = parent_of(parent_of(agent.process.pid))
        assert parent_of(nursery) == os.getpid()
        os.kill(nursery, signal.SIGSTOP)
        monkeypatch.setattr(link, "ANSWER_S", 0.3)
        monkeypatch.setattr(link, "_Nursery", NextNursery)
        try:
            command = await ChildCommand.spawn("sh", ["-c", "echo once >> ran"], cwd=str(tmp_path), env=ENV)
            await command.wait()
            await command.release()
        finally:
            await agent.process.stop(close_stdin_s=0)
        await eventually(lambda: not exists(nursery))
        assert (tmp_path / "ran").read_text() == "once\n"

    run(scenario())


def test_a_nursery_that_is_not_needed_goes_with_its_last_keeper(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.line()
        keeper = parent_of(agent.process.pid)
        nursery = parent_of(keeper)
        os.kill(keeper, signal.SIGSTOP)
        await eventually(lambda: stat(keeper)[0] == "T")
        link.close()
        await eventually(lambda: stat(keeper)[0] != "T")  # the nursery wakes its keepers when it has seen us go
        assert exists(nursery)
        await agent.process.stop(close_stdin_s=0)
        await eventually(lambda: not exists(nursery))

    run(scenario())


def test_nothing_but_its_three_descriptors_reaches_an_agent(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        child = await ChildCommand.spawn("/bin/sh", ["-c", "ls /proc/$$/fd"], cwd="/", env=ENV)
        await child.wait()
        assert child.output().split() == ["0", "1", "2"]
        await child.release()

    run(scenario())


def test_an_agent_over_its_memory_is_ended_and_the_exit_says_why(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        agent = Watched()
        program = "import time; held = b'x' * (150 << 20); time.sleep(60)"
        agent.process = await AgentProcess.spawn(
            [sys.executable, "-c", program], cwd="/", env=ENV, on_data=agent._on_data, on_exit=agent._on_exit,
            resources=Resources(memory_mb=100))
        await agent.exited.wait()
        assert "memory limit of 100 MB" in str(agent.exits[0])
        await agent.process.stop()

    run(scenario())


def test_a_limit_that_cannot_be_set_names_it(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        with pytest.raises(AgentStartFailed, match="files"):
            await ChildCommand.spawn("true", cwd="/", env=ENV, resources=Resources(files=2**60))

    run(scenario())


@pytest.mark.parametrize(
    "line", [b"started x y\n", b"\xff\xfe\n", b"exited\n", b"spared 1\n", b"nonsense 3 4\n", b"over memory\n"])
def test_what_makes_no_sense_from_a_keeper_changes_nothing(run: Run, line: bytes) -> None:
    async def scenario() -> None:
        kept = KeptAgent()
        kept.data_received(line)
        assert (kept.pid, kept.has_exited, kept.is_gone, kept.over, kept.spared) == (0, False, False, None, [])

    run(scenario())


def test_a_line_without_an_end_is_the_end(run: Run) -> None:
    async def scenario() -> None:
        kept = KeptAgent()
        kept.data_received(b"started 5 6 1\n")
        gone = asyncio.Event()
        kept.on_gone = gone.set
        kept.data_received(b"x" * 5000)
        assert kept.is_gone and not kept.ended_well and gone.is_set()

    run(scenario())


def test_a_failed_start_says_at_which_step() -> None:
    assert (StartFailed(2, "folder").step, StartFailed(2, "folder").errno) == ("folder", 2)


def test_of_several_places_the_most_telling_failure_is_told(run: Run, tmp_path: Path) -> None:
    """A folder on the PATH that may not be looked into says less than the system's word on the program itself."""
    not_a_program, unusable = tmp_path / "one", tmp_path / "two"
    for folder in (not_a_program, unusable):
        folder.mkdir()
    (not_a_program / "tool").write_text("not to be run")  # EACCES, as of a folder that is closed to us
    (unusable / "tool").write_bytes(b"\x7fELF and nonsense")
    (unusable / "tool").chmod(0o755)

    async def scenario() -> None:
        env = {**ENV, "PATH": f"{tmp_path}/none:{not_a_program}:{unusable}:{not_a_program}"}
        with pytest.raises(AgentStartFailed, match="Exec format error"):
            await AgentProcess.spawn(["tool"], cwd=str(tmp_path), env=env, on_data=ignore, on_exit=_nothing)

    run(scenario())


def test_what_starts_agents_can_be_had_ready_before_the_first(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        link.close()
        await link.open_nursery()
        nursery = link._nursery
        assert nursery is not None and nursery.runs
        agent = await Watched.start(STAYS, cwd=tmp_path)
        assert parent_of(parent_of(agent.process.pid)) == nursery._process.pid
        await agent.process.stop(close_stdin_s=0, term_s=0)

    run(scenario())


def test_what_cannot_be_had_ready_is_told_by_the_first_agent(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        link.close()
        monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
        await link.open_nursery()
        assert link._nursery is None
        with pytest.raises(AgentStartFailed):
            await AgentProcess.spawn(["cat"], cwd=str(tmp_path), env=ENV, on_data=ignore, on_exit=lambda exit_: None)

    run(scenario())


async def waiting_keeper() -> int:
    """The keeper that was forked ahead, of a nursery that has no other."""
    link.close()
    await link.open_nursery()
    nursery = link._nursery
    assert nursery is not None
    link.fork_ahead()
    await eventually(lambda: len(children_of(nursery._process.pid)) == 1)
    [keeper] = children_of(nursery._process.pid)
    return keeper.pid


def test_a_keeper_that_was_forked_ahead_keeps_the_next_agent_and_no_other(run: Run, tmp_path: Path,
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "AHEAD_S", 3600.0)  # on a busy machine more than a second may pass before the agent starts

    async def scenario() -> None:
        keeper = await waiting_keeper()
        link.fork_ahead()  # one waits already
        agents = [await Watched.start(STAYS, cwd=tmp_path) for _ in range(2)]
        try:
            keepers = [parent_of(agent.process.pid) for agent in agents]
            assert keepers[0] == keeper != keepers[1]
            assert {child.pid for child in children_of(parent_of(keeper))} == set(keepers)
        finally:
            for agent in agents:
                await agent.process.stop(close_stdin_s=0, term_s=0)

    run(scenario())


def test_a_keeper_that_was_killed_while_it_waited_keeps_no_agent_from_its_start(run: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        keeper = await waiting_keeper()
        os.kill(keeper, signal.SIGKILL)
        await eventually(lambda: not exists(keeper))
        agent = await Watched.start(STAYS, cwd=tmp_path)
        assert await agent.line() == "up"
        await agent.process.stop(close_stdin_s=0, term_s=0)

    run(scenario())


def test_a_keeper_that_waited_for_long_is_let_go(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        keeper = await waiting_keeper()
        monkeypatch.setattr(link, "AHEAD_S", -1.0)
        agent = await Watched.start(STAYS, cwd=tmp_path)
        assert parent_of(agent.process.pid) != keeper
        await eventually(lambda: not exists(keeper))
        await agent.process.stop(close_stdin_s=0, term_s=0)

    run(scenario())


def test_a_keeper_that_waits_goes_with_the_nursery(run: Run) -> None:
    async def scenario() -> None:
        keeper = await waiting_keeper()
        nursery = parent_of(keeper)
        link.close()
        await eventually(lambda: not exists(keeper) and not exists(nursery))

    run(scenario())


def test_nothing_is_forked_ahead_where_no_nursery_runs(run: Run) -> None:
    async def scenario() -> None:
        link.close()
        link.fork_ahead()
        assert link._nursery is None

    run(scenario())
