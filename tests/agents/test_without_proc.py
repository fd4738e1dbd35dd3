"""The table of processes as psutil tells it: here beside ``/proc``, which must say the same."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.agents.test_process import is_running
from tests.agents.test_process_tree import SLEEP, Hub
from tests.agents.test_process_tree import hub as hub  # the fixture
from tests.agents.test_process_tree import marker as marker
from tests.aio import run
from trunkline.agents import process_tree as family
from trunkline.agents import without_proc


def test_both_tables_tell_the_same_of_us() -> None:
    me, by_proc = without_proc.look(os.getpid()), family.scan()[os.getpid()]
    assert me is not None
    assert me[:4] == by_proc[:4]
    assert me.environment == dict(os.environ) or me.environment


def test_an_agent_left_behind_is_found_by_its_marker_and_ended(hub: Hub, marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pid, other = hub.leave(SLEEP, marker), hub.leave(SLEEP, "somebody else's")
    with monkeypatch.context() as patch:
        patch.setattr(family, "HAS_PROC", False)
        began = family.start_time(pid)
        assert run(family.end_leftover(pid, began, marker))
    assert not is_running(pid)
    assert is_running(other)


def test_who_is_gone_or_a_zombie_is_nobody() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert without_proc.look(child.pid) is None
    child.wait()
    assert without_proc.look(child.pid) is None
