"""What needs Node gets one, also on a machine that has none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts import browser


def machine(folder: Path, *programs: str) -> Path:
    """A PATH with what every machine has, and these: programs that say where they are."""
    folder.mkdir(parents=True)
    for name in ("sh", "dirname"):
        (folder / name).symlink_to(shutil.which(name) or name)
    for name in programs:
        written = folder / name
        written.write_text(f"#!/bin/sh\necho {written}\n")
        written.chmod(0o755)
    return folder


@pytest.mark.parametrize(("has", "own"), [(("node", "npm"), True), (("node",), False), ((), False)])
def test_the_projects_own_node_is_taken_where_the_machine_has_none_or_no_npm(tmp_path: Path, has: tuple[str, ...],
                                                                             own: bool) -> None:
    path = machine(tmp_path / "bin", *has)
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(browser.WITH_NODE, tmp_path / "scripts" / "with_node.sh")
    fetched = machine(tmp_path / "build" / "node" / "bin", "node", "npm")
    for program in ("node", "npm"):
        done = subprocess.run([script, program], env={"PATH": str(path)}, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str((path if own else fetched) / program)


def test_the_package_with_a_browser_is_fetched_by_that_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], env: Mapping[str, str]) -> str:
        commands.append(command)
        (browser.FOLDER / "package" / "some.tgz").write_bytes(b"not what was looked at")
        assert env["PYTHON"] and env["PATH"] == str(tmp_path)
        return json.dumps([{"filename": "some.tgz"}])

    monkeypatch.setattr(browser, "FOLDER", tmp_path / "browser")
    monkeypatch.setattr(browser, "_run", run)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(browser.NoBrowser, match="not the package that was looked at"):
        list(browser._of_the_registry())
    assert [command[:3] for command in commands] == [[str(browser.WITH_NODE), "npm", "pack"]]
    assert os.access(browser.WITH_NODE, os.X_OK)
