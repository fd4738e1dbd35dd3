"""What goes back to whoever asked: to the agent, or to a part of the hub that asked like one.

Rule: commit, then answer. Where an answer cannot be stored now, it is sent when it can be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from trunkline.dialects.context.types import Resolver
from trunkline.errors import StorageError
from trunkline.session.background import BackgroundTasks
from trunkline.session.deadlines import SilenceWatch
from trunkline.session.driver.link import AgentLink
from trunkline.session.recorder import Recorder


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """How an approval ends."""

    approved: bool
    resolved_by: Resolver
    who: str
    reason: str | None = None
    option_id: str | None = None
    updated_input: msgspec.Raw | None = None
    rules: tuple[dict[str, str], ...] = ()
    """The rules that decided it, as its end lists them."""
    decides: bool = True
    """Whether its call is decided by that; what is asked elsewhere, too, may still be."""


class Answers:
    """The answers to one session's asks."""

    def __init__(self, recorder: Recorder, link: AgentLink, background: BackgroundTasks, watch: SilenceWatch) -> None:
        self._recorder = recorder
        self._link = link
        self._background = background
        self._watch = watch
        self._our_asks: dict[str, asyncio.Future[Resolution]] = {}

    def expect(self, request_id: str) -> asyncio.Future[Resolution]:
        """The hub itself asks: how that ends, for whoever waits for it and may cancel it."""
        answer: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._our_asks.pop(request_id, None))
        self._our_asks[request_id] = answer
        return answer

    def is_ours(self, request_id: str) -> bool:
        """Whether the hub itself asked, and waits for the answer."""
        return request_id in self._our_asks

    def refuse(self, request_id: str, why: str) -> None:
        """Send at once that nobody is asked."""
        asks = self._recorder.at().asks
        self._link.refuse(asks.origin(request_id), why)
        asks.forget(request_id)

    def send_soon(self, request_id: str, resolution: Resolution) -> None:
        """Send an answer once it is stored; nobody waits for that."""
        self._background.run(self.send(request_id, resolution))

    async def send(self, request_id: str, resolution: Resolution) -> None:
        """Send an answer once it is stored. Where it cannot be stored now, it is sent later, and the caller gets the error."""
        await self._then(lambda: self._answer(request_id, resolution))

    async def send_to_question(self, question_id: str, action: str, content: msgspec.Raw | None) -> None:
        """The same for a question."""
        await self._then(lambda: self._answer_question(question_id, action, content))

    def dismiss(self, asks: Sequence[str], questions: Sequence[str]) -> None:
        """Send whoever asked that there will be no answer. What was resolved is stored by now."""
        for request_id in asks:
            self._answer(request_id, Resolution(approved=False, resolved_by="policy", who="hub"))
        for question_id in questions:
            self._answer_question(question_id, "cancel", None)

    def _answer(self, request_id: str, resolution: Resolution) -> None:
        ours, asks = self._our_asks.get(request_id), self._recorder.at().asks
        origin = asks.origin(request_id)
        asks.forget(request_id)
        if ours is not None:
            if not ours.done():
                ours.set_result(resolution)
        elif self._link.running:
            self._link.driver.answer_permission(
                origin, resolution.option_id, reason=resolution.reason, updated_input=resolution.updated_input)

    def _answer_question(self, question_id: str, action: str, content: msgspec.Raw | None) -> None:
        if self._link.running:
            self._link.driver.answer_question(question_id, action, content)

    async def _then(self, answer: Callable[[], None]) -> None:
        try:
            await self._recorder.stored()
        except StorageError:
            self._background.run(self._send_later(answer))
            raise
        self._send(answer)

    async def _send_later(self, answer: Callable[[], None]) -> None:
        await self._recorder.stored_at_last()
        self._send(answer)

    def _send(self, answer: Callable[[], None]) -> None:
        self._watch.on_activity()
        answer()
