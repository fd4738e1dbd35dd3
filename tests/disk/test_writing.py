"""Folders are entered without links, and a file is in its place whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from trunkline.disk.writing import NewFile, enter


def new(folder: Path, content: bytes = b"new") -> NewFile:
    file = NewFile(enter(str(folder), []))
    file.write(content)
    return file


def test_folders_are_entered_and_made_by_their_names(tmp_path: Path) -> None:
    folder = enter(str(tmp_path), ["a", "b"], make=True)
    os.mkdir("c", dir_fd=folder)
    os.close(folder)
    assert (tmp_path / "a" / "b" / "c").is_dir()
    with pytest.raises(FileNotFoundError):
        enter(str(tmp_path), ["a", "none"])


@pytest.mark.parametrize("names", [["link"], ["link", "new"], [".."], ["."], [""], ["file"]])
@pytest.mark.parametrize("make", [True, False])
def test_no_way_leads_through_a_link_up_or_into_a_file(tmp_path: Path, names: list[str], make: bool) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    (root / "file").touch()
    with pytest.raises(OSError):
        enter(str(root), names, make=make)
    assert list(outside.iterdir()) == []


def test_a_root_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to(tmp_path)
    with pytest.raises(OSError):
        enter(str(tmp_path / "root"), ["a"], make=True)


def test_a_file_appears_when_it_is_put_and_keeps_the_permissions_of_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    file = new(tmp_path)
    assert (tmp_path / "a").read_text() == "old"
    file.put("a")
    assert (tmp_path / "a").read_text() == "new" and (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["a"]


def test_what_is_dropped_leaves_nothing(tmp_path: Path) -> None:
    new(tmp_path).drop()
    assert os.listdir(tmp_path) == []


def test_a_folder_and_a_pipe_keep_their_place(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(OSError):
            new(tmp_path).put(name)
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]


def test_a_link_is_replaced_and_nothing_is_written_through_it(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "link").symlink_to("target")
    new(tmp_path).put("link")
    assert not (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "untouched"


@pytest.mark.parametrize("links", [True, False])
def test_the_first_free_name_is_taken_and_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                 links: bool) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("mine")
    (tmp_path / "b").symlink_to("nowhere")
    assert new(tmp_path).put_beside(["a", "b", "c", "d"]) == "c"
    assert (tmp_path / "a").read_text() == "mine" and (tmp_path / "c").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    new(tmp_path).put("a")
    new(tmp_path).put_beside(["b"])
    new(tmp_path).drop()
    with pytest.raises(OSError):
        enter(str(tmp_path), ["none", "none"])
    assert len(os.listdir("/dev/fd")) == before


def test_a_file_whose_every_name_is_taken_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    with pytest.raises(FileExistsError):
        new(tmp_path).put_beside(iter(["a", "b"]))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]
