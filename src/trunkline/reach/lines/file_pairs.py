"""Lines to programs that write what they do into one file and read what to do from another: a pair of files for each start.

The pairs are in a folder of the data folder, made by the shell's function that starts the program (``shell_functions.py``).
Rule 1: only whole lines count. The program's file is read and never written; ours is only added to.
Rule 2: what a pair says when the hub starts is old: only what is still asked counts of it.
Rule 3: a pair whose program is gone is taken away, whoever left it there.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.agents.process_table import start_time, with_ancestors
from trunkline.dialects.elsewhere.lines import Appeared, AskOver, Asks, ServerEvent, ServerLine, Told, server_line
from trunkline.dialects.outside import is_whole_number
from trunkline.discovery.base import AgentStore
from trunkline.discovery.notice import Changes, listen
from trunkline.discovery.processes import is_running
from trunkline.disk.reading import open_plain, open_plain_end
from trunkline.errors import Unavailable
from trunkline.reach.ending import GONE, FindStore
from trunkline.reach.lines.line_sessions import SessionLines
from trunkline.reach.sessions import TerminalSessions
from trunkline.reach.shell_functions import EVENTS, INPUT
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Hub

FOLDER: Final = "terminals"
"""In the data folder: a folder for each agent, in which each start of its program has one."""
PAIRS_MOST: Final = 64
"""Pairs of one agent that are listened to."""
LOOK_S: Final = 0.5
"""How far apart it is looked whether a program is still there, and whether what it asked is over."""
KNOW_LOOKS: Final = 4
"""After how many of these looks its process is looked for again, until it is known."""
PIECE: Final = 64 << 10
"""Bytes that are read, and taken, in one go."""
PIECES: Final = 64
"""How many of these one program may have in a row."""
LINE_MOST: Final = 1 << 20
"""Bytes of a line; a longer one is left out, and what it asks is asked in the terminal alone."""
OLD_BYTES: Final = 1 << 20
"""Bytes at the end of a file, older than the hub, in which it is looked for what is still asked."""
STOPPED: Final = "the hub no longer listens; it asks in its terminal"

log = logging.getLogger("trunkline.reach")


def pairs_folder(data: Path, agent: str) -> Path:
    """Where the pairs of an agent's programs are."""
    return data / FOLDER / agent


class FilePairs:
    """Listens to the programs of one agent."""

    def __init__(self, hub: Hub, spec: AgentSpec, sessions: TerminalSessions, folder: Path) -> None:
        self._hub = hub
        self._spec = spec
        self._sessions = sessions
        self._folder = folder
        self._lane = Lane(1)
        self._open: dict[str, _Pair] = {}
        self._again = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Listen no more; the files stay with their programs."""
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _run(self) -> None:
        unlisten = listen(await self._lane.run(os.path.realpath, self._folder), self._noticed)
        is_first = True
        try:
            while True:
                self._again.clear()
                try:
                    await self._look(is_old=is_first)
                    is_first = False
                except Unavailable as error:
                    log.info("the files of %s are looked at later: %s", self._spec.name, error.message)
                except Exception:  # the line's boundary: its sessions are followed by their files
                    log.exception("what programs of %s tell could not be taken", self._spec.name)
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S if self._open else None):
                        await self._again.wait()
        finally:
            unlisten()
            await asyncio.shield(self._hang_up())

    def _noticed(self, changes: Changes) -> None:
        self._again.set()

    async def _look(self, *, is_old: bool) -> None:
        names = await self._lane.run(_pairs_in, self._folder)
        for name in [each for each in self._open if each not in names]:
            await self._open.pop(name).lines.close(GONE)
        for name in [each for each in names if each not in self._open][:max(0, PAIRS_MOST - len(self._open))]:
            pair = self._new_pair(name)
            if pair is not None:
                self._open[name] = pair
                await pair.start(is_old=is_old)
        for name, pair in list(self._open.items()):
            if not await pair.look():
                del self._open[name]

    def _new_pair(self, name: str) -> _Pair | None:
        line = server_line(self._spec.line.dialect)
        if line is None:
            return None
        pair = _Pair(self._folder / name, line, self._store, self._lane, self._again)
        pair.lines = SessionLines(self._hub, self._spec, self._sessions, line, pair.send)
        return pair

    def _store(self) -> AgentStore | None:
        return discovery.store_of(self._spec.store, catalog.expand(self._spec.paths.sessions, self._hub.environ))

    async def _hang_up(self) -> None:
        await asyncio.gather(*(pair.lines.close(STOPPED) for pair in self._open.values()), return_exceptions=True)


class _Pair:
    """One start of the program."""

    lines: SessionLines

    def __init__(self, folder: Path, line: ServerLine, store: FindStore, lane: Lane, again: asyncio.Event) -> None:
        self._folder = folder
        self._line = line
        self._lane = lane
        self._again = again
        self._program = _Owner(folder.name, store)
        self._position = 0
        self._rest = b""
        self._skips = False
        """Whether the beginning of this line was left out."""
        self._out: list[bytes] = []
        self._session_id = ""

    def send(self, message: bytes) -> None:
        """Have this written for the program."""
        self._out.append(message)
        self._again.set()

    async def start(self, *, is_old: bool) -> None:
        """Of one that is older than the hub: what session it has, and what it still asks."""
        if not is_old:
            return
        head, tail, self._position = await self._lane.run(_ends, self._folder / EVENTS)
        events = [event for line in (*head, *tail) for event in self._line.receive(line)]
        self._line.missed()
        self._take(_still_asked(events))

    async def look(self) -> bool:
        """Take what there is and write what waits; False: its program is gone, and so is the pair."""
        self.lines.begin_reading()
        for _ in range(PIECES):
            piece = await self._lane.run(_piece, self._folder / EVENTS, self._position)
            if not piece:
                break
            self._position += len(piece)
            self._take([event for line in self._whole_lines(piece) for event in self._line.receive(line)])
        else:
            self._again.set()
        out, self._out = self._out, []
        if out:
            await self._lane.run(_append, self._folder / INPUT, b"".join(out))
        self.lines.settle()
        if await self._lane.run(self._program.is_there, self._session_id):
            return True
        await self.lines.close(GONE)
        await self._lane.run(_take_away, self._folder)
        return False

    def _whole_lines(self, piece: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if lines and self._skips:
            lines, self._skips = lines[1:], False
        if len(self._rest) > LINE_MOST:
            self._rest, self._skips = b"", True
        return lines

    def _take(self, events: Iterable[ServerEvent]) -> None:
        for event in events:
            if isinstance(event, Appeared):
                self._session_id = event.session_id
            elif isinstance(event, Told) and not self.lines.knows(event.session_id):
                self.lines.take(Appeared(event.session_id))  # it had no file when it was looked for
            try:
                self.lines.take(event)
            except asyncio.QueueFull:
                log.info("a program tells more than can be taken: its session's file says it")


class _Owner:
    """The program of a pair, as far as it is known: by its own record of itself, else the shell that started it. Another program
    may have the same session: one that this shell has not started is not it."""

    def __init__(self, name: str, store: FindStore) -> None:
        shell = name.partition(".")[0]
        self._shell = int(shell) if is_whole_number(shell) else 0
        self._store = store
        self._pid = 0
        self._began: int | None = None
        self._looks = 0

    def is_there(self, session_id: str) -> bool:
        """Whether it still runs. It looks at the disk."""
        if not self._pid and session_id and self._looks % KNOW_LOOKS == 0:
            store = self._store()
            found = store.find(session_id) if store is not None else None
            if found is not None and found.pid and self._shell in with_ancestors(found.pid):
                self._pid, self._began = found.pid, start_time(found.pid)
        self._looks += 1
        if self._pid:
            return self._began is not None and start_time(self._pid) == self._began
        return is_running(self._shell)


def _still_asked(events: list[ServerEvent]) -> list[ServerEvent]:
    """The session that there is, and what it asks and nobody has answered."""
    sessions = [event for event in events if isinstance(event, Appeared)]
    asks: dict[str, ServerEvent] = {}
    for event in events:
        if isinstance(event, Told) and isinstance(event.event, Asks):
            asks[event.event.key] = event
        elif isinstance(event, Told) and isinstance(event.event, AskOver):
            asks.pop(event.event.key, None)
    return [*sessions[-1:], *asks.values()]


def _pairs_in(folder: Path) -> list[str]:
    """The pairs that are there: folders of this user's, with both files."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False)
                          and entry.stat(follow_symlinks=False).st_uid == os.getuid()
                          and all(os.path.isfile(os.path.join(entry.path, name)) for name in (EVENTS, INPUT)))
    except OSError:
        return []


def _piece(path: Path, position: int) -> bytes:
    """What is behind a position; nothing where nothing is, or the file is gone."""
    try:
        with open_plain(str(path)) as file:
            file.seek(position)
            return file.read(PIECE)
    except OSError:
        return b""


def _ends(path: Path) -> tuple[list[bytes], list[bytes], int]:
    """The first line of a file, its last ones, and the position behind them."""
    try:
        with open_plain(str(path)) as file:
            head = file.read(PIECE).partition(b"\n")
            file.seek(0, os.SEEK_END)
            begin = max(len(head[0]) + 1, file.tell() - OLD_BYTES)
            file.seek(begin)
            tail, end, _ = file.read(OLD_BYTES).rpartition(b"\n")
    except OSError:
        return [], [], 0
    if not head[1]:
        return [], [], 0
    return [head[0]], tail.split(b"\n") if end else [], begin + len(tail) + len(end)


def _append(path: Path, content: bytes) -> None:
    """Add to the file that the program reads; one that is gone is nobody's to make."""
    with suppress(OSError):
        with open_plain_end(path) as file:
            file.write(content)


def _take_away(folder: Path) -> None:
    """Take a pair away, and nothing else."""
    for name in (EVENTS, INPUT):
        with suppress(OSError):
            os.unlink(folder / name)
    with suppress(OSError):
        os.rmdir(folder)
