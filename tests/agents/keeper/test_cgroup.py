"""Control groups: the real thing where this machine has a version 2 tree that we may write to."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.keeper.test_link import ENV, STAYS, parent_of
from tests.agents.test_process import Run, Watched, exists
from tests.agents.test_process import run as run  # the fixture: both loops
from tests.aio import eventually
from tests.tooling.escapes import WAYS
from tests.tooling.processes import processes_named
from trunkline.agents.keeper import cgroup, link
from trunkline.agents.process import ChildCommand

ESCAPES = str(Path(__file__).parents[2] / "tooling" / "escapes.py")


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A group of our own, below which nurseries of this test make theirs."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup2 " in line]
    folder = Path(mounts[0]) / f"trunkline_test_{secrets.token_hex(4)}" if mounts else Path("/nowhere")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("no control group of version 2 to write to")
    link.close()
    monkeypatch.setattr(link, "control_group", str(folder))
    yield str(folder)
    link.close()
    for group in folder.glob(f"{cgroup.PREFIX}*"):
        group.rmdir()
    folder.rmdir()


def groups(base: str) -> list[str]:
    return [name for name in os.listdir(base) if name.startswith(cgroup.PREFIX)]


def members(base: str, group: str) -> list[str]:
    return Path(base, group, "cgroup.procs").read_text().split()


def test_an_agent_is_in_a_group_of_its_own_which_goes_with_it(run: Run, tmp_path: Path, base: str) -> None:
    async def scenario() -> None:
        agent = await Watched.start(STAYS, cwd=tmp_path)
        await agent.line()
        (group,) = groups(base)
        assert members(base, group) == [str(agent.process.pid)]
        await agent.process.stop(close_stdin_s=0)
        assert groups(base) == []

    run(scenario())


def test_who_kills_keeper_and_nursery_at_once_is_ended_by_the_next_nursery(run: Run, tmp_path: Path, base: str) -> None:
    token = f"escaped-{secrets.token_hex(8)}"

    async def scenario() -> None:
        child = await ChildCommand.spawn(
            "/bin/sh", ["-c", "; ".join(f"{sys.executable} -I -S {ESCAPES} {way} {token}" for way in WAYS)], cwd="/", env=ENV)
        await child.wait()
        await eventually(lambda: len(processes_named(token)) >= len(WAYS))
        keeper = int(groups(base)[0].removeprefix(cgroup.PREFIX))
        nursery = parent_of(keeper)
        os.kill(nursery, signal.SIGSTOP)  # so that it cannot do anything about it
        os.kill(keeper, signal.SIGKILL)
        os.kill(nursery, signal.SIGKILL)
        await eventually(lambda: not exists(nursery) and not exists(keeper))
        assert processes_named(token)
        other = await Watched.start(STAYS, cwd=tmp_path)
        await eventually(lambda: not processes_named(token))
        await other.process.stop(close_stdin_s=0)
        await child.release()

    run(scenario())


def test_a_tree_that_nobody_delegated_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("5:memory:/x\n0::/mine\n")
    (tmp_path / "mounts").write_text(f"1 2 0:3 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cgroup.procs").touch()
    monkeypatch.setattr(cgroup, "OWN", str(tmp_path / "own"))
    monkeypatch.setattr(cgroup, "MOUNTS", str(tmp_path / "mounts"))
    assert cgroup.own_base() is None
    monkeypatch.setattr(os, "getxattr", lambda folder, name: b"1")
    assert cgroup.own_base() == str(tmp_path / "mine")


def test_the_kernel_gets_a_memory_limit_where_it_takes_one(tmp_path: Path) -> None:
    (tmp_path / f"{cgroup.PREFIX}7").mkdir()
    limit = tmp_path / f"{cgroup.PREFIX}7" / "memory.max"
    limit.write_text("max")
    assert cgroup.ControlGroup(str(tmp_path), 7).make(1000)
    assert limit.read_text().startswith("1000")
    assert not cgroup.ControlGroup("/proc/nowhere", 7).make(None)
