"""A data folder has one writer."""

from __future__ import annotations

import os
from pathlib import Path

from trunkline.journal.lock import FolderLock


def test_the_second_is_refused_until_the_first_gives_up(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path), FolderLock(tmp_path)
    assert first.take() and not second.take()
    assert second.holder() == os.getpid()
    first.give_up()
    assert second.holder() is None and second.take()
    second.give_up()


def test_a_folder_without_a_lock_or_that_is_none_has_no_holder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [FolderLock(tmp_path / name).holder() for name in (".", "nothing", "file")] == [None, None, None]


def test_a_holder_that_has_not_written_its_pid_yet_is_somebody(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    assert lock.take()
    os.truncate(lock.path, 0)
    assert FolderLock(tmp_path).holder() == 0
    lock.give_up()
