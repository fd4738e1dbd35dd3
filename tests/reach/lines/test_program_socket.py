"""Sockets of programs: only those of our own user are connected to."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from trunkline.reach.lines import program_socket
from trunkline.reach.lines.program_socket import NotOurs, connect_to, greet


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        yield Path(name) / "program.sock"


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_a_socket_of_our_own_is_connected_to_also_by_a_link(place: Path) -> None:
    link = place.parent / "link"
    link.symlink_to(place)
    with listening(place), connect_to(str(place)) as one, connect_to(str(link)) as other:
        assert one.fileno() > 0 and other.fileno() > 0


def test_a_place_that_others_can_write_to_is_not_trusted(place: Path) -> None:
    with listening(place):
        place.parent.chmod(0o777)
        with pytest.raises(NotOurs):
            connect_to(str(place))


def test_a_file_that_is_no_socket_and_none_at_all_are_refused(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connect_to(str(place))
    place.write_text("")
    with pytest.raises(NotOurs):
        connect_to(str(place))


def test_what_belongs_to_somebody_else_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(place):
        monkeypatch.setattr(os, "getuid", lambda: os.stat(place).st_uid + 1)
        with pytest.raises(NotOurs):
            connect_to(str(place))


def test_whoever_answers_has_to_be_our_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(place):
        found = os.stat(place)
        assert stat.S_ISSOCK(found.st_mode)
        monkeypatch.setattr(program_socket, "_check_place", lambda real: None)
        monkeypatch.setattr(os, "getuid", lambda: found.st_uid + 1)
        with pytest.raises(NotOurs):
            connect_to(str(place))


def test_who_does_not_answer_in_time_does_not_answer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_socket, "CONNECT_S", 0.05)
    with listening(place), pytest.raises(OSError):
        greet(str(place))
