"""One editor's prompts in one session: sent, queued, taken back, and answered when their turn ends.

Rule 1: a prompt has a key. Which turn is its own is the session's to say, so a prompt that is sent again after a lost connection
finds its turn, running or over.
Rule 2: what the end of a turn means to an editor is read from the journal (``event_messages.py``), so an answer is never before
the last update.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from trunkline.dialects.acp.content import ContentBlock
from trunkline.errors import NotFound, TrunklineError, Unavailable
from trunkline.hub import Accepted
from trunkline.server.acp.connection import EditorLine
from trunkline.server.acp.faults import RpcFault
from trunkline.server.acp.tasks import Spawn

if TYPE_CHECKING:
    from trunkline.hub import Session
    from trunkline.session.client.editors import Editor

INSIST_S = 2.0
"""A second cancel within this time is the same wish again, not a wish to have the agent stopped."""

ANSWERED = 32
"""Answered prompts that are remembered, for an editor whose connection lost their answers."""

_encode = msgspec.json.Encoder().encode


class OpenPrompt(msgspec.Struct):
    """A prompt of this editor that is not answered yet."""

    request_id: msgspec.Raw
    key: str
    since: int = 0
    """How far the journal was when the editor sent it. What failed before that is no reason to take it back."""
    turn_id: str = ""
    """Empty until the session has taken it."""
    failed_before: bool = False
    """It waited behind a turn that failed, and was taken back."""


class OpenPrompts:
    """The prompts of one editor in one session. ``editor`` serves the session's agent while one of them runs."""

    def __init__(self, session: Session, line: EditorLine, editor: Editor, by: str, spawn: Spawn) -> None:
        self._session = session
        self._line = line
        self._editor = editor
        self._by = by
        self._spawn = spawn
        self._open: list[OpenPrompt] = []
        self._answered: deque[tuple[int, OpenPrompt]] = deque(maxlen=ANSWERED)
        """With the place in the journal that ended them."""
        self._sending = asyncio.Lock()
        self._cancelled_at = 0.0

    @property
    def busy(self) -> bool:
        """Whether the editor waits for the answer to a prompt, or sends one."""
        return bool(self._open) or self._sending.locked()

    def __contains__(self, prompt: OpenPrompt) -> bool:
        return prompt in self._open

    def find(self, request_id: bytes) -> OpenPrompt | None:
        """The prompt that came with a request of this id and is not answered."""
        return next((prompt for prompt in self._open if bytes(prompt.request_id) == request_id), None)

    def has_turn(self, turn_id: str) -> bool:
        """Whether a turn was begun by this editor."""
        return any(self._turn_of(prompt) == turn_id for prompt in self._open)

    # -- sending and cancelling

    async def send(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> Accepted | None:
        """Send a prompt, or put it into the queue. It is answered when its own turn ends; returns the prompt's turn where that
        may be over already."""
        async with self._sending:
            self._open.append(prompt)
            try:
                accepted = await self._submit(prompt, blocks)
            except BaseException:
                self._forget(prompt)
                raise
            if self._waits(prompt) and self._nothing_runs():
                await self._send_anew(prompt, blocks)
                return None
        turn = self._session.fold.turn
        runs = turn is not None and turn.turn_id == accepted.turn_id
        return None if runs or self._waits(prompt) else accepted

    async def cancel(self, key: str | None = None) -> None:
        """Stop what this editor began: its prompts that wait, and the turn that runs, unless only others' prompts run; or only
        the prompt that it names by its key."""
        if key is not None:
            async with self._sending:  # what was sent before has been taken
                named = [prompt for prompt in self._open if prompt.key == key]
            for prompt in named:
                await self.cancel_prompt(prompt)
            return
        async with self._sending:
            waiting = [prompt for prompt in self._open if self._waits(prompt)]
            for prompt in waiting:
                await self._drop(prompt)
            turn = self._session.fold.turn
            if turn is None:
                return
            own = any(self._turn_of(prompt) == turn.turn_id for prompt in self._open)
            if own or not waiting:
                await self._cancel_turn()

    async def cancel_prompt(self, prompt: OpenPrompt) -> None:
        """Take one prompt back, or end its turn."""
        async with self._sending:
            turn = self._session.fold.turn
            if self._waits(prompt):
                await self._drop(prompt)
            elif turn is not None and turn.turn_id == self._turn_of(prompt):
                await self._cancel_turn()

    async def _submit(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> Accepted:
        self._session.editors.lend(prompt.key, self._editor)
        prompt.since = self._session.fold.seq
        accepted = await self._session.turns.send(blocks, when_busy="queue", idempotency_key=prompt.key, by=self._by)
        prompt.turn_id, prompt.since = accepted.turn_id, max(prompt.since, accepted.seq)
        return accepted

    async def _send_anew(self, prompt: OpenPrompt, blocks: list[ContentBlock]) -> None:
        """A prompt that was left in the queue by a failure or a restart is wanted again: begin with it."""
        self._session.editors.take_back(prompt.key)
        left, prompt.key, prompt.turn_id = prompt.turn_id, secrets.token_hex(16), ""
        await self._session.turns.drop_queued(left, by=self._by)
        await self._submit(prompt, blocks)

    def _nothing_runs(self) -> bool:
        return self._session.fold.turn is None and self._session.fold.paused is None

    async def _cancel_turn(self) -> None:
        turn = self._session.fold.turn
        now = time.monotonic()
        if turn is not None and turn.cancelled and now - self._cancelled_at < INSIST_S:
            return
        self._cancelled_at = now
        await self._session.turns.cancel(by=self._by)

    async def _drop(self, prompt: OpenPrompt) -> None:
        try:
            await self._session.turns.drop_queued(self._turn_of(prompt), by=self._by)
        except NotFound:
            return  # it began, or somebody else took it back

    # -- what the journal says of them

    def on_turn_end(self, turn_id: str, seq: int, answer: bytes) -> list[bytes]:
        """The turn has ended at a place in the journal: its prompts are answered."""
        return [line for prompt in self._settle(turn_id, seq) for line in self._line.result(prompt.request_id, answer)]

    def on_turn_failure(self, turn_id: str, seq: int, fault: RpcFault) -> list[bytes]:
        """The turn has failed: its prompts are refused, and those that wait behind it are taken back."""
        data = _encode(fault.data)
        lines = [line for prompt in self._settle(turn_id, seq)
                 for line in self._line.fault(prompt.request_id, fault.code, fault.message, data)]
        behind = [prompt for prompt in self._open if self._waits(prompt) and prompt.since < seq]
        if behind:
            self._spawn(self._take_back([(prompt, prompt.turn_id) for prompt in behind]))
        return lines

    def on_drop(self, turn_id: str, seq: int) -> list[bytes]:
        """A prompt was taken out of the queue."""
        lines: list[bytes] = []
        for prompt in self._settle(turn_id, seq):
            if prompt.failed_before:
                failed = Unavailable("the turn before this prompt failed, so it was not sent; send it again")
                lines += self._line.error(prompt.request_id, failed)
            else:
                lines += self._line.result(prompt.request_id, b'{"stopReason":"cancelled"}')
        return lines

    def give_up(self, error: TrunklineError) -> list[bytes]:
        """No more will come: every prompt is refused."""
        lines = [line for prompt in self._open for line in self._line.error(prompt.request_id, error)]
        self._open.clear()
        return lines

    def reopen(self, after: int) -> bool:
        """Wait again for the ends of prompts that the editor was sent after a position; returns whether there are any."""
        lost = [prompt for seq, prompt in self._answered if seq > after]
        self._open += lost
        self._answered = deque([each for each in self._answered if each[0] <= after], ANSWERED)
        return bool(lost)

    async def _take_back(self, behind: list[tuple[OpenPrompt, str]]) -> None:
        """A turn failed: the queue waits for a person, and an editor cannot see it. Its prompts there are taken back."""
        for prompt, turn_id in behind:
            if prompt.turn_id == turn_id:  # else it was sent anew meanwhile
                prompt.failed_before = True
                await self._drop(prompt)

    def _settle(self, turn_id: str, seq: int) -> list[OpenPrompt]:
        found = [prompt for prompt in self._open if turn_id and self._turn_of(prompt) == turn_id]
        for prompt in found:
            self._forget(prompt)
            self._answered.append((seq, prompt))
        return found

    def _forget(self, prompt: OpenPrompt) -> None:
        self._open.remove(prompt)
        if not any(each.key == prompt.key for each in self._open):
            self._session.editors.take_back(prompt.key)

    def _turn_of(self, prompt: OpenPrompt) -> str:
        """The turn of a prompt; also while the session is about to say that it took it."""
        sent = None if prompt.turn_id else self._session.fold.sent.get(prompt.key)
        if sent is not None:
            prompt.turn_id, prompt.since = sent.turn_id, max(prompt.since, sent.seq)
        return prompt.turn_id

    def _waits(self, prompt: OpenPrompt) -> bool:
        turn_id = self._turn_of(prompt)
        return any(waiting.turn_id == turn_id for waiting in self._session.fold.queue)
