"""Panes of tmux: found by a process, and left alone in every doubt."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.reach.panes import Pane, find_pane
from trunkline.threads import Lane


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        yield Path(name)


def fake(root: Path, script: str) -> Path:
    """A program called tmux that does this."""
    path = root / "tmux"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def pane(root: Path, script: str) -> Pane:
    return Pane(str(fake(root, script)), str(root / "s"), "%0", 7)


def test_a_tmux_that_fails_hangs_or_is_not_there_shows_nothing_and_gets_no_key(root: Path) -> None:
    async def scenario() -> None:
        for script in ("exit 1", "echo 7 0 0; exit 1", f"echo 8 0 0; touch {root}/pressed", f"echo 7 1 0; touch {root}/pressed",
                       "exec sleep 600"):
            tried = pane(root, script)
            began = time.monotonic()
            assert not await tried.press("Enter", lambda screen: False)
            assert time.monotonic() - began < 300, "it is given up"
        assert not await Pane(str(root / "none"), "s", "%0", 7).press("Enter", lambda screen: True)

    run(scenario())


def test_one_key_is_sent_and_only_while_the_screen_matches(root: Path) -> None:
    script = f"""
case "$*" in
  *display-message*) echo 7 0 0 ;;
  *capture-pane*) if test -e {root}/keys; then echo went on; else echo asks; fi ;;
  *send-keys*) echo "$*" >> {root}/keys ;;
esac"""

    async def scenario() -> None:
        tried = pane(root, script)
        assert not await tried.press("Enter", lambda screen: "something else" in screen) and not (root / "keys").exists()
        assert await tried.will_show(lambda screen: "asks" in screen)
        assert await tried.press("Enter", lambda screen: "asks" in screen)
        (sent,) = (root / "keys").read_text().splitlines()
        assert sent.endswith("send-keys -t %0 Enter")

    run(scenario())


def test_a_key_that_changes_nothing_is_no_success(root: Path) -> None:
    script = f'case "$*" in *display-message*) echo 7 0 0 ;; *capture*) echo asks ;; *send-keys*) echo x >> {root}/keys ;; esac'

    async def scenario() -> None:
        assert not await pane(root, script).press("Enter", lambda screen: "asks" in screen)
        assert (root / "keys").read_text() == "x\n", "it is not pressed again"

    run(scenario())


@pytest.mark.parametrize("named", ["", "TMUX=", "TMUX=/nowhere,1,0", "TMUX=FILE,1,0"])
def test_a_process_that_names_no_socket_of_this_users_is_in_no_pane(root: Path, named: str) -> None:
    (root / "file").write_text("no socket")
    assert not stat.S_ISSOCK(os.stat(root / "file").st_mode)
    fake(root, f"touch {root}/asked; echo %0 $PPID")
    env = dict([named.replace("FILE", str(root / "file")).split("=", 1)]) if named else {}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=env) as program:
        async def scenario() -> None:
            assert await find_pane(program.pid, {"PATH": f"{root}:{os.defpath}"}, Lane()) is None

        run(scenario())
        assert not (root / "asked").exists()
        program.communicate(b"\n")


def test_without_tmux_or_a_process_there_is_no_pane(root: Path) -> None:
    async def scenario() -> None:
        assert await find_pane(os.getpid(), {"PATH": str(root)}, Lane()) is None
        assert await find_pane(0, {"PATH": os.defpath}, Lane()) is None

    run(scenario())
