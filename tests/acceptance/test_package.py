"""What is installed from a wheel holds the page; a build that cannot have it fails and says why."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = "trunkline/server/static/page"


def sources(folder: Path) -> Path:
    """The least of the project that a wheel is built from, with a page that was built."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("scripts/build_page.py", "src/trunkline/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "web").mkdir()
    (folder / ".gitignore").write_text(f"src/{PAGE}/\n")
    built = folder / "src" / PAGE
    (built / "assets").mkdir(parents=True)
    for name in ("index.html", "assets/index-AAAAAAAA.js.br", "weight.json"):
        (built / name).write_text("x")
    return folder


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")], cwd=folder,
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_a_wheel_holds_the_page_though_git_does_not(tmp_path: Path) -> None:
    folder = sources(tmp_path)
    done = build(folder)
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{PAGE}/index.html", f"{PAGE}/assets/index-AAAAAAAA.js.br", f"{PAGE}/weight.json"} <= set(names)


@pytest.mark.slow
def test_a_wheel_without_a_page_is_not_built(tmp_path: Path) -> None:
    folder = sources(tmp_path)
    shutil.rmtree(folder / "src" / PAGE)
    node = folder / "scripts" / "with_node.sh"
    node.write_text("#!/bin/sh\nexit 1\n")
    node.chmod(0o755)
    done = build(folder)
    assert done.returncode != 0
    assert "the web page could not be built (npm ci" in done.stderr
    assert not list((folder / "dist").glob("*.whl"))
