"""Prompts: taken, played or queued, changed and taken back while they wait.

Rule 1: a prompt is acknowledged when it is in the journal, and under one idempotency key once.
Rule 2: a prompt that may wait overtakes none that waits. Where a failure held the queue back, it is a person's word that lets the
queue go on: it goes behind, and the oldest begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from trunkline.dialects.acp.content import ContentBlock
from trunkline.dialects.acp.shape import encode_acp
from trunkline.errors import Invalid, NotFound, TooManyRequests, TurnInProgress
from trunkline.session.commands.requests import Accepted
from trunkline.session.driver.link import AgentLink
from trunkline.session.recorder import Recorder
from trunkline.session.turns.spending import check_caps
from trunkline.session.turns.turn import TurnPlayer

QUEUED_PROMPTS = 100
"""Prompts of one session that wait; more would be worked off for days."""

QUEUED_BYTES = 16 << 20
"""What the prompts that wait may hold together, images included: they are in the session's row."""

WhenBusy = Literal["reject", "queue"]


class Plays(Protocol):
    """Who plays turns."""

    def worked_us(self) -> int:
        """Time spent in turns, the running one included."""

    def play_queued(self) -> bool:
        """Begin the first prompt that waits; False where none does, or the session is held."""


class Prompts(ABC):
    """The prompts of one session."""

    def __init__(self, recorder: Recorder, turns: Plays, new_id: Callable[[str], str]) -> None:
        self._recorder = recorder
        self._turns = turns
        self._new_id = new_id

    async def take(self, content: Sequence[ContentBlock], when_busy: WhenBusy, key: str | None, by: str) -> Accepted:
        """Take a prompt: it starts its turn, or waits in the queue."""
        fold, blocks = self._recorder.fold, _raw_blocks(content)
        sent = fold.sent.get(key) if key is not None else None
        if sent is not None:
            await self._recorder.stored()
            return Accepted(sent.turn_id, sent.seq, sent.queued)
        self._check(blocks)
        turn_id = self._new_id("turn")
        if self.is_busy:
            return await self._queue(turn_id, blocks, when_busy, key, by)
        check_caps(fold, self._turns.worked_us())
        if fold.queue and when_busy == "queue":
            return await self._go_behind(turn_id, blocks, key, by)
        return await self._begin(turn_id, blocks, key, by)

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or nothing may begin."""
        return self._recorder.fold.turn is not None or self._recorder.fold.paused is not None

    @abstractmethod
    def _check(self, blocks: list[msgspec.Raw]) -> None:
        """Raise Unsupported when a block cannot be taken."""

    @abstractmethod
    async def _begin(self, turn_id: str, blocks: list[msgspec.Raw], key: str | None, by: str) -> Accepted:
        """Begin its turn."""

    async def edit(self, turn_id: str, content: Sequence[ContentBlock], by: str) -> None:
        """Change a prompt that waits."""
        blocks = _raw_blocks(content)
        self._check_waiting(turn_id)
        self._check_room(blocks, instead_of=turn_id)
        self._recorder.at().turns.edit_queued(turn_id, blocks, by=by)
        await self._recorder.write_and_store()

    async def drop(self, turn_id: str, by: str) -> None:
        """Take a waiting prompt back."""
        self._check_waiting(turn_id)
        self._recorder.at().turns.drop_queued(turn_id, by=by)
        await self._recorder.write_and_store()

    async def _queue(self, turn_id: str, content: list[msgspec.Raw], when_busy: WhenBusy, key: str | None, by: str) -> Accepted:
        fold = self._recorder.fold
        if when_busy != "queue" and fold.turn is None and fold.paused is not None:
            raise TurnInProgress("the session is paused; resume it, or send whenBusy: queue")
        if when_busy != "queue":
            running = fold.turn.turn_id if fold.turn else None
            raise TurnInProgress("a turn is in progress; wait for its end, cancel it, or send whenBusy: queue",
                                 details={"turnId": running})
        self._check_room(content)
        accepted = Accepted(turn_id, fold.seq, True)
        self._recorder.at().turns.queue(turn_id, content, by=by, key=key)
        await self._recorder.write_and_store()
        return accepted

    async def _go_behind(self, turn_id: str, content: list[msgspec.Raw], key: str | None, by: str) -> Accepted:
        """A failure held the queue back: wait behind it, and have it go on."""
        self._check_room(content)
        accepted = Accepted(turn_id, self._recorder.fold.seq, True)
        self._recorder.at().turns.queue(turn_id, content, by=by, key=key)
        self._turns.play_queued()
        await self._recorder.write_and_store()
        return accepted

    def _check_room(self, content: list[msgspec.Raw], *, instead_of: str | None = None) -> None:
        """Refuse a prompt that the queue has no room for."""
        others = [waiting for waiting in self._recorder.fold.queue if waiting.turn_id != instead_of]
        if len(others) >= QUEUED_PROMPTS:
            raise TooManyRequests(f"{QUEUED_PROMPTS} prompts wait in this session already")
        size = sum(len(memoryview(block)) for waiting in [*(waiting.content for waiting in others), content] for block in waiting)
        if size > QUEUED_BYTES:
            raise TooManyRequests(f"the prompts that wait in this session would hold more than {QUEUED_BYTES >> 20} MiB")

    def _check_waiting(self, turn_id: str) -> None:
        if not any(waiting.turn_id == turn_id for waiting in self._recorder.fold.queue):
            raise NotFound(f"no prompt {turn_id} waits in the queue")


class PromptsHere(Prompts):
    """Those of a session whose agent is ours."""

    def __init__(self, recorder: Recorder, link: AgentLink, player: TurnPlayer, new_id: Callable[[str], str]) -> None:
        super().__init__(recorder, player, new_id)
        self._link = link
        self._player = player

    def _check(self, blocks: list[msgspec.Raw]) -> None:
        if self._link.running:
            self._link.driver.check_prompt(blocks)

    async def _begin(self, turn_id: str, blocks: list[msgspec.Raw], key: str | None, by: str) -> Accepted:
        turn = self._recorder.at().turns.start(turn_id, blocks, by=by, key=key)
        accepted = Accepted(turn_id, turn.seq, False)
        self._player.begin(turn, blocks)
        await self._recorder.stored()
        return accepted


def _raw_blocks(content: Sequence[ContentBlock]) -> list[msgspec.Raw]:
    if not content:
        raise Invalid("content must not be empty")
    return [msgspec.Raw(encode_acp(block)) for block in content]
