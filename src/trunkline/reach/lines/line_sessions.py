"""The sessions that a program tells of by its live line, whatever carries that: each found, and handed what is told of it.

Rule: what a session told before it was found waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.acp.content import ContentBlock, TextContent
from trunkline.dialects.acp.reading.lenient import read_lenient
from trunkline.dialects.elsewhere.lines import Appeared, LineEvent, Send, ServerEvent, ServerLine, Told, Vanished
from trunkline.errors import Invalid, Unsupported
from trunkline.reach.foreign import others_decide
from trunkline.reach.lines.live import EVENTS_MOST, TOLD_BYTES, LiveLine, weight_of
from trunkline.reach.sessions import TerminalSessions
from trunkline.session.driver.elsewhere import Answered, Decided
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.hub import Hub


class _Waiting:
    """A session that is looked for; what it told meanwhile."""

    def __init__(self) -> None:
        self.told: list[LineEvent] = []
        self.told_bytes = 0
        self.task: asyncio.Task[None] | None = None


class SessionLines:
    """The sessions of one program."""

    def __init__(self, hub: Hub, spec: AgentSpec, sessions: TerminalSessions, line: ServerLine,
                 send: Callable[[bytes], None]) -> None:
        """``send`` has the program told something; it neither waits nor raises."""
        self._hub = hub
        self._spec = spec
        self._sessions = sessions
        self._line = line
        self._send = send
        self._lines: dict[str, LiveLine | _Waiting] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._lane = Lane(1)

    async def close(self, why: str) -> None:
        """The program is gone, or is not listened to any more; its sessions are followed by their files from now on."""
        waiting = [each.task for each in self._lines.values() if isinstance(each, _Waiting) and each.task is not None]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, *self._closing, return_exceptions=True)
        lines = [each for each in self._lines.values() if isinstance(each, LiveLine)]
        await asyncio.gather(*(line.close(why) for line in lines), return_exceptions=True)

    def knows(self, session_id: str) -> bool:
        """Whether a session is found, or looked for."""
        return session_id in self._lines

    def begin_reading(self) -> None:
        """What the program tells is read now; it is no older than the reading before."""
        for line in self._lines.values():
            if isinstance(line, LiveLine):
                line.begin_reading()

    def settle(self) -> None:
        """Take back what was asked about calls that have ended, by the sessions' files."""
        for line in self._lines.values():
            if isinstance(line, LiveLine):
                line.settle()

    def take(self, event: ServerEvent) -> None:
        """The program told this; QueueFull where that is more than can be taken."""
        match event:
            case Send():
                self._send(event.message)
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
        elif line is not None and len(line.told) < EVENTS_MOST and line.told_bytes + weight_of(event.event) <= TOLD_BYTES:
            line.told.append(event.event)
            line.told_bytes += weight_of(event.event)

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
        others = partial(others_decide, self._hub, self._lane, self._spec, self._line, session.fold.cwd)
        self._lines[session_id] = LiveLine(self._hub, session, _End(self._send, self._line, session_id), waiting.told, others)


class _End:
    """Implements ``Program``: one session's end of the line."""

    def __init__(self, send: Callable[[bytes], None], line: ServerLine, session_id: str) -> None:
        self._out = send
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
            self._out(message)


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
