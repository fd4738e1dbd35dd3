"""What is installed from a wheel holds the page; a build that cannot have it fails and says why."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.tooling.hub_process import own_environment
from tests.tooling.processes import eventually, processes_with

ROOT = Path(__file__).parent.parent.parent
PAGE = "trunkline/server/static/page"
NOTICES = "src/trunkline/server/static/notices.txt"
INSTALL_S = 170


def sources(folder: Path) -> Path:
    """The least of the project that a wheel is built from, with a page that was built."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("scripts/build_page.py", "scripts/readme.py", "src/trunkline/__init__.py", NOTICES):
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
    assert "trunkline/server/static/notices.txt" in names, "the notices of what the page is built from"
    assert any(name.endswith(f"licenses/{NOTICES}") for name in names)
    (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "Project-URL: Repository, https://" in text
    assert not re.search(r"\]\((?!https://|#)", text), "every link of the README works outside of the repository"


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


def installed(folder: Path) -> Path:
    """A fresh environment with the wheel and what it needs in it, as a person makes one; gives its ``trunkline``."""
    shutil.copytree(ROOT / "src", folder / "src", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    done = build(sources_of_all(folder))
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    pip = (str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "-q")
    for words in ((sys.executable, "-m", "venv", str(folder / "venv")),
                  (*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "runtime.txt")), (*pip, "--no-deps", str(wheel))):
        made = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        assert made.returncode == 0, made.stderr
    return folder / "venv" / "bin" / "trunkline"


def sources_of_all(folder: Path) -> Path:
    """All sources; the page as it was built, or one that stands in for it."""
    if not (folder / "src" / PAGE).exists():
        (folder / "src" / PAGE / "assets").mkdir(parents=True)
        for name in ("index.html", "weight.json"):
            (folder / "src" / PAGE / name).write_text("{}")
    for name in ("pyproject.toml", "README.md", "LICENSE", "scripts/build_page.py", "scripts/readme.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
def test_a_wheel_in_a_fresh_environment_plays_the_tour_of_the_readme(tmp_path: Path) -> None:
    trunkline = installed(tmp_path / "made")
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    env = {**own_environment(home), "PATH": f"{trunkline.parent}{os.pathsep}{os.environ['PATH']}", "TRUNKLINE_PORT": "0"}
    env.pop("PYTHONPATH", None)

    def typed(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(["trunkline", *words], cwd=work, env=env, input=stdin, capture_output=True, text=True, timeout=60,
                              check=False)

    try:
        toured = typed("run", "demo", "Show me around", "--allow")
        assert toured.returncode == 0, toured.stderr
        chatted = typed("chat", "demo", stdin="/echo from the wheel\n")
        assert chatted.stdout == "from the wheel\n", chatted.stderr
        sessions = json.loads(typed("sessions", "--json").stdout)
        assert len(sessions) == 2
        sent = typed("send", sessions[0]["id"], "/echo more", "--wait")
        assert sent.stdout == "more\n", sent.stderr
        link = typed("open", "--print").stdout
        assert re.fullmatch(r"http://\S+/#code=[\w-]+\n", link)
        address = link.partition("/#")[0]
        for path, part in (("/", b""), ("/licenses", b"preact"), ("/auth/login", b"trunkline open --print")):
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                assert answer.status == 200 and part in answer.read(), path
    finally:
        typed("stop")
        eventually(lambda: not processes_with(f"HOME={home}"), "nothing is left")
