"""Which running program has a session, by what the system says."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tooling.processes import eventually
from trunkline.agents.process_table import start_time
from trunkline.discovery import processes
from trunkline.discovery.processes import began_at, folder_of, idle_seconds, is_running, lock_holders, programs, registered


def test_a_process_is_known_by_its_number_and_when_it_began() -> None:
    assert is_running(os.getpid()) and is_running(os.getpid(), str(start_time(os.getpid())))
    assert not is_running(os.getpid(), "1") and not is_running(2**22 + 1)
    assert not is_running(0) and not is_running(-1) and not is_running(2**40)


def test_who_holds_a_lock_is_known_without_taking_it(tmp_path: Path) -> None:
    held, free = tmp_path / "held", tmp_path / "free"
    free.touch()
    with held.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert lock_holders([str(held), str(free), str(tmp_path / "missing")]) == {str(held): [os.getpid()]}
    assert lock_holders([str(held)]) == {}


def test_what_the_list_of_locks_says_otherwise_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locks").write_bytes(b"1: FLOCK ADVISORY WRITE x 08:02:5 0 EOF\n1: FLOCK ADVISORY WRITE 7 zz:1:5 0 EOF\nrubbish\n"
                                     b"1: -> FLOCK ADVISORY WRITE 7 08:02:5 0 EOF\n1: FLOCK ADVISORY WRITE 7 08:02:x 0 EOF\n\xff")
    monkeypatch.setattr(processes, "LOCKS", str(tmp_path / "locks"))
    assert lock_holders([str(tmp_path)]) == {}
    monkeypatch.setattr(processes, "LOCKS", str(tmp_path / "missing"))
    assert lock_holders([str(tmp_path)]) == {}


def test_a_program_is_found_by_its_name_with_its_folder_and_its_beginning(tmp_path: Path) -> None:
    script = tmp_path / "some-agent"
    script.write_text("import sys\nprint('runs', flush=True)\nsys.stdin.read()\n")
    with subprocess.Popen([sys.executable, str(script)], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as runs:
        assert runs.stdout is not None and runs.stdout.readline() == b"runs\n" and runs.stdin is not None
        ((pid, folder, began),) = programs(frozenset({"some-agent"}))
        assert (pid, folder) == (runs.pid, str(tmp_path)) == (runs.pid, folder_of(runs.pid))
        assert abs(began / 1e6 - time.time()) < 60 and began == pytest.approx(began_at(runs.pid), abs=1e5)
        runs.stdin.close()
    assert list(programs(frozenset({"some-agent"}))) == [] and folder_of(2**22 + 1) == "" and began_at(2**22 + 1) == 0


def test_records_of_programs_that_run_count(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": "a"}))
    (tmp_path / "2.json").write_text(json.dumps({"pid": 2**22 + 1, "sessionId": "b"}))
    (tmp_path / "3.json").write_text("{")
    (tmp_path / "4.txt").write_text(json.dumps({"pid": os.getpid(), "sessionId": "c"}))
    assert registered(str(tmp_path)) == {"a": os.getpid()} and registered(str(tmp_path / "missing")) == {}


def test_a_record_that_is_older_than_the_process_of_its_number_is_of_another_one(tmp_path: Path) -> None:
    now_ms = time.time() * 1000
    (tmp_path / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": "now", "startedAt": now_ms}))
    assert registered(str(tmp_path)) == {"now": os.getpid()}
    (tmp_path / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": "old", "startedAt": 1_000_000_000_000}))
    assert registered(str(tmp_path)) == {}


def test_a_record_with_a_time_that_there_is_none_of_hides_no_other(tmp_path: Path) -> None:
    for number, stamp in enumerate(("1e308", "-1e308", "1e19", "9223372036854775807")):
        (tmp_path / f"{number}.json").write_text(f'{{"pid": {os.getpid()}, "sessionId": "s{number}", "startedAt": {stamp}}}')
    (tmp_path / "own.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": "own"}))
    assert registered(str(tmp_path))["own"] == os.getpid()


def test_how_long_no_key_was_pressed_is_known_by_the_terminal() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execlp("sh", "sh", "-c", "read line; read line")
    try:
        eventually(lambda: idle_seconds(pid) is not None, "it has its terminal")
        name = os.readlink(f"/proc/{pid}/fd/0")
        os.utime(name, (time.time() - 100, time.time()))
        found = idle_seconds(pid)
        assert found is not None and 99 < found < 200
        os.write(terminal, b"a key\n")
        eventually(lambda: (idle_seconds(pid) or 99) < 50, "the key counts")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    assert idle_seconds(pid) is None and idle_seconds(0) is None


def test_who_has_no_terminal_is_not_idle() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as alone:
        assert idle_seconds(alone.pid) is None
        alone.kill()
