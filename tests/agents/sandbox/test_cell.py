"""Whether there is a sandbox on this machine: it is tried, and the trial does not take for ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.aio import run
from tests.tooling.processes import eventually
from trunkline.agents.environment import clean_env
from trunkline.agents.sandbox import cell
from trunkline.agents.sandbox.cell import find_program, try_out
from trunkline.agents.sandbox.places import Wish
from trunkline.errors import SandboxUnavailable

ENV = clean_env((), os.environ)


def program(folder: Path, script: str) -> str:
    """What is run in the place of bwrap."""
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_trial_that_does_not_end_is_none_and_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell, "PROBE_S", 0.3)
    note = tmp_path / "pid"
    hangs = program(tmp_path, f"echo $$ > {note}\nexec sleep 600")
    for _ in range(2):  # it is not taken for one that worked
        with pytest.raises(SandboxUnavailable, match=r"bwrap did not end within 0\.3 s"):
            run(try_out(hangs, ENV, network=True))
        if note.exists():  # a busy machine may not have come so far
            pid = int(note.read_text())
            eventually(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the trial has ended")  # type: ignore[misc]


def test_a_trial_that_ends_in_time_says_whether_there_is_a_sandbox(tmp_path: Path) -> None:
    run(try_out(program(tmp_path, "exit 0"), ENV, network=True))
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(SandboxUnavailable, match="it is forbidden here"):
        run(try_out(program(other, "echo it is forbidden here; exit 1"), ENV, network=True))


@pytest.mark.skipif(sys.platform != "linux", reason="a sandbox takes Linux")
def test_it_is_found_on_path_but_never_where_the_session_may_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, store = tmp_path / "project", tmp_path / "store"
    for folder in (root / "bin", store / "bin", tmp_path / "system"):
        folder.mkdir(parents=True)
        real = program(folder, "exit 0")
    (tmp_path / "link").symlink_to(root / "bin")
    (root / "to-the-real-one").symlink_to(tmp_path / "system")
    monkeypatch.chdir(tmp_path)
    writable = [root / "bin", store / "bin", tmp_path / "link", "project/bin", "", "."]
    wish = Wish(roots=[str(root)], own=[f"{store}/"], env={"PATH": ":".join(map(str, [*writable, tmp_path / "system"]))})
    assert find_program(wish) == real
    with pytest.raises(SandboxUnavailable, match="not found on PATH"):
        find_program(Wish(roots=[str(root)], own=[f"{store}/"], env={"PATH": ":".join(map(str, writable))}))
