"""A data folder has one writer."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from trunkline.errors import StorageError
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


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket"])
def test_what_is_no_plain_file_in_its_place_is_an_error_that_names_it_and_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    lock = FolderLock(tmp_path)
    with closing(socket.socket(socket.AF_UNIX)) as here:
        if kind == "folder":
            lock.path.mkdir()
        elif kind == "pipe":
            os.mkfifo(lock.path)
        else:
            here.bind(str(lock.path))
        for ask in (lock.take, lock.holder):
            with pytest.raises(StorageError, match=r"cannot use .*hub\.lock: .*it may be removed"):
                ask()


def test_whoever_holds_it_and_wrote_no_number_is_somebody_too(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    assert lock.take()
    for text in ("no number\n", "-1\n", "\u00b2\n"):
        lock.path.write_text(text, encoding="utf-8")
        assert FolderLock(tmp_path).holder() == 0
    lock.give_up()
