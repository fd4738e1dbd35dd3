"""What the machine gives: Python, the settings, the clock, the disk, a browser."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path

from trunkline import __version__
from trunkline.cli.commands.doctor.finding import Finding, Scene, bad, note, ok
from trunkline.cli.hosting.way_in import has_display, login_command, tunnel

PYTHON_LEAST = (3, 11)
SYSTEMS = ("linux", "darwin")

FREE_LEAST = 64 << 20
"""A hub that runs writes its log, its journal and what SQLite needs to tidy up."""
FREE_FEW = 1 << 30

CLOCK_LEAST_S = 1_735_689_600
"""The first of January 2025: nothing of ours is older."""
AHEAD_S = 60.0
"""What a file may be newer than now: another machine may have written it, over a network."""

_PAGE = Path(__file__).parents[3] / "server" / "static" / "page" / "index.html"
_TIME_ERROR = 5
_TIMEX_BYTES = 512


async def python(scene: Scene) -> list[Finding]:
    """The interpreter, and the system it runs on."""
    return [python_of(sys.version_info[:3], sys.platform)]


def python_of(version: tuple[int, ...], system: str) -> Finding:
    """What is to be said of an interpreter."""
    name = f"Trunkline {__version__}, Python {'.'.join(map(str, version))} on {system} ({sys.executable})"
    if version < PYTHON_LEAST:
        return bad("python", f"{name} is too old", "install Python 3.11 or newer, and Trunkline with it")
    if system not in SYSTEMS:
        return bad("python", f"{name}: this system is not supported", "run it on Linux or macOS (on Windows: in WSL)")
    return ok("python", name)


async def settings(scene: Scene) -> list[Finding]:
    """config.toml and the variables."""
    path = scene.settings.config
    if scene.settings_problem:
        return [bad("settings", scene.settings_problem, "mend that value; all settings: docs/reference/settings.md")]
    if path is None or not await scene.off_loop(path.exists):
        return [ok("settings", f"none in a file ({path})")]
    mode = (await scene.off_loop(path.stat)).st_mode
    if mode & 0o022:
        return [bad("settings", f"{path} may be written by others, and says what is run", f"chmod go-w {path}")]
    return [ok("settings", str(path))]


async def disk(scene: Scene) -> list[Finding]:
    """Room for what is stored."""
    return [await scene.off_loop(disk_of, scene.settings.data)]


def disk_of(path: Path) -> Finding:
    """The file system of a folder, or of the first one above it that is there."""
    place = next((each for each in (path, *path.parents) if each.is_dir()), Path("/"))
    found = os.statvfs(place)
    free = found.f_bavail * found.f_frsize
    if found.f_flag & os.ST_RDONLY:
        return bad("disk", f"{place} is on a file system that nobody can write to", "remount it, or take another folder: --data")
    if found.f_files and not found.f_favail:
        return bad("disk", f"the file system of {place} has no room for another file", "delete files there")
    size = f"{free / (1 << 30):.1f} GiB" if free >= FREE_FEW else f"{free >> 20} MiB"
    if free < FREE_LEAST:
        return bad("disk", f"{size} free at {place}: soon nothing can be stored", "make room there, or move the data folder")
    if free < FREE_FEW:
        return note("disk", f"{size} free at {place}", "make room before it is full: nothing is delivered that is not stored")
    return ok("disk", f"{size} free at {place}")


async def clock(scene: Scene) -> list[Finding]:
    """The time, by what was written before and by what the kernel knows."""
    newest = await scene.off_loop(_newest, scene.settings.data)
    return [clock_of(time.time(), newest, is_kept_right())]


def clock_of(now: float, newest: float, is_kept: bool | None) -> Finding:
    """What is to be said of a clock; ``newest`` is when something was last stored, ``is_kept`` whether a time server keeps it."""
    shown = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    if now < CLOCK_LEAST_S:
        return bad("clock", f"{shown} is in the past: pairing, logins and push fail", "set the clock: timedatectl set-ntp true")
    if newest > now + AHEAD_S:
        return bad("clock", f"{shown} is {newest - now:.0f} s before what was stored last: it was set back, or was wrong then",
                   "set the clock: timedatectl set-ntp true")
    if is_kept is False:
        return note("clock", f"{shown}; no time server keeps it, says the kernel", "timedatectl set-ntp true")
    return ok("clock", shown)


def is_kept_right() -> bool | None:
    """Whether the kernel knows its clock to be kept by a time server; None where it does not tell."""
    if sys.platform != "linux":
        return None
    state = int(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))  # all zero: it is only asked
    return None if state < 0 else state != _TIME_ERROR


def _newest(data: Path) -> float:
    times = []
    for name in ("journal.db", "journal.db-wal", "journal.db-log0", "journal.db-log1", "hub.log"):
        try:
            times.append((data / name).stat().st_mtime)
        except OSError:
            continue  # of what is not there, or not for us to see, other checks tell
    return max(times, default=0.0)


async def browser(scene: Scene) -> list[Finding]:
    """The page, and something to show it with."""
    if not await scene.off_loop(_PAGE.exists):
        return [bad("browser", "the page is not in this installation", "make page, in the sources; else install the wheel again")]
    return [browser_of(scene)]


def browser_of(scene: Scene) -> Finding:
    """Whether a browser can be opened here."""
    import webbrowser

    link = login_command(scene.settings)
    if not has_display(scene.environ, sys.platform):
        url = scene.endpoint.url if scene.endpoint is not None else f"http://127.0.0.1:{scene.settings.port}"
        away = tunnel(url, scene.environ)
        return note("browser", "there is no display here, so no browser is opened",
                    f"{link} gives a link" + (f"; from your own machine first: {away}" if away else ""))
    try:
        return ok("browser", f"{webbrowser.get().name} is opened by trunkline open")
    except webbrowser.Error:
        return note("browser", "no browser was found here", f"{link} gives a link for any other")
