"""The line to a program that serves all its terminals by one socket: WebSocket, a message a frame.

Rule 1: it is tried whenever something happens where the socket is, and again after a while; a program that is not there costs
nothing. Whatever goes wrong, its sessions are followed by their files.
Rule 2: bounded in size, and in what waits on either way: beyond, the connection is closed and opened anew.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.elsewhere.lines import ServerLine, server_line
from trunkline.discovery.notice import Changes, listen
from trunkline.errors import Unavailable
from trunkline.hub import Hub
from trunkline.reach.lines.line_sessions import SessionLines
from trunkline.reach.lines.live import LOST
from trunkline.reach.lines.program_socket import connect_to
from trunkline.reach.sessions import TerminalSessions
from trunkline.threads import Lane

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

MESSAGE_MOST: Final = 16 << 20
"""Bytes of one message."""
OUT_MOST: Final = 1000
"""Messages that wait to be sent."""
AGAIN_S: Final = 0.5
AGAIN_MOST_S: Final = 2.0
"""How long it waits after a failure, and after many."""
OPEN_S: Final = 5.0
STOPPED: Final = "the hub no longer listens; it asks in its terminal"

log = logging.getLogger("trunkline.reach")


class ServerConnection:
    """Keeps one program's line open, as long as there is a program."""

    def __init__(self, hub: Hub, spec: AgentSpec, sessions: TerminalSessions) -> None:
        self._hub = hub
        self._spec = spec
        self._sessions = sessions
        self._lane = Lane(1)
        self._again = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Hang up."""
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _run(self) -> None:
        path = catalog.expand(self._spec.line.socket, self._hub.environ)
        if path is None:
            return
        unlisten = listen(os.path.dirname(path), self._noticed)
        failures = 0
        try:
            while True:
                self._again.clear()
                failures = 0 if await self._serve(path) else failures + 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(AGAIN_S * 2 ** min(failures, 10), AGAIN_MOST_S)):
                        await self._again.wait()
                        failures = 0  # it is coming: the next look is soon
        finally:
            unlisten()

    def _noticed(self, changes: Changes) -> None:
        self._again.set()

    async def _serve(self, path: str) -> bool:
        """The line's boundary: whatever goes wrong in it, it is opened anew. Whether it was open at all."""
        try:
            return await self._try(path)
        except Exception:
            log.exception("the line to %s failed", self._spec.name)
            return False

    async def _try(self, path: str) -> bool:
        """Open the line and serve it to its end; whether it was open at all."""
        line = server_line(self._spec.line.dialect)
        if line is None:
            return False
        try:
            async with asyncio.timeout(OPEN_S):
                wire = await self._open(path)
        except (OSError, Unavailable) as error:  # TimeoutError is an OSError
            log.debug("no line to %s: %s", self._spec.name, error)
            return False
        talk = _Talk(self._hub, self._spec, self._sessions, line, wire)
        try:
            return await talk.run()
        finally:
            await asyncio.shield(talk.close())

    async def _open(self, path: str) -> ClientConnection:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        link = await self._lane.run(connect_to, path)
        try:
            return await connect("ws://localhost/", sock=link, compression=None, max_size=MESSAGE_MOST, open_timeout=OPEN_S,
                                 ping_interval=None, proxy=None)
        except WebSocketException as error:
            raise OSError(f"no WebSocket: {error}") from error
        except BaseException:
            link.close()
            raise


class _Talk:
    """One connection, from its first message to its last."""

    def __init__(self, hub: Hub, spec: AgentSpec, sessions: TerminalSessions, line: ServerLine, wire: ClientConnection) -> None:
        self._spec = spec
        self._line = line
        self._wire = wire
        self._out: asyncio.Queue[bytes] = asyncio.Queue(OUT_MOST)
        self._lines = SessionLines(hub, spec, sessions, line, self.send)
        self._is_stopped = True

    async def run(self) -> bool:
        """Talk until somebody hangs up; whether anything was said at all."""
        from websockets.exceptions import WebSocketException

        for message in self._line.opening():
            self.send(message)
        writing, heard = asyncio.create_task(self._write()), False
        try:
            while True:
                message = await self._wire.recv(decode=False)
                heard = True
                for event in self._line.receive(message):
                    self._lines.take(event)
        except (WebSocketException, OSError, asyncio.QueueFull) as error:
            log.info("the line to %s was lost: %s", self._spec.name, error)
            self._is_stopped = False
            return heard
        finally:
            writing.cancel()

    async def close(self) -> None:
        """Hang up; sessions are followed by their files from now on."""
        await self._lines.close(STOPPED if self._is_stopped else LOST)
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(1.0):
                await self._wire.close()

    def send(self, message: bytes) -> None:
        """Have this sent; where too much waits, nothing is, and the connection is closed."""
        try:
            self._out.put_nowait(message)
        except asyncio.QueueFull:
            self._wire.transport.abort()

    async def _write(self) -> None:
        from websockets.exceptions import WebSocketException

        with suppress(WebSocketException, OSError):
            while True:
                message = await self._out.get()
                await self._wire.send(message, text=True)
