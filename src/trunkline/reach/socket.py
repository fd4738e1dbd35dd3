"""The hub's socket for hooks and plugins: one connection for each call, closed by whoever has nothing more to say.

Rule 1: the file is its owner's alone (0600, in a folder that is 0700), and whoever connects has to be the same user.
Rule 2: a call is a line and a body of the length that the line says; an answer is the same. End of file is the end of an ask,
from either side: what is not answered has no answer.
A hook that asks gives up soon, unless it is told first that a person is waited for.
Rule 3: bounded in number, size and time: what is beyond is closed at once, and that is "no opinion".
Rule 4: a call of the kind ``line`` stays open: behind it lines go both ways, for as long as the program runs that holds it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from trunkline.dialects.outside import is_whole_number
from trunkline.reach.trunkline_hook import INPUT_MOST, PATH_MOST, VERSION, WAITS

SOCKET_FILE: Final = "hooks.sock"
CALLS_MOST: Final = 256
"""Connections at once, those that wait for a person included: each holds a descriptor."""
CALLS_BYTES: Final = 32 << 20
"""What they say together: each is held as long as it is served, and read it may take some twenty times as much memory."""
HEAD_MOST: Final = 400
"""Bytes of a call's first line."""
READ_S: Final = 5.0
"""How long a call may take to say all that it says; a hook writes it in one go."""

LINE: Final = "line"
PIECE: Final = 64 << 10
UNREAD_MOST: Final = 4 << 20
"""Bytes that whoever holds a line has not read yet; one that reads nothing is hung up on."""

log = logging.getLogger("trunkline.reach")

Gone = asyncio.Future[None]
"""Done when whoever called hung up."""


class Call(NamedTuple):
    """What a hook handed over."""

    agent: str
    kind: str
    pid: int
    body: bytes
    waits: Callable[[], None] = lambda: None
    """Tells whoever called that a person is to answer, and that this takes as long as it takes."""


Take = Callable[[Call, Gone], Awaitable[bytes]]
"""Serves a call; what it returns is the answer, where it is anything."""


class Wire:
    """A line that is open: whole lines in, whole lines out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def lines(self) -> AsyncIterator[bytes]:
        """Each as it comes, without its end, until the other end hangs up or says one that is too long."""
        rest = bytearray()
        try:
            while piece := await self._reader.read(PIECE):
                *whole, last = piece.split(b"\n")
                for line in whole:
                    yield bytes(rest + line)
                    rest.clear()
                rest += last
                if len(rest) > INPUT_MOST:
                    return
        except OSError:
            return

    def send(self, line: bytes) -> None:
        """Say this; nothing, where nobody listens any more."""
        if self._writer.is_closing():
            return
        self._writer.write(line)
        if self._writer.transport.get_write_buffer_size() > UNREAD_MOST:
            self.hang_up()

    def hang_up(self) -> None:
        """Say and hear nothing more."""
        self._writer.transport.abort()


Hold = Callable[[Call, Wire], Awaitable[None]]
"""Serves a line until it ends."""


class HookSocket:
    """Listens in a data folder."""

    def __init__(self, folder: Path, take: Take, hold: Hold) -> None:
        self.path = folder / SOCKET_FILE
        self._take = take
        self._hold = hold
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._held = 0
        """Bytes of all calls that are served."""

    async def start(self) -> None:
        """Listen; a socket that an earlier hub left is replaced. Whoever calls holds the folder's lock."""
        listener = _bound(self.path)
        self._server = await asyncio.start_unix_server(self._connected, sock=listener)

    async def close(self) -> None:
        """Hang up on everybody."""
        if self._server is None:
            return
        self._server.close()
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        self.path.unlink(missing_ok=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._calls) >= CALLS_MOST or not is_same_user(writer):
            writer.close()
            return
        call = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = 0

        def has_room(size: int) -> bool:
            nonlocal taken
            if self._held + size > CALLS_BYTES:
                return False
            taken = size
            self._held += size
            return True

        try:
            call = await _read_call(reader, has_room)
            if call is not None:
                await self._serve_call(call, reader, writer)
        except Exception:  # the call's boundary: whoever called has no opinion then
            log.exception("a hook could not be served")
        finally:
            self._held -= taken
            writer.close()

    async def _serve_call(self, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if call.kind == LINE:
            await self._hold(call._replace(pid=peer_of(writer)[0] or call.pid), Wire(reader, writer))
            return
        answer = await self._answer(call._replace(waits=partial(writer.write, WAITS)), reader)
        if answer:
            writer.write(b"trunkline %s %d\n" % (VERSION.encode(), len(answer)) + answer)

    async def _answer(self, call: Call, reader: asyncio.StreamReader) -> bytes:
        gone = asyncio.ensure_future(_hung_up(reader))
        try:
            return await self._take(call, gone)
        finally:
            gone.cancel()


async def _hung_up(reader: asyncio.StreamReader) -> None:
    """Whoever called has nothing to say behind the call: anything that comes is its end."""
    try:
        await reader.read(1)
    except OSError:
        return


async def _read_call(reader: asyncio.StreamReader, has_room: Callable[[int], bool]) -> Call | None:
    """The call; None where it is none, is too long, finds no room, or does not come whole in time."""
    try:
        async with asyncio.timeout(READ_S):
            head = read_head(await reader.readuntil(b"\n"))
            if head is None:
                return None
            agent, kind, pid, size = head
            if not has_room(size):
                return None
            return Call(agent, kind, pid, await reader.readexactly(size))
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        return None


def read_head(line: bytes) -> tuple[str, str, int, int] | None:
    """Agent, kind, process id and size in a call's first line; None where it is of another version, or nonsense."""
    words = line[:HEAD_MOST + 1].decode("ascii", "replace").split(" ")
    if len(line) > HEAD_MOST or len(words) != 6 or words[:2] != ["trunkline", VERSION] or not words[5].endswith("\n"):
        return None
    pid, size = words[4], words[5][:-1]
    if not (is_whole_number(pid) and is_whole_number(size)) or int(size) > INPUT_MOST:
        return None
    return words[2], words[3], int(pid), int(size)


def is_same_user(writer: asyncio.StreamWriter) -> bool:
    """Whether whoever connected is our own user; where the system does not say, the file's mode has to do."""
    return peer_of(writer)[1] in (None, os.getuid())


def peer_of(writer: asyncio.StreamWriter) -> tuple[int, int | None]:
    """The process that connected, and its user: 0 and None where the system does not say, a user that is none where it fails."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0, None
    link = writer.get_extra_info("socket")
    try:
        pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    except OSError:
        return 0, -1
    return pid, user


def _bound(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with Short(path) as address:
            listener.bind(address)
        path.chmod(0o600)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


class Short:
    """An address for a socket's path that is short enough for the system, while this is entered."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder: int | None = None

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= PATH_MOST:
            return str(self._path)
        self._folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._folder}/{self._path.name}"

    def __exit__(self, *error: object) -> None:
        if self._folder is not None:
            os.close(self._folder)
