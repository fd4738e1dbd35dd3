"""The browser that the page is tested with: finds a Chromium, or gets one, and writes down where it is.

    python -m scripts.browser        # make test, make bench and make screenshots call it

Rule 1: what the machine has comes first; nothing is fetched while something there works.
Rule 2: a browser counts when it has shown a page, not when a file is there.
Rule 3: whatever is fetched goes into one folder of the checkout, except what the system's own installer brings, which needs root.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "build" / "browser"
RECORD = FOLDER / "browser.json"
WITH_NODE = Path(__file__).with_name("with_node.sh")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")
"""What makes it run as root, without a graphics card, in a small container, and without calls of its own."""

SHOWS = "a page was shown"
SHOW_S = 60.0
FETCH_S = 900.0

PACKAGE = "@sparticuz/chromium@147.0.0"
PACKAGE_SHA512 = "4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ=="
"""A headless Chromium with its libraries and a font, as a package of the JavaScript registry: needs no root and no other host."""

FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>{folder}/fonts-cache</cachedir></fontconfig>
"""
UNPACK = """
const fs = require('fs'), zlib = require('zlib');
for (const [from, to] of Object.entries(JSON.parse(process.argv[1])))
  fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(from)), {mode: 0o755});
"""


class Browser(NamedTuple):
    """A Chromium that works: its program, and what it needs in its environment."""

    path: str
    env: dict[str, str]

    def environment(self) -> dict[str, str]:
        """The whole environment to start it in."""
        return {**os.environ, **self.env}


class NoBrowser(Exception):
    """No way led to a browser."""


def recorded() -> Browser:
    """The browser that was found; raises NoBrowser before that, or when it is gone."""
    chosen = os.environ.get("TRUNKLINE_CHROMIUM")
    if chosen:
        return Browser(chosen, {})
    try:
        record = json.loads(RECORD.read_text())
    except FileNotFoundError:
        raise NoBrowser("no browser was looked for yet: run `make browser`") from None
    if not os.access(record["path"], os.X_OK):
        raise NoBrowser(f"{record['path']} is gone: run `make browser`")
    return Browser(record["path"], record["env"])


def find() -> Browser:
    """The first way that leads to a browser that shows a page; raises NoBrowser with what came of each."""
    outcomes = []
    for name, way in WAYS.items():
        _say(f"browser: {name} …")
        try:
            for browser in way():
                if (problem := _problem(browser)) is None:
                    _say(f"browser: {browser.path}")
                    return browser
                outcomes.append(f"{name}: {browser.path}: {problem}")
        except (NoBrowser, OSError, subprocess.SubprocessError) as error:
            outcomes.append(f"{name}: {error}")
            _say(f"browser: {outcomes[-1]}")
    raise NoBrowser("\n  ".join(["no Chromium for the page's tests. Set TRUNKLINE_CHROMIUM to one. What was tried:", *outcomes]))


def _chosen() -> Iterator[Browser]:
    path = os.environ.get("TRUNKLINE_CHROMIUM")
    if path:
        yield Browser(path, {})


def _on_path() -> Iterator[Browser]:
    yield from (Browser(path, {}) for name in NAMES if (path := shutil.which(name)))


def _of_playwright() -> Iterator[Browser]:
    folder = FOLDER / "playwright"
    env = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(folder)}
    _run([sys.executable, "-m", "playwright", "install", "chromium"], env)
    found = [path for name in ("chrome-headless-shell", "headless_shell", "chrome", "Chromium") for path in folder.rglob(name)]
    yield from (Browser(str(path), {}) for path in found if path.is_file() and os.access(path, os.X_OK))


def _of_the_system() -> Iterator[Browser]:
    installer = shutil.which("apt-get")
    if installer is None or os.geteuid() != 0:
        raise NoBrowser("needs apt-get and root")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run([installer, "update", "-q"], env)
    _run([installer, "install", "-q", "-y", "--no-install-recommends", "chromium"], env)
    return _on_path()


def _of_the_registry() -> Iterator[Browser]:
    folder = FOLDER / "package"
    folder.mkdir(parents=True, exist_ok=True)
    told = _with_node(["npm", "pack", PACKAGE, "--json", "--loglevel=error", "--pack-destination", str(folder)])
    archive = folder / Path(json.loads(told)[0]["filename"]).name
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != PACKAGE_SHA512:
        raise NoBrowser(f"{PACKAGE} is not the package that was looked at: sha512-{digest}")
    yield _unpacked(archive, folder)


def _unpacked(archive: Path, folder: Path) -> Browser:
    extract(archive, folder)
    inner = folder / "package" / "bin"
    parts = {"chromium": folder / "chromium", "al2023.tar": folder / "libraries.tar", "fonts.tar": folder / "fonts.tar"}
    _with_node(["node", "-e", UNPACK, json.dumps({str(inner / f"{name}.br"): str(to) for name, to in parts.items()})])
    for name in ("libraries.tar", "fonts.tar"):
        extract(folder / name, folder)
    (folder / "fonts.conf").write_text(FONTS.format(folder=folder))
    shutil.rmtree(folder / "package")
    for path in (archive, folder / "libraries.tar", folder / "fonts.tar"):
        path.unlink()
    env = {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_FILE": str(folder / "fonts.conf")}
    return Browser(str(folder / "chromium"), env)


def extract(archive: Path, folder: Path) -> None:
    """Unpack an archive of a package whose version we chose."""
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):  # since 3.11.4
            packed.extractall(folder, filter="data")
        else:
            packed.extractall(folder)


WAYS: dict[str, Callable[[], Iterator[Browser]]] = {
    "TRUNKLINE_CHROMIUM": _chosen,
    "a browser on PATH": _on_path,
    "the download of playwright": _of_playwright,
    "apt-get": _of_the_system,
    f"the package {PACKAGE}": _of_the_registry,
}


def _with_node(command: list[str]) -> str:
    """Run something of Node's: the machine's own, or the one that builds the page."""
    return _run([str(WITH_NODE), *command], {"PYTHON": sys.executable, **os.environ})


def _problem(browser: Browser) -> str | None:
    """Why it does not show a page; None when it does."""
    from playwright.sync_api import Error, sync_playwright  # the other ways' reasons can be told without it

    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=browser.path, args=list(FLAGS), timeout=1000 * SHOW_S,
                                                 env=dict(browser.environment()))
            page = started.new_page()
            page.set_content(f"<p>{SHOWS}</p>")
            shown = page.inner_text("p")
            started.close()
        except Error as error:
            return _end_of(str(error))
    return None if shown == SHOWS else f"it showed {shown!r}"


def _run(command: list[str], env: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=FETCH_S, check=False, errors="replace")
    if done.returncode != 0:
        raise NoBrowser(f"exit code {done.returncode}: {_end_of(done.stderr or done.stdout)}")
    return done.stdout


def _end_of(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:400]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Find a browser and record it."""
    try:
        browser = find()
    except NoBrowser as error:
        sys.exit(str(error))
    FOLDER.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(browser._asdict()) + "\n")


if __name__ == "__main__":
    main()
