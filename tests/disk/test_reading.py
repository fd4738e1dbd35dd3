"""Only plain files are opened, nobody waits for them, and no more is read than was asked for."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.disk.reading import open_plain, open_plain_end, path_of, read_beginning, read_whole


def test_a_plain_file_is_read_whole_or_in_part(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    assert read_whole(tmp_path / "a", 10) == b"0123456789"
    assert read_beginning(tmp_path / "a", 4) == b"0123"
    with pytest.raises(OSError, match="larger than 9 bytes"):
        read_whole(tmp_path / "a", 9)


def test_a_giant_is_refused_by_its_size_and_one_that_lies_about_it_by_its_bytes(tmp_path: Path) -> None:
    with open(tmp_path / "giant", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="larger"):
        read_whole(tmp_path / "giant", 1000)
    lies = Path("/proc/self/environ")
    if lies.exists():
        assert lies.stat().st_size == 0
        with pytest.raises(OSError, match="larger"):
            read_whole(lies, 1)


def test_a_pipe_a_socket_a_device_a_folder_and_a_link_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    (tmp_path / "link").symlink_to("pipe")
    for path, code in ((tmp_path / "pipe", errno.ENXIO), (tmp_path / "socket", errno.ENXIO), (Path("/dev/zero"), errno.ENXIO),
                       (tmp_path, errno.EISDIR), (tmp_path / "link", errno.ELOOP)):
        with pytest.raises(OSError) as refused:
            open_plain(path)
        assert refused.value.errno == code, path
    with pytest.raises(OSError, match="not a plain file"):
        open_plain(tmp_path / "link", follow=True)


def test_a_pipe_that_comes_after_the_look_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    plain = os.stat(tmp_path / "file")
    monkeypatch.setattr(os, "stat", lambda *_, **__: plain)
    with pytest.raises(OSError, match="not a plain file"):
        open_plain(tmp_path / "pipe")


def test_a_plain_file_is_added_to_and_a_link_or_a_pipe_in_its_place_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one ")
    with open_plain_end(tmp_path / "a") as file:
        file.write(b"two")
    assert (tmp_path / "a").read_bytes() == b"one two"
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for _ in range(2):  # without a reader, and with one
        for name in ("link", "pipe", "none"):
            with pytest.raises(OSError):
                open_plain_end(tmp_path / name)
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.close(reader)


def test_nothing_is_opened_on_the_loop(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    async def scenario() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            open_plain(tmp_path / "a")

    run(scenario())


def test_an_open_folder_tells_where_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    folder = os.open(tmp_path / "before", os.O_RDONLY)
    (tmp_path / "before").rename(tmp_path / "after")
    assert path_of(folder) == str(tmp_path / "after")
    os.close(folder)
    assert path_of(folder) is None
