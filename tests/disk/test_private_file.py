"""A small file of the hub's own: replaced whole, written off the loop, and what is not on disk stays owed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from trunkline.disk import private_file
from trunkline.disk.private_file import PrivateFile
from trunkline.errors import StorageError


def test_what_cannot_be_written_is_told_to_who_waits_and_is_written_when_it_can_be(tmp_path: Path) -> None:
    async def check() -> None:
        folder = tmp_path / "folder"
        file = PrivateFile(folder / "file", lambda: b"all of it")
        file.save_soon()
        with pytest.raises(StorageError, match="cannot write"):
            await file.saved()
        folder.mkdir()
        await file.saved()
        assert (folder / "file").read_bytes() == b"all of it"

    run(check())


def test_changes_while_one_is_written_are_one_write_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents: list[bytes] = []
    monkeypatch.setattr(private_file, "write_private", lambda path, content: contents.append(content))

    async def check() -> None:
        count = 0
        file = PrivateFile(tmp_path / "file", lambda: b"%d" % count)
        for count in range(100):  # noqa: B007  # it is what the file is to hold
            file.save_soon()
        await file.saved()
        assert contents[-1] == b"99" and len(contents) <= 2

    run(check())


def test_without_a_loop_it_is_written_at_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("what was there")
    path.chmod(0o644)
    PrivateFile(path, lambda: b"new").save_soon()
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["file"], "nothing half written is left"


def test_what_a_crash_left_half_written_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / ".file.part").write_text("half")
    private_file.write_private(tmp_path / "file", b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole" and not (tmp_path / ".file.part").exists()
