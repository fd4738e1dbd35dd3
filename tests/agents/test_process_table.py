"""The table of processes: as the kernel tells it, and as psutil does where there is no ``/proc``. Both must say the same."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.agents.test_process import is_running
from tests.agents.test_process_tree import SLEEP, Hub
from tests.agents.test_process_tree import hub as hub  # the fixture
from tests.agents.test_process_tree import marker as marker
from tests.aio import run
from trunkline.agents import process_table, process_tree
from trunkline.agents.process_table import command_line, parent_of, scan, start_time, ticks_now


def test_a_scan_shows_us_as_we_are() -> None:
    me = scan()[os.getpid()]
    assert me.parent == os.getppid()
    assert me.group == os.getpgrp()
    assert me.session == os.getsid(0)
    assert me.start_time == start_time(os.getpid())
    assert me.start_time <= ticks_now()


class CountedLock:
    """A lock that tells how many have come for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.came = threading.Semaphore(0)

    def __enter__(self) -> None:
        self.came.release()
        self._lock.acquire()

    def __exit__(self, *failure: object) -> None:
        self._lock.release()


def test_those_who_wait_for_a_scan_share_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    scans, lock = 0, CountedLock()
    real = process_table._pids
    may_go = threading.Event()

    def count() -> list[int]:
        nonlocal scans
        scans += 1
        may_go.wait(60)
        return real()

    monkeypatch.setattr(process_table, "_pids", count)
    monkeypatch.setattr(process_table, "_scan_lock", lock)
    waiting = [threading.Thread(target=scan) for _ in range(4)]
    for thread in waiting:
        thread.start()
    assert all(lock.came.acquire(timeout=60) for _ in waiting)
    may_go.set()
    for thread in waiting:
        thread.join()
    assert scans <= 2


def test_without_proc_there_is_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(path: str) -> list[str]:
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "listdir", refuse)
    assert scan() == {}


def test_a_zombie_counts_as_gone() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)  # it is there
    assert start_time(child.pid) is None
    child.wait()


@pytest.fixture
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_table, "HAS_PROC", False)


def test_both_ways_tell_the_same_of_everybody_who_stays(hub: Hub, marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = hub.leave(SLEEP, marker)
    by_proc, line, parent = scan(), command_line(pid), parent_of(pid)
    monkeypatch.setattr(process_table, "HAS_PROC", False)
    by_psutil = scan()
    for each in (pid, os.getpid()):
        assert by_psutil[each]._replace(start_time=0) == by_proc[each]._replace(start_time=0)
    assert (by_psutil[pid].marker, command_line(pid), parent_of(pid)) == (marker, line, parent)
    assert start_time(pid) == by_psutil[pid].start_time <= ticks_now()


@pytest.mark.usefixtures("without_proc")
def test_an_agent_left_behind_is_found_by_its_marker_and_ended(hub: Hub, marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pid, other = hub.leave(SLEEP, marker), hub.leave(SLEEP, "somebody else's")
    monkeypatch.delattr(os, "pidfd_open")  # macOS has none
    assert run(process_tree.end_leftover(pid, start_time(pid), marker))
    monkeypatch.undo()
    assert not is_running(pid)
    assert is_running(other)


@pytest.mark.usefixtures("without_proc")
def test_a_shared_daemon_is_spared_without_proc_too(hub: Hub, marker: str) -> None:
    pid = hub.leave(SLEEP, marker)
    program, *words = command_line(pid)
    run(process_tree.end_leftover(pid, start_time(pid), marker, spared=[[Path(program).name, *words]]))
    assert is_running(pid)


@pytest.mark.usefixtures("without_proc")
def test_who_is_gone_or_a_zombie_is_nobody() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert start_time(child.pid) is None
    child.wait()
    assert (start_time(child.pid), parent_of(child.pid), command_line(child.pid)) == (None, None, [])


def test_where_the_kernel_tells_it_psutil_is_not_loaded() -> None:
    code = "import sys; from trunkline.agents import process_tree; process_tree.scan(); print('psutil' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "False"
