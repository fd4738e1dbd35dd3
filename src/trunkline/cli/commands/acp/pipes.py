"""Our own stdin and stdout, whatever the editor made them: pipes, sockets, a terminal, a file.

Rule 1: reading never blocks the loop; a thread reads. A line comes as soon as it is whole.
Rule 2: writing waits while the editor does not read, and the loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections.abc import AsyncIterator

from trunkline.dialects.jsonrpc import LineSplitter

READ_BYTES = 1 << 18
AHEAD = 64
"""Reads that may wait for the loop; then the thread waits, and the editor with it."""


class CutLine(bytes):
    """The beginning of a line that is too long to be taken."""


async def stdin_lines() -> AsyncIterator[bytes]:
    """Every line of stdin, until its end. A last line without a line break counts. Of one that is too long, a CutLine."""
    loop = asyncio.get_running_loop()
    reads: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)

    def read() -> None:
        data = b"."
        while data:
            room.acquire()
            try:
                data = os.read(0, READ_BYTES)
            except OSError:
                data = b""  # a terminal that went away ends like a pipe
            try:
                loop.call_soon_threadsafe(reads.put_nowait, data)
            except RuntimeError:
                return  # the loop is closed: nobody reads any more

    threading.Thread(target=read, name="stdin", daemon=True).start()
    splitter = LineSplitter()
    while data := await reads.get():
        room.release()
        for line in _taken(splitter, splitter.feed(data)):
            yield line
    for line in _taken(splitter, splitter.flush()):
        yield line


def _taken(splitter: LineSplitter, lines: list[bytes]) -> list[bytes]:
    if splitter.cut:
        lines = [CutLine(line) if index in splitter.cut else line for index, line in enumerate(lines)]
    return [line for line in lines if line.strip()]


class EditorLeft(Exception):
    """Nobody reads what we write any more."""


class Stdout:
    """Bytes to the editor."""

    def __init__(self, writer: asyncio.StreamWriter | None) -> None:
        self._writer = writer

    @classmethod
    async def open(cls) -> Stdout:
        """Take over stdout."""
        mode = os.fstat(sys.stdout.fileno()).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return cls(None)
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout.buffer)
        return cls(asyncio.StreamWriter(transport, protocol, None, loop))

    async def write(self, data: bytes) -> None:
        """Write; returns when more can be taken."""
        try:
            if self._writer is None:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
                return
            self._writer.write(data)
            await self._writer.drain()
        except (BrokenPipeError, ConnectionResetError):
            raise EditorLeft from None

    async def close(self) -> None:
        """Give stdout back as it was: others may share it."""
        if self._writer is not None:
            try:
                await self._writer.drain()
            except ConnectionError:
                return  # nobody reads any more
