"""The lock, hub.json and the log of a data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trunkline.cli.hosting.datadir import LOG_BYTES, DataDir, HubLock, HubRecord
from trunkline.errors import HubLocked, Invalid

RECORD = HubRecord(pid=os.getpid(), url="http://127.0.0.1:7420", started_at="2026-01-01T00:00:00Z", version="0")


@pytest.fixture
def folder(tmp_path: Path) -> DataDir:
    made = DataDir(tmp_path / "deep" / "data")
    made.make()
    return made


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_folder_is_closed_to_others_even_if_it_was_open(folder: DataDir) -> None:
    assert _mode(folder.path) == 0o700
    folder.path.chmod(0o755)
    folder.make()
    assert _mode(folder.path) == 0o700


def test_a_folder_that_cannot_be_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid, match=r"data: cannot use .*file"):
        DataDir(tmp_path / "file").make()


def test_files_are_private(folder: DataDir) -> None:
    with HubLock(folder):
        folder.write_record(RECORD)
        os.close(folder.open_log())
        assert [_mode(path) for path in (folder.lock_path, folder.record_path, folder.log_path)] == [0o600] * 3


def test_a_record_is_read_back_and_half_of_one_is_none(folder: DataDir) -> None:
    assert folder.record() is None
    folder.write_record(RECORD)
    assert folder.record() == RECORD
    folder.record_path.write_bytes(folder.record_path.read_bytes()[:20])
    assert folder.record() is None


def test_the_lock_names_its_holder_and_goes_with_it(folder: DataDir) -> None:
    assert folder.holder() is None
    with HubLock(folder):
        assert folder.holder() == os.getpid()
    assert folder.holder() is None


def test_a_second_hub_is_told_pid_and_url_of_the_first(folder: DataDir) -> None:
    with HubLock(folder):
        with pytest.raises(HubLocked, match=rf"process {os.getpid()} and is starting"), HubLock(folder):
            raise AssertionError("two hubs on one folder")
        folder.write_record(RECORD)
        with pytest.raises(HubLocked, match=rf"process {os.getpid()} and listens on {RECORD.url}"), HubLock(folder):
            raise AssertionError("two hubs on one folder")


def test_the_record_of_a_crashed_hub_is_removed_by_the_next_and_at_the_end(folder: DataDir) -> None:
    folder.write_record(RECORD)
    with HubLock(folder):
        assert folder.record() is None
        folder.write_record(RECORD)
    assert folder.record() is None


def test_the_lock_of_a_killed_process_is_free_at_once(folder: DataDir) -> None:
    code = ("import sys, pathlib; from trunkline.cli.hosting.datadir import *\n"
            "HubLock(DataDir(pathlib.Path(sys.argv[1]))).__enter__(); print('held', flush=True); sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", code, str(folder.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert folder.holder() == child.pid
        child.kill()
        child.wait()
        assert folder.holder() is None


def test_a_log_that_grew_too_long_is_begun_anew(folder: DataDir) -> None:
    folder.log_path.write_bytes(b"x" * 10)
    os.close(folder.open_log())
    assert folder.log_path.stat().st_size == 10
    folder.log_path.write_bytes(b"x" * (LOG_BYTES + 1))
    os.close(folder.open_log())
    assert folder.log_path.stat().st_size == 0


def test_the_token_is_read_without_its_newline(folder: DataDir) -> None:
    assert folder.token() is None
    folder.token_path.write_text("tl_x\n")
    assert folder.token() == "tl_x"
