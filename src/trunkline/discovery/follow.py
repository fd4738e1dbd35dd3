"""One session's file, from a position on and further as it grows.

Rule 1: only whole lines count. What follows the last line end is a write in progress and is read again with the rest of it.
Rule 2: a position is handed over with what was read up to it, so that whoever stores both can go on from there exactly.
Rule 3: a file that became shorter than the position was written anew; it is reported, and followed from where it ends now.
"""

from __future__ import annotations

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from trunkline.dialects.notes import CustomNote
from trunkline.dialects.signals import Signal
from trunkline.discovery.base import TranscriptReading
from trunkline.discovery.notice import Changes, listen
from trunkline.disk.reading import open_plain
from trunkline.errors import Unavailable
from trunkline.threads import Lane

log = logging.getLogger("trunkline.discovery")

PIECE = 256 << 10
SETTLE_S = 0.5
"""How long a new watch may take to begin."""

REMEMBERED = 1 << 20
"""Bytes before the position that the reader sees again after a restart."""

LINE_MOST = 64 << 20
"""A line longer than this is not taken into memory."""

OnSignals = Callable[[list[tuple[int, Signal]], int], None]
"""Takes signals with their times, and the position behind them."""
Prepare = Callable[[list[Signal]], Awaitable[None]]
OnPart = Callable[[str, int], None]
"""Takes the name of a file beside the session's own, and the position in it behind the signals that are handed over next."""


class Following(ABC):
    """Reads one session for one listener: what is there, and whatever comes."""

    def __init__(self, files: frozenset[str], folder: str, position: int, on_signals: OnSignals, prepare: Prepare | None) -> None:
        """``files`` are those whose changes are looked at, ``folder`` is what is watched for them, so that many share one watch.
        ``prepare`` is waited for with what is about to be handed over."""
        self.position = position
        self._files = files
        self._folder = folder
        self._on_signals = on_signals
        self._lane = Lane(1)
        self._prepare = prepare or _nothing
        self._again = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._following: asyncio.Task[None] | None = None
        self._unlisten: Callable[[], None] = lambda: None
        self._beginning: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read all that is there; from then on read whatever is added."""
        if self.position:
            await self._lane.run(self._remember)
        await self._begin()
        # The kernel reports files by their real paths.
        self._unlisten = listen(await self._lane.run(os.path.realpath, self._folder), self._noticed)
        loop = asyncio.get_running_loop()
        self._following = loop.create_task(self._follow())
        # Between the first reading and the watch's beginning something may have been added.
        loop.call_later(SETTLE_S, self._again.set)

    async def _begin(self) -> None:
        """Read all that is there; Unavailable where it is stopped meanwhile: it may be very long, or grow as it is read."""
        self._beginning = asyncio.get_running_loop().create_task(self.catch_up())
        try:
            await asyncio.wait((self._beginning,))
        finally:
            self._beginning.cancel()
        if self._beginning.cancelled():
            raise Unavailable(f"{sorted(self._files)[0]} is followed no more")
        self._beginning.result()

    def look_again(self) -> None:
        """There may be more."""
        self._again.set()

    async def caught_up(self) -> None:
        """All that is there now is handed over."""
        if self._following is not None and not self._following.done():
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(done)
            self._again.set()
            await done

    def hold(self, hold: bool) -> None:
        """Hand nothing over for a while, or go on."""
        if hold:
            self._flowing.clear()
        else:
            self._flowing.set()

    async def stop(self) -> None:
        """Read no more."""
        self._unlisten()
        if self._beginning is not None and not self._beginning.done():
            self._beginning.cancel()
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        for done in self._waiting:  # not cancelled: whoever waits would take it for their own end
            if not done.done():
                done.set_result(None)

    @abstractmethod
    async def catch_up(self) -> None:
        """Hand over all that is behind the position."""

    @abstractmethod
    def _remember(self) -> None:
        """Let the reader see again what is right before the position, and hand nothing over: calls that are still open, what a
        message has said already. It looks at the disk."""

    async def _hand_over(self, signals: list[tuple[int, Signal]], position: int) -> None:
        await self._prepare([signal for _, signal in signals])
        self.position = position
        self._on_signals(signals, position)

    def _noticed(self, changes: Changes) -> None:
        if not changes or any(path in self._files for _, path in changes):
            self._again.set()

    async def _follow(self) -> None:
        while True:
            await self._again.wait()
            self._again.clear()
            waiting, self._waiting = self._waiting, []
            try:
                await self.catch_up()
            except Unavailable as error:
                log.warning("%s is read again when something happens to it: %s", sorted(self._files)[0], error.message)
            finally:
                for done in waiting:
                    if not done.done():
                        done.set_result(None)


class Follower(Following):
    """Reads one file."""

    def __init__(self, path: str, reading: TranscriptReading, position: int, on_signals: OnSignals, *, folder: str | None = None,
                 prepare: Prepare | None = None) -> None:
        """``folder``: as for any; the file's own if absent."""
        super().__init__(frozenset({path}), folder or os.path.dirname(path), position, on_signals, prepare)
        self._path = path
        self._reading = reading

    async def catch_up(self) -> None:
        """Hand over every whole line behind the position."""
        rest = b""
        while True:
            await self._flowing.wait()
            piece = await self._lane.run(_read, self._path, self.position + len(rest))
            if isinstance(piece, int):
                self._written_anew(piece)
                return
            if not piece:
                break
            whole, end, rest = (rest + piece).rpartition(b"\n")
            if end:
                await self._take(whole)
            elif len(rest) > LINE_MOST:
                rest = self._skip(rest)
        settled = self._reading.settle()
        if settled:
            self._on_signals(settled, self.position)

    async def _take(self, lines: bytes) -> None:
        signals = await self._lane.run(self._read_lines, lines)
        await self._hand_over(signals, self.position + len(lines) + 1)

    def _read_lines(self, lines: bytes) -> list[tuple[int, Signal]]:
        return [timed for line in lines.split(b"\n") if line.strip() for timed in self._reading.line(line)]

    def _remember(self) -> None:
        """The lines right before the position."""
        begin = max(0, self.position - REMEMBERED)
        try:
            with open_plain(self._path) as file:
                file.seek(begin)
                piece = file.read(self.position - begin)
        except OSError:
            return
        for line in (piece if begin == 0 else piece.partition(b"\n")[2]).split(b"\n"):
            if line.strip():
                self._reading.line(line)
        self._reading.settle()

    def _skip(self, piece: bytes) -> bytes:
        """Leave out the beginning of a line that is too long; its end will be no whole line, and be reported as such."""
        self.position += len(piece)
        self._on_signals([(0, CustomNote("line_too_long", b'{"bytes":%d}' % len(piece)))], self.position)
        return b""

    def _written_anew(self, size: int) -> None:
        self.position = size
        self._on_signals([(0, CustomNote("file_replaced", b'{"size":%d}' % size))], size)


async def _nothing(signals: list[Signal]) -> None:
    """Nothing to prepare."""


def _read(path: str, position: int) -> bytes | int:
    """The next piece of a file; its size where it is shorter than that, 0 where it cannot be read any more."""
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size < position:
                return size
            file.seek(position)
            return file.read(PIECE)
    except OSError:
        return 0


def whole_lines(path: str) -> int:
    """How many bytes of a file are whole lines; 0 where it cannot be read."""
    try:
        with open_plain(path) as file:
            end = os.fstat(file.fileno()).st_size
            while end > 0:
                begin = max(0, end - PIECE)
                file.seek(begin)
                at = file.read(end - begin).rfind(b"\n")
                if at >= 0:
                    return begin + at + 1
                end = begin
    except OSError:
        return 0
    return 0
