"""Running agents on record."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.errors import StorageError
from trunkline.session.pids import PidFiles, PidRecord

RECORD = PidRecord("ses-1", 42, 7, "marker")


def test_a_record_is_found_until_it_is_forgotten_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    pids = PidFiles(tmp_path / "agents")
    pids.record(RECORD)
    assert pids.left_behind() == [RECORD]
    assert (tmp_path / "agents" / "ses-1.json").stat().st_mode & 0o777 == 0o600
    pids.forget("ses-1")
    pids.forget("ses-1")
    assert pids.left_behind() == []


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
