"""Our ends of a child's pipes: bytes to its stdin, bytes from its stdout and stderr.

Rule 1: writing never blocks; who has much to write waits with ``wait_writable``, which also ends when the child does. What the
child has not taken waits here as it was given, without a copy; at most INPUT_MOST of it.
Rule 2: what a child wrote before its end can be taken at once, without waiting for the end of the pipe: a grandchild may hold
it open for ever.
Rule 3: both asyncio's own loop and uvloop serve these; neither adds a buffer between the kernel's and us.
Rule 4: a descriptor is closed once. Its number is anybody's a moment later: closed twice, it takes a client's connection, or a
file that another thread has just opened, with it.
Rule 5: very many lines that came at once are delivered in turns: each is work for whoever reads it, however short it is. Nothing
more is read until all are. (What a child left at its end is taken at once: it is no more than a pipe holds.)
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import termios
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final, cast

INPUT_BUFFER: Final = 1 << 20
"""Bytes that may wait for a child to read before the writer has to wait."""

INPUT_MOST: Final = 128 << 20
"""Bytes that wait for a child to read. One prompt (48 MiB of images) and one file (64 MiB) fit; who lets more pile up does not
read."""

PIECE_COST: Final = 256
"""What each write that waits costs beside its bytes."""

WRITE_SIZE: Final = 256 << 10
"""Bytes that the loop is given at once: what the pipe does not take, the loop copies."""

READ_SIZE: Final = 256 * 1024

LINES_AT_ONCE: Final = 2000
"""Lines that are delivered at once; 64 KiB of text that is streamed word by word have 400. To find 2,000 of them to be no
messages takes some 10 ms."""

TURN_BYTES: Final = 2 * LINES_AT_ONCE
"""Bytes of a turn where there are more lines: so few that there are not too many lines in them, but for empty ones."""


class _Handed:
    """A pipe on its way to a loop, which closes it.

    uvloop closes the descriptor itself and then the file that it came in, which would close the same number again; asyncio's own
    loops close the file only. So the loop gets a number of its own, and a file that knows who closes it.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._number = os.dup(pipe.fileno())
        pipe.close()
        self._closes = isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop)
        self.closed = False

    def fileno(self) -> int:
        """The loop's number."""
        return self._number

    def close(self) -> None:
        """The loop has done with it."""
        if not self.closed:
            self.closed = True
            if self._closes:
                os.close(self._number)


class InputPipe(asyncio.BaseProtocol):
    """Our end of a child's stdin."""

    def __init__(self, ended: Callable[[], None], overflowed: Callable[[], None] = lambda: None) -> None:
        """``overflowed``: more than INPUT_MOST waits; it is called once, and nothing more is taken."""
        self._ended = ended
        self._overflowed = overflowed
        self._queue: deque[memoryview] = deque()
        self._queued = 0
        self._is_over = self._closing = False
        self._transport: asyncio.WriteTransport | None = None
        self._is_writable = True
        self._free = asyncio.Event()
        self._free.set()

    async def connect(self, pipe: IO[bytes]) -> None:
        """Be ready to write."""
        await asyncio.get_running_loop().connect_write_pipe(lambda: self, _Handed(pipe))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, since another loop's transports need not derive from asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.set_write_buffer_limits(high=INPUT_BUFFER, low=WRITE_SIZE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._forget()
        self._ended()

    def pause_writing(self) -> None:
        self._is_writable = False
        self._free.clear()

    def resume_writing(self) -> None:
        self._is_writable = True
        # Not at once: asyncio's own transport is in the middle of its work, and would not notice what it is given now.
        asyncio.get_running_loop().call_soon(self._feed)

    @property
    def waiting(self) -> int:
        """Bytes written that the child has not taken yet."""
        return self._queued + self._transport.get_write_buffer_size() if self._transport else 0

    def write(self, data: bytes) -> None:
        """Send bytes; to a child that is gone or going they go nowhere."""
        if self._transport is None or self._transport.is_closing() or self._closing or self._is_over:
            return
        if not self._queue and len(data) <= WRITE_SIZE and self._is_writable:
            self._transport.write(data)
        elif self.waiting + len(data) + len(self._queue) * PIECE_COST > INPUT_MOST:
            self._is_over = True
            self._overflowed()
        else:
            self._queue.append(memoryview(data))
            self._queued += len(data)
            self._feed()

    def _feed(self) -> None:
        """Give the loop what waits, as far as it takes it."""
        while self._queue and self._is_writable and self._transport is not None:
            piece = self._queue.popleft()
            if len(piece) > WRITE_SIZE:
                self._queue.appendleft(piece[WRITE_SIZE:])
                piece = piece[:WRITE_SIZE]
            self._queued -= len(piece)
            self._transport.write(piece)
        if self._is_writable and not self._queue:
            self._free.set()
        else:
            self._free.clear()
        if self._closing and not self._queue and self._transport is not None:
            self._transport.close()

    def _forget(self) -> None:
        self._queue.clear()
        self._queued = 0
        self._free.set()

    async def wait_writable(self, limit_s: float) -> bool:
        """Wait until more may be written; False when the child did not read for so long."""
        while not self._free.is_set():
            before = self.waiting
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._free.wait()
                    continue
            if self.waiting >= before:
                return False
        return True

    def close(self) -> None:
        """End of input, after what waits was read."""
        self._closing = True
        self._feed()

    def abort(self) -> None:
        """End of input now; whoever waits to write goes on."""
        # One that is closed with nothing left to write is on its way already; asyncio's own does not take a second end.
        if self._transport is not None and (not self._transport.is_closing() or self._transport.get_write_buffer_size()):
            self._transport.abort()
        self._forget()


class OutputPipe(asyncio.Protocol):
    """Our end of a child's stdout or stderr; holds what comes until ``start``."""

    def __init__(self, deliver: Callable[[bytes], None], ended: Callable[[], None] | None = None) -> None:
        self._deliver = deliver
        self._ended = ended
        self._held: list[bytes] | None = []
        self._pipe: _Handed | None = None
        self._transport: asyncio.ReadTransport | None = None
        self._undelivered = b""
        self._turn: asyncio.Handle | None = None
        self._is_paused = False

    async def connect(self, pipe: IO[bytes]) -> None:
        """Begin to read."""
        self._pipe = _Handed(pipe)
        await asyncio.get_running_loop().connect_read_pipe(lambda: self, self._pipe)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.ReadTransport", transport)

    def start(self) -> None:
        """Deliver from now on, what came until now first."""
        held, self._held = self._held or [], None
        if self._is_paused:
            self._undelivered = b"".join(held)
        elif held:
            self.data_received(b"".join(held))

    def data_received(self, data: bytes) -> None:
        if self._held is not None:
            self._held.append(data)
        elif not self._undelivered and (len(data) <= TURN_BYTES or data.count(b"\n") <= LINES_AT_ONCE):
            self._deliver(data)
        else:
            self._undelivered += data
            self._go_on()

    def _go_on(self) -> None:
        """Take a turn for what is left; read on where nothing is."""
        if self._is_paused or self._transport is None:
            return
        if self._undelivered:
            self._transport.pause_reading()
            self._turn = self._turn or asyncio.get_running_loop().call_soon(self._deliver_some)
        else:
            self._transport.resume_reading()

    def _deliver_some(self) -> None:
        self._turn = None
        if self._is_paused:
            return
        some, self._undelivered = self._undelivered[:TURN_BYTES], self._undelivered[TURN_BYTES:]
        self._deliver(some)
        self._go_on()

    def _deliver_rest(self) -> None:
        rest, self._undelivered = self._undelivered, b""
        if rest:
            self._deliver(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deliver_rest()
        was_open, self._transport = self._transport, None
        if was_open and self._ended:
            self._ended()

    def pause(self) -> None:
        """Stop reading; the pipe fills and the child waits."""
        self._is_paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._is_paused = False
        self._go_on()

    def take_waiting(self) -> None:
        """Deliver what is in the pipe now. Bounded: a grandchild that goes on writing cannot keep us here."""
        self._deliver_rest()
        if self._transport is None or self._pipe is None or self._pipe.closed:
            return
        waiting = _bytes_in(self._pipe)
        while waiting > 0:
            data = self._read(min(waiting, READ_SIZE))
            if not data:
                return
            waiting -= len(data)
            self._deliver(data)

    def finish(self) -> None:
        """Deliver what is in the pipe now and close it."""
        if self._transport is None:
            return
        try:
            self.take_waiting()
        finally:
            transport, self._transport = self._transport, None
            transport.close()

    def _read(self, size: int) -> bytes:
        assert self._pipe is not None
        with suppress(BlockingIOError):
            return os.read(self._pipe.fileno(), size)
        return b""


def _bytes_in(pipe: _Handed) -> int:
    answer = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4))
    return int.from_bytes(answer, sys.byteorder)
