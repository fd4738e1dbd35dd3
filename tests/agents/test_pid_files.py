"""Running agents on record."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trunkline.agents.pid_files import RECORD_BYTES, PidFiles, PidRecord
from trunkline.errors import StorageError

RECORD = PidRecord("ses-1", 42, 7, "marker")


def test_a_record_is_found_until_it_is_forgotten_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    pids = PidFiles(tmp_path / "agents")
    pids.record(RECORD)
    assert pids.left_behind() == [RECORD]
    assert (tmp_path / "agents" / "ses-1.json").stat().st_mode & 0o777 == 0o600
    pids.forget("ses-1")
    pids.forget("ses-1")
    assert pids.left_behind() == []


def test_whoever_looks_while_a_record_is_written_sees_it_whole_or_not_at_all(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[PidRecord]] = []
    pids, write = PidFiles(tmp_path), Path.write_bytes

    def look_and_write(path: Path, data: bytes) -> int:
        seen.append(pids.left_behind())
        assert not list(tmp_path.glob("*.json"))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", look_and_write)
    pids.record(RECORD)
    assert (seen, pids.left_behind()) == ([[]], [RECORD])


def test_a_folder_that_vanished_is_made_again(tmp_path: Path) -> None:
    pids = PidFiles(tmp_path / "gone" / "agents")
    pids.record(RECORD)
    assert pids.left_behind() == [RECORD]


def test_a_record_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "agents").write_text("in the way")
    with pytest.raises(StorageError, match="cannot put the running agent on record"):
        PidFiles(tmp_path / "agents").record(RECORD)


def test_a_record_that_a_crash_cut_short_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "ses-2.json").write_text('{"session_id": "ses-2", "pi')
    assert PidFiles(tmp_path).left_behind() == [] and list(tmp_path.iterdir()) == []


def test_what_is_no_record_is_left_alone_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pids = PidFiles(tmp_path)
    pids.record(RECORD)
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "ses-1.json")
    (tmp_path / "other.json").write_bytes((tmp_path / "ses-1.json").read_bytes())
    (tmp_path / "large.json").write_bytes(b" " * (RECORD_BYTES + 1))
    (tmp_path / "everybody.json").write_text('{"session_id": "s", "pid": -1, "start_time": null, "marker": ""}')
    assert pids.left_behind() == [RECORD]
    left = ("folder", "large", "link", "other", "pipe", "ses-1")
    assert sorted(path.stem for path in tmp_path.iterdir()) == list(left)
    assert len(caplog.records) == 5
