"""Who belongs to an agent, and how those left behind by a crashed hub are ended."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.agents.test_process import IGNORE_TERM, is_running
from tests.aio import run
from trunkline.agents import process_tree as family
from trunkline.agents.environment import MARKER, new_marker
from trunkline.agents.process_table import Identity, Member, ProcessTable, scan, start_time
from trunkline.agents.process_tree import end_leftover, members

SLEEP = "import sys, time; print('up', flush=True); time.sleep(600)"


class Hub:
    """Stands for a hub that is gone: starts processes that nobody watches."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []

    def leave(self, program: str, marker: str | None, *, own_session: bool = True) -> int:
        env = {"PATH": os.environ["PATH"]} | ({MARKER: marker} if marker else {})
        child = subprocess.Popen(
            [sys.executable, "-c", program], env=env, start_new_session=own_session, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout
        child.stdout.readline()
        self._started.append(child)
        # In life they would be orphans that process 1 reaps; here they are our children, so a thread does it.
        threading.Thread(target=child.wait, daemon=True).start()
        return child.pid

    def close(self) -> None:
        for child in self._started:
            child.kill()
            child.wait()
            assert child.stdout
            child.stdout.close()


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.close()


@pytest.fixture
def marker() -> str:
    """One that no other test run on this machine uses."""
    return new_marker()


def test_an_agent_left_behind_is_ended(hub: Hub, marker: str) -> None:
    pid = hub.leave(SLEEP, marker)
    assert run(end_leftover(pid, start_time(pid), marker))
    assert not is_running(pid)


def test_one_that_ignores_sigterm_is_killed(hub: Hub, marker: str) -> None:
    pid = hub.leave(IGNORE_TERM, marker)
    assert run(end_leftover(pid, start_time(pid), marker, term_s=0.1))
    assert not is_running(pid)


def test_a_process_that_only_has_the_pid_is_left_alone(hub: Hub, marker: str) -> None:
    pid = hub.leave(SLEEP, None)
    began = start_time(pid)
    assert began is not None
    assert not run(end_leftover(pid, began - 1, marker))
    assert not run(end_leftover(pid, None, marker))
    assert is_running(pid)


def test_a_process_with_pid_and_start_time_of_another_boot_is_left_alone(hub: Hub, marker: str) -> None:
    """After a reboot both may match by accident; the marker does not."""
    pid = hub.leave(SLEEP, "somebody else's")
    assert not run(end_leftover(pid, start_time(pid), marker))
    assert is_running(pid)


def test_a_gone_agents_family_is_found_by_its_marker(hub: Hub, marker: str) -> None:
    one, two, other = hub.leave(SLEEP, marker), hub.leave(SLEEP, f"{marker}.terminal"), hub.leave(SLEEP, f"{marker}5")
    assert run(end_leftover(2**22 + 1, 1, marker))
    assert not is_running(one)
    assert not is_running(two)
    assert is_running(other)


def test_nothing_left_is_nothing_done() -> None:
    assert not run(end_leftover(2**22 + 1, 1, "nobody has this"))


def test_the_group_and_the_children_of_a_leader_belong_to_it(hub: Hub, marker: str) -> None:
    program = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(['sleep', '600'], env={}); subprocess.Popen(['sleep', '600'], env={}, start_new_session=True)\n"
        "print('up', flush=True); time.sleep(600)"
    )
    pid = hub.leave(program, marker)
    found = members(scan(), pid, marker)
    assert len(found) == 3
    assert run(end_leftover(pid, start_time(pid), marker))
    assert not [identity for identity in found if start_time(identity.pid) == identity.start_time]


def member(pid: int, parent: int = 1, group: int = 0, born: int = 100, marker: str | None = None) -> Member:
    return Member(pid, parent, group or pid, group or pid, born, marker)


def pids(found: set[Identity]) -> list[int]:
    return sorted(identity.pid for identity in found)


def table(*listed: Member) -> ProcessTable:
    return {one.pid: one for one in listed}


def test_a_group_number_given_out_again_is_a_strangers() -> None:
    processes = table(member(10, born=300), member(11, parent=10, group=10, born=301), member(12, group=10, born=150))
    assert pids(members(processes, 10, "m", born_before=200)) == [12]


def test_a_known_member_counts_only_while_it_is_the_same_process() -> None:
    processes = table(member(20, born=5), member(21, born=6))
    assert pids(members(processes, 9, "m", known=[Identity(20, 5), Identity(21, 7), Identity(22, 1)])) == [20]


def test_children_of_members_are_members_at_any_depth() -> None:
    processes = table(member(30, marker="m"), member(31, parent=30), member(32, parent=31), member(33, parent=1))
    assert pids(members(processes, 9, "m")) == [30, 31, 32]


def test_we_are_never_in_a_family() -> None:
    processes = table(member(os.getpid(), marker="m"), member(40, marker="m"))
    assert pids(members(processes, 9, "m")) == [40]


def test_who_is_in_the_middle_of_exec_is_looked_at_again(hub: Hub, marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process has no environment, and so no marker, between the old program and the new one."""
    pid = hub.leave(SLEEP, marker)
    whole = scan()
    blank = {**whole, pid: whole[pid]._replace(marker="")}
    answers = [blank, blank, whole]
    monkeypatch.setattr(family, "scan", lambda: answers.pop(0) if answers else {})
    assert run(family.end_leftovers(2**22 + 1, marker, born_before=-1))
    assert not is_running(pid)


@pytest.mark.parametrize("other", [member(50, born=0, marker=""), Member(51, 2, 0, 0, 2**62, "")])
def test_old_programs_without_an_environment_and_kernel_threads_are_not_waited_for(other: Member) -> None:
    assert not family._has_newborn(table(other))


