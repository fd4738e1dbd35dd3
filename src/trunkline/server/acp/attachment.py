"""One session as one editor sees it: a position in the journal that becomes messages, in the journal's order.

Rule 1: everything that an editor hears of a turn comes from the journal, in its order: updates, asks, the answer to the prompt.
So the answer is never before the last update, and two editors never disagree.
Rule 2: a prompt has a key. Which turn is its own is the session's to say, so a prompt that is sent again after a lost connection
finds its turn, running or over.
Rule 3: an editor that stalls holds its position and the slice that it was being sent, nothing more.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.initialize import ClientCapabilities
from trunkline.dialects.context.filters import encoded_type
from trunkline.errors import HubStopping, NotFound, SessionDeleted, TrunklineError, Unavailable
from trunkline.hub import Accepted
from trunkline.journal.base import Entry
from trunkline.server.acp.asks import OpenAsks, Spawn
from trunkline.server.acp.connection import EditorLine, Left
from trunkline.server.acp.faults import told_fault
from trunkline.server.acp.notices import HEARD, TOLD_OTHERWISE, Meta, Told, ends_turn, told_by
from trunkline.server.acp.updates import UpdateView
from trunkline.server.acp.usage import TOKENS, Spent
from trunkline.server.auth.tokens import Scope
from trunkline.server.sse import entries_after

if TYPE_CHECKING:
    from trunkline.hub import Session

CURSOR = "_trunkline/cursor"
"""The notification that tells an editor, which asked for it, where it is: ``{sessionId, seq}``."""

INSIST_S = 2.0
"""A second cancel within this time is the same wish again, not a wish to have the agent stopped."""

READS_S = 5.0
"""How long an editor that ends a session may take to read what is left of it."""

SLICE_BYTES = 64 << 10

ANSWERED = 32
"""Answered prompts that are remembered, for an editor whose connection lost their answers."""

log = logging.getLogger("trunkline.server")

_encode = msgspec.json.Encoder().encode


class OpenPrompt(msgspec.Struct):
    """A prompt of this editor that is not answered yet."""

    request_id: msgspec.Raw
    key: str
    since: int = 0
    """How far the journal was when the editor said it. What failed before that is no reason to take it back."""
    turn_id: str = ""
    """Empty until the session has taken it."""
    failed_before: bool = False
    """It waited behind a turn that failed, and was taken back."""


class Attachment:
    """One editor's place in one session. It is also the editor, as far as it serves the session's agent."""

    def __init__(self, session: Session, line: EditorLine, by: str, spawn: Spawn, *, scope: Scope,
                 stopping: Callable[[], bool]) -> None:
        self.session = session
        self._stopping = stopping
        self.position = 0
        self._line = line
        self._by = by
        self._spawn = spawn
        self._view = UpdateView(session, self)
        self._spent = Spent()
        self._asks = OpenAsks(session, line, self._view, by, spawn, scope)
        self._prompts: list[OpenPrompt] = []
        self._answered: deque[tuple[int, OpenPrompt]] = deque(maxlen=ANSWERED)
        """With the place in the journal that ended them."""
        self._reader: asyncio.Task[None] | None = None
        self._rests = False
        """The reader waits for news, or for who reads what is kept, so that it can be ended without losing any."""
        self._halting = False
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self.opening = asyncio.Lock()
        """Held while the editor is told where it starts."""
        self._sending = asyncio.Lock()
        self._cancelled_at = 0.0
        self._told = 0
        self._told_cursor = -1

    @property
    def offers(self) -> ClientCapabilities:
        """What the editor serves."""
        return self._line.offers

    async def call(self, method: str, params: bytes) -> bytes:
        """A request of the agent's to this editor."""
        return await self._line.call(method, params, self.session.id)

    # -- reading along

    @property
    def busy(self) -> bool:
        """Whether the editor waits for the answer to a prompt, or says one."""
        return bool(self._prompts) or self._sending.locked()

    @property
    def following(self) -> bool:
        """Whether the editor is being told what happens."""
        return self._reader is not None and not self._reader.done()

    def follow(self, after: int) -> None:
        """Tell the editor what comes after a position, and ask it what is open."""
        self.position = self._told = after
        self._halting = False
        self._reader = asyncio.create_task(self._read_on())

    async def rewind(self, after: int) -> None:
        """Tell the editor again what comes after a position: it has lost what it was sent since."""
        await self.halt()
        self._reopen(after)
        self.follow(after)

    async def go_on(self) -> None:
        """Follow again where a replay was broken off."""
        await self.halt()
        self.follow(self.position)

    async def replay(self, after: int, until: int, stream: str | None, *, lost_since: int | None = None) -> None:
        """Tell the editor what was, up to a position. What it waits for and has not been told yet may be in there, too; and what
        it was told, but says that it has lost."""
        followed = self.following
        await self.halt()
        heard = self.position if followed else until
        if lost_since is not None and self._reopen(lost_since):
            heard = min(heard, lost_since)
        if after == 0:
            self._view.forget()
        position = after
        while position < until:
            entries = [entry for entry in await entries_after(self.session.feed, position, SLICE_BYTES) if entry.seq <= until]
            if not entries:
                break
            position = entries[-1].seq
            lines = [line for entry in entries for line in self._history(entry)]
            await self._send(lines, position, stream)
            answers = [line for entry in entries if entry.seq > heard for line in self._owed(entry)]
            if answers:
                self._spawn(self._line.send(answers, self.session.id))
            if followed:
                self.position = max(self.position, position)
            await asyncio.sleep(0)  # a long history must not keep the hub to itself
        self.position = until

    async def tell_commands(self, until: int) -> None:
        """Tell the agent's slash commands, as they were at a position, to an editor that is told nothing else of what was."""
        seq = self.session.fold.commands_seq
        if 0 < seq <= until:
            entries = await entries_after(self.session.feed, seq - 1, 1)
            lines = [line for entry in entries[:1] if entry.update is not None for line in self._view.lines(entry, live=True)]
            await self._line.send(lines, self.session.id)

    async def halt(self) -> None:
        """Tell the editor nothing more than what is on its way; open prompts stay open."""
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
        """The editor was told everything up to a position, or does not read."""
        if self._told < seq and self.following:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((seq, waiter))
            await asyncio.wait([waiter], timeout=READS_S)

    async def _read_on(self) -> None:
        try:
            await self._tell(self._asks.everything())
            while not self._halting and await self._read_slice():
                pass
            if not self._halting and not self._stopping():
                await self._give_up()
        except (Left, HubStopping):
            return  # who comes back finds everything
        except Exception as error:  # the reader's boundary: its editor must not wait for what will not come
            log.error("an editor's view of session %s failed", self.session.id, exc_info=error)
            await self._give_up(Unavailable("the hub failed to follow the session; its log says more"))
        finally:
            self._wake(None)

    async def _read_slice(self) -> bool:
        feed = self.session.feed
        if feed.last_seq <= self.position:
            if feed.closed:
                return False
            self._rests = True
            try:
                await feed.wait(self.position)
            finally:
                self._rests = False
        entries = await entries_after(feed, self.position, SLICE_BYTES)
        if not entries:
            return not feed.closed or feed.last_seq > self.position
        lines: list[bytes] = []
        for entry in entries:
            if encoded_type(entry.event) == TOKENS:
                self._spent.add(entry)
            lines += self._view.lines(entry, live=True) if entry.update is not None else self._event(entry)
        # What is built is sent, whatever happens: from here on the editor counts as told.
        self.position = entries[-1].seq
        await self._tell(lines)
        self._told = self.position
        self._wake(self._told)
        return True

    async def _tell(self, lines: list[bytes]) -> None:
        """Send what the reader has built. Where it is kept for who reads later, nobody who wants the reader to end need wait."""
        telling = self._send(lines, self.position, self.session.id)
        if self._halting and self._line.keeps:
            self._spawn(telling)
            return
        self._rests = self._line.keeps
        try:
            await telling
        finally:
            self._rests = False

    def _history(self, entry: Entry) -> list[bytes]:
        if entry.update is not None:
            return self._view.lines(entry, live=False)
        if encoded_type(entry.event) == "tool:error":
            return self._view.failed(told_by(entry).tool_call_id)
        return []

    def _owed(self, entry: Entry) -> list[bytes]:
        """What an entry means to an editor that is told of it as history: ends of its prompts, and of what it was asked."""
        if entry.update is not None or encoded_type(entry.event) in TOLD_OTHERWISE:
            return []
        return self._event(entry)

    async def _send(self, lines: list[bytes], position: int, stream: str | None) -> None:
        if self._line.tells_cursor and (lines or position != self._told_cursor):
            self._told_cursor = position
            where = _encode({"sessionId": self.session.id, "seq": position})
            lines.append(b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (CURSOR.encode(), where))
        await self._line.send(lines, stream)

    def _wake(self, position: int | None) -> None:
        due = [each for each in self._waiters if position is None or each[0] <= position]
        self._waiters = [each for each in self._waiters if each not in due]
        for _, waiter in due:
            if not waiter.done():
                waiter.set_result(None)

    # -- events without an update

    def _event(self, entry: Entry) -> list[bytes]:
        kind = encoded_type(entry.event)
        if kind not in HEARD:
            return []
        told = told_by(entry)
        match kind:
            case "custom":
                return self._custom(told, entry.seq) if told.namespace == "trunkline" else []
            case "approval:requested":
                return self._asks.permission(told.request_id)
            case "approval:resolved":
                return self._asks.settled(told.request_id)
            case "interaction:question":
                return self._asks.question(told.question_id)
            case "tool:error":
                return self._view.failed(told.tool_call_id)
            case "session:resumed":
                return self._view.started_afresh() if told.meta.forgets else []
            case "session:error":
                return self._turn_failed(told, entry.seq)
            case _:
                return self._turn_ended(told.meta, entry.seq)

    def _custom(self, told: Told, seq: int) -> list[bytes]:
        match told.event_name:
            case "turn_started":
                self._spent.begin()
                self._view.own_turn = any(self._turn_of(prompt) == told.meta.turn_id for prompt in self._prompts)
            case "turn_ended":  # of a session that is held: its status does not change
                return self._turn_ended(told.meta, seq)
            case "prompt_dropped":
                return self._dropped(told.about().turn_id, seq)
            case "question_resolved":
                return self._asks.settled(told.about().question_id)
        return []

    def _turn_ended(self, meta: Meta, seq: int) -> list[bytes]:
        if not meta.stop_reason:
            return []
        self._view.own_turn = False
        usage = self._spent.usage()
        answer = _encode({"stopReason": meta.stop_reason, **({"usage": usage} if usage is not None else {})})
        return [line for prompt in self._settled(meta.turn_id, seq) for line in self._line.result(prompt.request_id, answer)]

    def _turn_failed(self, told: Told, seq: int) -> list[bytes]:
        if not told.meta.turn_id or told.error is None:
            return []
        self._view.own_turn = False
        error = told.error
        details = msgspec.json.decode(error.details)
        fault = told_fault(error.code, error.message, details, error.agent_code)
        lines = [line for prompt in self._settled(told.meta.turn_id, seq)
                 for line in self._line.fault(prompt.request_id, fault.code, fault.message, _encode(fault.data))]
        behind = [prompt for prompt in self._prompts if self._waits(prompt) and prompt.since < seq]
        if behind:
            self._spawn(self._take_back([(prompt, prompt.turn_id) for prompt in behind]))
        return lines

    def _dropped(self, turn_id: str, seq: int) -> list[bytes]:
        lines: list[bytes] = []
        for prompt in self._settled(turn_id, seq):
            if prompt.failed_before:
                failed = Unavailable("the turn before this prompt failed, so it was not sent; send it again")
                lines += self._line.error(prompt.request_id, failed)
            else:
                lines += self._line.result(prompt.request_id, b'{"stopReason":"cancelled"}')
        return lines

    # -- prompts

    async def prompt(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> None:
        """Send a prompt, or put it into the queue. It is answered when its own turn ends."""
        async with self._sending:
            self._prompts.append(prompt)
            try:
                accepted = await self._say(prompt, blocks)
            except BaseException:
                self._forget(prompt)
                raise
            if self._waits(prompt) and self._nothing_runs():
                await self._send_anew(prompt, blocks)
                return
        turn = self.session.fold.turn
        if (turn is None or turn.turn_id != accepted.turn_id) and not self._waits(prompt):
            await self._answer_late(prompt, accepted.turn_id, accepted.seq)

    def _nothing_runs(self) -> bool:
        return self.session.fold.turn is None and self.session.fold.paused is None

    async def _send_anew(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> None:
        """A prompt that was left in the queue by a failure or a restart is wanted again: begin with it."""
        self.session.editors.take_back(prompt.key)
        left, prompt.key, prompt.turn_id = prompt.turn_id, secrets.token_hex(16), ""
        await self.session.drop_queued(left, by=self._by)
        await self._say(prompt, blocks)

    async def _say(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> Accepted:
        self.session.editors.lend(prompt.key, self)
        prompt.since = self.session.fold.seq
        accepted = await self.session.send(blocks, when_busy="queue", idempotency_key=prompt.key, by=self._by)
        prompt.turn_id, prompt.since = accepted.turn_id, max(prompt.since, accepted.seq)
        return accepted

    async def cancel(self, key: str | None = None) -> None:
        """Stop what this editor began: its prompts that wait, and the turn that runs, unless only others' prompts run; or only
        the prompt that it names by its key."""
        if key is not None:
            async with self._sending:  # what was said before has been taken
                named = [prompt for prompt in self._prompts if prompt.key == key]
            for prompt in named:
                await self.cancel_prompt(prompt)
            return
        async with self._sending:
            waiting = [prompt for prompt in self._prompts if self._waits(prompt)]
            for prompt in waiting:
                await self._drop(prompt)
            turn = self.session.fold.turn
            if turn is None:
                return
            own = any(self._turn_of(prompt) == turn.turn_id for prompt in self._prompts)
            if own or not waiting:
                await self._cancel_turn()

    async def cancel_prompt(self, prompt: OpenPrompt) -> None:
        """Take one prompt back, or end its turn."""
        async with self._sending:
            turn = self.session.fold.turn
            if self._waits(prompt):
                await self._drop(prompt)
            elif turn is not None and turn.turn_id == self._turn_of(prompt):
                await self._cancel_turn()

    def open_prompt(self, request_id: bytes) -> OpenPrompt | None:
        """The prompt that came with a request of this id and is not answered."""
        return next((prompt for prompt in self._prompts if bytes(prompt.request_id) == request_id), None)

    async def _cancel_turn(self) -> None:
        turn = self.session.fold.turn
        now = time.monotonic()
        if turn is not None and turn.cancelled and now - self._cancelled_at < INSIST_S:
            return
        self._cancelled_at = now
        await self.session.cancel(by=self._by)

    async def _drop(self, prompt: OpenPrompt) -> None:
        try:
            await self.session.drop_queued(self._turn_of(prompt), by=self._by)
        except NotFound:
            return  # it began, or somebody else took it back

    async def _take_back(self, behind: list[tuple[OpenPrompt, str]]) -> None:
        """A turn failed: the queue waits for a person, and an editor cannot see it. Its prompts there are taken back."""
        for prompt, turn_id in behind:
            if prompt.turn_id == turn_id:  # else it was sent anew meanwhile
                prompt.failed_before = True
                await self._drop(prompt)

    async def _answer_late(self, prompt: OpenPrompt, turn_id: str, after: int) -> None:
        """The turn of a prompt that was sent before may be over, and the editor told of its end: answer from the journal."""
        position = after
        while entries := await entries_after(self.session.feed, position, SLICE_BYTES):
            for entry in entries:
                if entry.update is None and ends_turn(entry, turn_id):
                    if entry.seq <= self.position and prompt in self._prompts:
                        await self._line.send(self._event(entry), self.session.id)
                    return
            position = entries[-1].seq

    def _settled(self, turn_id: str, seq: int) -> list[OpenPrompt]:
        found = [prompt for prompt in self._prompts if turn_id and self._turn_of(prompt) == turn_id]
        for prompt in found:
            self._forget(prompt)
            self._answered.append((seq, prompt))
        return found

    def _reopen(self, after: int) -> bool:
        """Wait again for the ends of prompts that the editor was told of after a position; returns whether there are any."""
        lost = [prompt for seq, prompt in self._answered if seq > after]
        self._prompts += lost
        self._answered = deque([each for each in self._answered if each[0] <= after], ANSWERED)
        return bool(lost)

    def _forget(self, prompt: OpenPrompt) -> None:
        self._prompts.remove(prompt)
        if not any(each.key == prompt.key for each in self._prompts):
            self.session.editors.take_back(prompt.key)

    def _turn_of(self, prompt: OpenPrompt) -> str:
        """The turn of a prompt; also while the session is about to say that it took it."""
        sent = None if prompt.turn_id else self.session.fold.sent.get(prompt.key)
        if sent is not None:
            prompt.turn_id, prompt.since = sent.turn_id, max(prompt.since, sent.seq)
        return prompt.turn_id

    def _waits(self, prompt: OpenPrompt) -> bool:
        turn_id = self._turn_of(prompt)
        return any(waiting.turn_id == turn_id for waiting in self.session.fold.queue)

    async def _give_up(self, error: TrunklineError | None = None) -> None:
        """No more will come: whoever waits hears why."""
        gone = error or SessionDeleted(f"session {self.session.id} is gone", details={"sessionId": self.session.id})
        lines = [line for prompt in self._prompts for line in self._line.error(prompt.request_id, gone)]
        self._prompts.clear()
        await self._line.send(lines, self.session.id)
