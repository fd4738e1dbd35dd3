"""One session as one editor sees it: a position in the journal that becomes messages, in the journal's order.

Rule 1: an editor that stalls holds its position and the slice that it was being sent, nothing more.
Rule 2: while the editor stands at the end and takes what it is sent, the commit itself writes to it (``live.py``). It is looked
first whether it does: what is built is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.errors import HubStopping, SessionDeleted, TrunklineError, Unavailable
from trunkline.feeds.session import SLICE_BYTES
from trunkline.server.acp.attachment.asks import EditorAsks
from trunkline.server.acp.attachment.event_messages import EventMessages, ends_turn, puts_ask
from trunkline.server.acp.attachment.prompts import OpenPrompt, OpenPrompts
from trunkline.server.acp.attachment.updates import UpdateView
from trunkline.server.acp.connection import EditorLine
from trunkline.server.acp.tasks import Spawn
from trunkline.server.auth.tokens import TokenScope
from trunkline.server.live import called_live
from trunkline.server.websocket import PeerGone

if TYPE_CHECKING:
    from trunkline.hub import Session

CURSOR = "_trunkline/cursor"
"""The notification that says to an editor, which wanted it, where it is: ``{sessionId, seq}``."""

READS_S = 5.0
"""How long an editor that ends a session may take to read what is left of it."""

log = logging.getLogger("trunkline.server")

_encode = msgspec.json.Encoder().encode


class EditorAttachment:
    """One editor's place in one session. It is also the editor, as far as it serves the session's agent."""

    def __init__(self, session: Session, line: EditorLine, by: str, spawn: Spawn, *, scope: TokenScope,
                 stopping: Callable[[], bool]) -> None:
        self.session = session
        self.position = 0
        self.prompts = OpenPrompts(session, line, self, by, spawn)
        self._stopping = stopping
        self._line = line
        self._spawn = spawn
        self._view = UpdateView(session, self)
        self._asks = EditorAsks(session, line, self._view, by, spawn, scope)
        self._messages = EventMessages(self._view, self._asks, self.prompts)
        self._reader: asyncio.Task[None] | None = None
        self._rests = False
        """The reader waits for news, or for who reads what is kept, so that it can be ended without losing any."""
        self._halting = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self.opening = asyncio.Lock()
        """Held while the editor learns where it starts."""
        self._sent = 0
        self._sent_cursor = -1

    @property
    def offers(self) -> ClientCapabilities:
        """What the editor serves."""
        return self._line.offers

    async def call(self, method: str, params: bytes) -> bytes:
        """A request of the agent's to this editor."""
        return await self._line.call(method, params, self.session.id)

    @property
    def busy(self) -> bool:
        """Whether the editor waits for the answer to a prompt, or sends one."""
        return self.prompts.busy

    @property
    def following(self) -> bool:
        """Whether the editor is being sent what happens."""
        return self._reader is not None and not self._reader.done()

    def follow(self, after: int) -> None:
        """Send the editor what comes after a position, and ask it what is open."""
        self.position = self._sent = after
        self._halting = False
        self._reader = asyncio.create_task(self._read_on())

    async def rewind(self, after: int) -> None:
        """Send the editor again what comes after a position: it has lost what it was sent since."""
        await self.halt()
        self.prompts.reopen(after)
        self.follow(after)

    async def go_on(self) -> None:
        """Follow again where a replay was broken off."""
        await self.halt()
        self.follow(self.position)

    async def replay(self, after: int, until: int, stream: str | None, *, lost_since: int | None = None) -> None:
        """Send the editor what was, up to a position. What it waits for and has not been sent yet may be in there, too; and what
        it was sent, but says that it has lost."""
        followed = self.following
        await self.halt()
        known = self.position if followed else until
        if lost_since is not None and self.prompts.reopen(lost_since):
            known = min(known, lost_since)
        if after == 0:
            self._view.forget()
        position = after
        while position < until:
            entries = await self.session.feed.read(after=position, before=until + 1, max_bytes=SLICE_BYTES)
            if not entries:
                break
            position = entries[-1].seq
            lines = [line for entry in entries for line in self._messages.history(entry)]
            await self._send(lines, position, stream)
            answers = [line for entry in entries if entry.seq > known for line in self._messages.owed(entry)]
            if answers:
                self._spawn(self._line.send(answers, self.session.id))
            if followed:
                self.position = max(self.position, position)
            await asyncio.sleep(0)  # a long history must not keep the hub to itself
        self.position = until

    async def send_commands(self, until: int) -> None:
        """Send the agent's slash commands, as they were at a position, to an editor that is sent nothing else of what was."""
        seq = self.session.fold.commands_seq
        if 0 < seq <= until:
            entries = await self.session.feed.read(after=seq - 1, limit=1)
            lines = [line for entry in entries[:1] if entry.update is not None for line in self._view.lines(entry, live=True)]
            await self._line.send(lines, self.session.id)

    async def halt(self) -> None:
        """Send the editor nothing more than what is on its way; open prompts stay open."""
        self._halting = True
        if self._reader is not None:
            if self._rests:
                self._reader.cancel()
            await asyncio.wait([self._reader])
            self._reader = None

    async def end(self) -> None:
        """The editor leaves the session, or has left."""
        if self._reader is not None:
            self._reader.cancel()
        await self.halt()
        self.session.editors.left(self)

    async def reached(self, seq: int) -> None:
        """The editor was sent everything up to a position, or does not read."""
        if self._sent < seq and self.following:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((seq, waiter))
            await asyncio.wait([waiter], timeout=READS_S)

    async def prompt(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> None:
        """Send a prompt. Its turn may be over, where it was sent before, and the editor may know its end: then it is answered
        from the journal."""
        accepted = await self.prompts.send(prompt, blocks)
        if accepted is not None:
            await self._answer_late(prompt, accepted.turn_id, accepted.seq)

    async def _answer_late(self, prompt: OpenPrompt, turn_id: str, after: int) -> None:
        """Answer from the journal, where the editor is past the end of the turn."""
        position = after
        while entries := await self.session.feed.read(after=position, max_bytes=SLICE_BYTES):
            for entry in entries:
                if entry.update is None and ends_turn(entry, turn_id):
                    if entry.seq <= self.position and prompt in self.prompts:
                        await self._line.send(self._messages.event(entry), self.session.id)
                    return
            position = entries[-1].seq

    async def _read_on(self) -> None:
        try:
            await self._deliver(self._asks.everything())
            while not self._halting and await self._read_slice():
                pass
            if not self._halting and not self._stopping():
                await self._give_up()
        except (PeerGone, HubStopping):
            return  # who comes back finds everything
        except Exception as error:  # the reader's boundary: its editor must not wait for what will not come
            log.error("an editor's view of session %s failed", self.session.id, exc_info=error)
            await self._give_up(Unavailable("the hub failed to follow the session; its log says more"))
        finally:
            self._wake(None)

    async def _read_slice(self) -> bool:
        feed = self.session.feed
        if feed.last_seq <= self.position:
            self._rests = True
            try:
                await called_live(feed, self._write_live)
            finally:
                self._rests = False
        entries = await feed.read(after=self.position, max_bytes=SLICE_BYTES)
        if not entries:
            return not feed.closed or feed.last_seq > self.position
        lines = [line for entry in entries for line in self._messages.live(entry)]
        # What is built is sent, whatever happens: from here on the editor counts as knowing it.
        self.position = entries[-1].seq
        await self._deliver(lines)
        self._sent = self.position
        self._wake(self._sent)
        return True

    def _write_live(self) -> bool:
        """``_read_slice`` on the spot, of all that is new; False where the reader has to go on by itself."""
        feed, stream = self.session.feed, self.session.id
        while feed.last_seq > self.position:
            if self._halting or not self._line.can_take(stream):
                return False
            entries = feed.kept(self.position, SLICE_BYTES)
            if entries is None or any(map(puts_ask, entries)):
                return False
            lines = [line for entry in entries for line in self._messages.live(entry)]
            self.position = self._sent = entries[-1].seq
            self._line.write_now(self._with_cursor(lines, self.position), stream)
            if self._waiters:
                self._wake(self._sent)
        return not feed.closed

    async def _deliver(self, lines: list[bytes]) -> None:
        """Send what the reader has built. Where it is kept for who reads later, nobody who wants the reader to end need wait."""
        sending = self._send(lines, self.position, self.session.id)
        if self._halting and self._line.keeps:
            self._spawn(sending)
            return
        self._rests = self._line.keeps
        try:
            await sending
        finally:
            self._rests = False

    async def _send(self, lines: list[bytes], position: int, stream: str | None) -> None:
        await self._line.send(self._with_cursor(lines, position), stream)

    def _with_cursor(self, lines: list[bytes], position: int) -> list[bytes]:
        """Messages with the position behind them, for an editor that wants to know it."""
        if self._line.wants_cursor and (lines or position != self._sent_cursor):
            self._sent_cursor = position
            where = _encode({"sessionId": self.session.id, "seq": position})
            lines.append(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (CURSOR.encode(), where))
        return lines

    def _wake(self, position: int | None) -> None:
        due = [each for each in self._waiters if position is None or each[0] <= position]
        self._waiters = [each for each in self._waiters if each not in due]
        for _, waiter in due:
            if not waiter.done():
                waiter.set_result(None)

    async def _give_up(self, error: TrunklineError | None = None) -> None:
        """No more will come: whoever waits learns why."""
        gone = error or SessionDeleted(f"session {self.session.id} is gone", details={"sessionId": self.session.id})
        await self._line.send(self.prompts.give_up(gone), self.session.id)
