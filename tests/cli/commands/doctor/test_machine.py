"""What doctor says of the machine: each kind of it, one by one."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import run
from tests.tooling.rows import every_row
from trunkline.cli.commands.doctor import machine
from trunkline.cli.commands.doctor.finding import Scene
from trunkline.cli.commands.doctor.machine import browser, browser_of, clock_of, disk_of, is_kept_right, python_of, settings
from trunkline.cli.read_settings import load

NOW = 1_800_000_000.0
GIB = 1 << 30


def scene(tmp_path: Path, **more: Any) -> Scene:
    return Scene(load({"data": str(tmp_path)}, {"HOME": str(tmp_path)}), **more)


@every_row(("version", "system", "state"), [
    ((3, 11, 0), "linux", "ok"), ((3, 14, 1), "darwin", "ok"), ((3, 10, 9), "linux", "bad"), ((3, 12, 0), "win32", "bad")])
def test_an_old_python_or_another_system_is_bad(version: tuple[int, ...], system: str, state: str) -> None:
    told = python_of(version, system)
    assert told.state == state and bool(told.fix) == (state == "bad")


def test_settings_that_others_may_write_are_bad(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("port = 1\n")
    config.chmod(0o666)
    here = Scene(load({"config": str(config), "data": str(tmp_path)}, {"HOME": str(tmp_path)}))
    assert [(each.state, each.fix) for each in run(settings(here))] == [("bad", f"chmod go-w {config}")]
    config.chmod(0o644)
    assert [each.state for each in run(settings(here))] == ["ok"]
    assert run(settings(scene(tmp_path, settings_problem="port: expected a port number")))[0].state == "bad"
    assert run(settings(scene(tmp_path)))[0].what.startswith("none in a file")


@every_row(("free", "files", "flag", "state", "says"), [
    (50 * GIB, 9, 0, "ok", "50.0 GiB free"), (GIB // 2, 9, 0, "note", "512 MiB free"), (0, 9, 0, "bad", "0 MiB free"),
    (63 << 20, 9, 0, "bad", "63 MiB free"), (50 * GIB, 0, 0, "bad", "no room for another file"),
    (50 * GIB, 9, os.ST_RDONLY, "bad", "nobody can write"),
])
def test_a_disk_is_told_by_its_room(free: int, files: int, flag: int, state: str, says: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=free, f_frsize=1, f_flag=flag, f_files=10,
                                                                 f_favail=files))
        told = disk_of(Path("/no/such/folder"))
    assert told.state == state and says in told.what and bool(told.fix) == (state != "ok")


@every_row(("now", "newest", "kept", "state"), [
    (NOW, 0.0, True, "ok"), (NOW, NOW, None, "ok"), (NOW, NOW + 30, True, "ok"), (NOW, NOW, False, "note"),
    (NOW, NOW + 3600, True, "bad"), (86400.0, 0.0, None, "bad")])
def test_a_clock_that_was_set_back_is_bad_and_one_that_nobody_keeps_a_note(now: float, newest: float, kept: bool | None,
                                                                           state: str) -> None:
    told = clock_of(now, newest, kept)
    assert told.state == state and bool(told.fix) == (state != "ok")


def test_the_clock_is_held_against_what_was_stored_last(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"")
    os.utime(tmp_path / "journal.db", (0, 4_000_000_000))
    assert run(machine.clock(scene(tmp_path)))[0].state == "bad"
    assert is_kept_right() in (True, False, None)


def test_a_browser_needs_a_display_and_over_ssh_a_tunnel(tmp_path: Path) -> None:
    ssh = {"SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22", "USER": "ann"}
    told = browser_of(scene(tmp_path, environ=ssh))
    assert told.state == "note" and "open --print" in told.fix and "ssh -L 7420:127.0.0.1:7420 ann@10.0.0.2" in told.fix


def test_an_installation_without_the_page_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(browser(scene(tmp_path)))[0].state != "bad"
    monkeypatch.setattr(machine, "_PAGE", tmp_path / "index.html")
    told = run(browser(scene(tmp_path)))[0]
    assert told.state == "bad" and "make page" in told.fix
