"""A program's pane of tmux: found by its process, read, and answered by one key, by somebody who wanted that.

Rule 1: a key is sent only while the screen asks about exactly the call that was answered: it is read right before, and again
after. What does not match is not sent.
Rule 2: one key for one answer, never text. A pane that scrolls through its history, or takes no input, gets none.
Rule 3: a tmux of this user only, by the socket that the program's own environment names.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from trunkline.agents.process import ChildCommand
from trunkline.agents.process_table import with_ancestors
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import TrunklineError
from trunkline.threads import Lane

TMUX_S: Final = 2.0
"""How long tmux may take to answer."""
GONE_LOOKS: Final = 20
GONE_LOOK_S: Final = 0.1
"""How often, and how far apart, it is looked whether a prompt is gone after the key."""
DRAWN_LOOKS: Final = 10
DRAWN_LOOK_S: Final = 0.2
ENVIRON_MOST: Final = 1 << 20
SCREEN_MOST: Final = 1 << 20
ENVIRON: Final = {"LC_ALL": "C.UTF-8", "PATH": os.defpath}
"""Of tmux: it is told of nothing that is the hub's."""

Matches = Callable[[str], bool]


class Pane(NamedTuple):
    """A pane of a tmux server."""

    program: str
    """Where tmux is."""
    socket: str
    id: str
    pid: int
    """The process that was started in it."""

    async def shows(self, matches: Matches) -> bool:
        """Whether its screen is that one, and a key would reach the program."""
        state = await self._tmux("display-message", "-p", "-t", self.id, "#{pane_pid} #{pane_in_mode} #{pane_input_off}")
        return state.split() == [str(self.pid), "0", "0"] and matches(await self._tmux("capture-pane", "-p", "-t", self.id))

    async def will_show(self, matches: Matches) -> bool:
        """The same, within the moment that a program may take to draw what it says that it asks."""
        for _ in range(DRAWN_LOOKS):
            if await self.shows(matches):
                return True
            await asyncio.sleep(DRAWN_LOOK_S)
        return False

    async def press(self, key: str, matches: Matches) -> bool:
        """Press the key if the screen is that one; whether it was, and is gone now."""
        if not await self.shows(matches):
            return False
        await self._tmux("send-keys", "-t", self.id, key)
        for _ in range(GONE_LOOKS):
            await asyncio.sleep(GONE_LOOK_S)
            if not await self.shows(matches):
                return True
        return False

    async def _tmux(self, *words: str) -> str:
        return await _run(self.program, "-S", self.socket, *words)


async def find_pane(pid: int, environ: Mapping[str, str], lane: Lane) -> Pane | None:
    """The pane that a process runs in; None where it runs in none that is ours."""
    program = shutil.which("tmux", path=environ.get("PATH"))
    socket = await lane.run(_socket_of, pid) if program and pid > 1 else None
    if program is None or socket is None:
        return None
    above = await lane.run(with_ancestors, pid)
    for line in (await _run(program, "-S", socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid}")).splitlines():
        pane, _, started = line.partition(" ")
        if is_whole_number(started) and int(started) in above:
            return Pane(program, socket, pane, int(started))
    return None


def _socket_of(pid: int) -> str | None:
    """The socket of the tmux that a process was started in, by its environment; nothing else of that is looked at."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read(ENVIRON_MOST).split(b"\0")
        named = next((entry for entry in entries if entry.startswith(b"TMUX=")), b"TMUX=")
        path = os.fsdecode(named.removeprefix(b"TMUX=")).partition(",")[0]
        info = os.stat(path)
    except (OSError, ValueError):
        return None
    return path if stat.S_ISSOCK(info.st_mode) and info.st_uid == os.getuid() else None


async def _run(program: str, *words: str) -> str:
    """What a program prints; nothing where it fails, or takes too long."""
    try:
        child = await ChildCommand.spawn(program, ["-u", *words], cwd="/", env=ENVIRON, output_byte_limit=SCREEN_MOST)
    except TrunklineError:
        return ""
    try:
        async with asyncio.timeout(TMUX_S):
            return child.output() if (await child.wait()).code == 0 else ""
    except TimeoutError:
        return ""
    finally:
        await child.release()
