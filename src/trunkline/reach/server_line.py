"""The line to a program that serves all its terminals by one socket: WebSocket, a message a frame.

Rule 1: it is tried whenever something happens where the socket is, and again after a while; a program that is not there costs
nothing. Whatever goes wrong, its sessions are followed by their files.
Rule 2: bounded in size, and in what waits on either way: beyond, the connection is closed and opened anew.
Rule 3: what a session told before it was found waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from trunkline.agents import catalog
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.acp.content import ContentBlock, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.lines import Appeared, LineEvent, Send, ServerEvent, ServerLine, Told, Vanished, server_line
from trunkline.discovery.notice import Changes, listen
from trunkline.errors import Invalid, Unavailable, Unsupported
from trunkline.hub import Hub
from trunkline.reach.live import EVENTS_MOST, LOST, LiveLine
from trunkline.reach.program_socket import connect_to
from trunkline.reach.sessions import TerminalSessions
from trunkline.session.driver.elsewhere import Answered, Decided
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
                failures = 0 if await self._try(path) else failures + 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(AGAIN_S * 2 ** min(failures, 10), AGAIN_MOST_S)):
                        await self._again.wait()
                        failures = 0  # it is coming: the next look is soon
        finally:
            unlisten()

    def _noticed(self, changes: Changes) -> None:
        self._again.set()

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


class _Waiting:
    """A session that is looked for; what it told meanwhile."""

    def __init__(self) -> None:
        self.told: list[LineEvent] = []
        self.task: asyncio.Task[None] | None = None


class _Talk:
    """One connection, from its first message to its last."""

    def __init__(self, hub: Hub, spec: AgentSpec, sessions: TerminalSessions, line: ServerLine, wire: ClientConnection) -> None:
        self._hub = hub
        self._spec = spec
        self._sessions = sessions
        self._line = line
        self._wire = wire
        self._out: asyncio.Queue[bytes] = asyncio.Queue(OUT_MOST)
        self._lines: dict[str, LiveLine | _Waiting] = {}
        self._closing: set[asyncio.Task[None]] = set()
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
                    self._take(event)
        except (WebSocketException, OSError, asyncio.QueueFull) as error:
            log.info("the line to %s was lost: %s", self._spec.name, error)
            self._is_stopped = False
            return heard
        finally:
            writing.cancel()

    async def close(self) -> None:
        """Hang up; sessions are followed by their files from now on."""
        why = STOPPED if self._is_stopped else LOST
        waiting = [each.task for each in self._lines.values() if isinstance(each, _Waiting) and each.task is not None]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, *self._closing, return_exceptions=True)
        lines = [each for each in self._lines.values() if isinstance(each, LiveLine)]
        await asyncio.gather(*(line.close(why) for line in lines), return_exceptions=True)
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

    def _take(self, event: ServerEvent) -> None:
        match event:
            case Send():
                self.send(event.message)
            case Appeared() if event.session_id not in self._lines:  # one that could not be joined at once appears again
                waiting = self._lines[event.session_id] = _Waiting()
                waiting.task = asyncio.create_task(self._join(event.session_id, waiting))
            case Vanished():
                gone = self._lines.pop(event.session_id, None)
                if isinstance(gone, LiveLine):
                    self._close_soon(gone)
            case Told():
                self._on_told(event)

    def _on_told(self, event: Told) -> None:
        line = self._lines.get(event.session_id)
        if isinstance(line, LiveLine):
            if not line.take(event.event):
                raise asyncio.QueueFull
        elif line is not None and len(line.told) < EVENTS_MOST:
            line.told.append(event.event)

    def _close_soon(self, line: LiveLine) -> None:
        task = asyncio.create_task(line.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _join(self, session_id: str, waiting: _Waiting) -> None:
        """Find the session that a thread is, and hand it what was told meanwhile."""
        session = await self._sessions.find(self._spec, session_id)
        if self._lines.get(session_id) is not waiting:
            return
        if session is None:
            del self._lines[session_id]
            return
        self._lines[session_id] = LiveLine(self._hub, session, _End(self, self._line, session_id), waiting.told)


class _End:
    """Implements ``Program``: one session's end of the connection."""

    def __init__(self, talk: _Talk, line: ServerLine, session_id: str) -> None:
        self._talk = talk
        self._line = line
        self._session_id = session_id

    def decided(self, key: str, decided: Decided) -> str:
        """Answer an ask."""
        message, words = self._line.decided(self._session_id, key, decided.option_id, decided.reason)
        self._send(message)
        return words

    def answered(self, key: str, answered: Answered) -> None:
        """Answer a question."""
        self._send(self._line.answered(self._session_id, key, answered.action, answered.content))

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """It takes text."""
        text_of(blocks)

    def prompt(self, turn_id: str, blocks: Sequence[msgspec.Raw]) -> None:
        """Begin a turn."""
        self._send(self._line.prompt(self._session_id, turn_id, text_of(blocks)))

    def cancel(self) -> None:
        """Interrupt the turn, where it is known."""
        self._send(self._line.cancel(self._session_id))

    def _send(self, message: bytes | None) -> None:
        if message is not None:
            self._talk.send(message)


def text_of(blocks: Sequence[msgspec.Raw]) -> str:
    """The words of a prompt that has nothing else."""
    texts: list[str] = []
    for raw in blocks:
        try:
            block = read_lenient(bytes(raw), ContentBlock)
        except Invalid as error:
            raise Unsupported(f"this session takes text alone: {error.message}") from None
        if not isinstance(block, TextContent):
            raise Unsupported("this session takes text alone: its program runs elsewhere")
        texts.append(block.text)
    return "\n".join(texts)
