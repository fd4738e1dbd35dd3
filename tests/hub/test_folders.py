"""The folders that callers name for sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.errors import Forbidden, Invalid
from trunkline.hub.folders import check_place, folder


@pytest.mark.parametrize("cwd", ["", "relative", "./here", "/a\0b"])
def test_what_names_no_folder_is_refused(cwd: str) -> None:
    with pytest.raises(Invalid, match="absolute path"):
        check_place(cwd)


def test_a_folder_is_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert folder(str(tmp_path / "link"), ()) == str(tmp_path / "real")


def test_a_file_and_what_is_not_there_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "nothing"):
        with pytest.raises(Invalid, match=f"not a folder: .*{name}"):
            folder(str(tmp_path / name), ())


def test_the_hubs_own_folder_is_refused_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for name in ("data", "link"):
        with pytest.raises(Forbidden):
            folder(str(tmp_path / name), [str(tmp_path / "data")])


def test_a_folder_is_not_looked_at_on_the_loop(tmp_path: Path) -> None:
    async def look() -> str:
        with pytest.raises(RuntimeError):
            folder(str(tmp_path), ())
        return await asyncio.to_thread(folder, str(tmp_path), ())

    assert run(look()) == str(tmp_path)
