"""A session that is held, let go, or ended for good.

Rule 1: a pause is honest. It holds what we have in hand: what rules would allow, and the prompts that wait. A turn runs on until
it asks or ends, unless it is to be interrupted: agents can end a turn, none can stand still in one.
Rule 2: a session that used up a cap is held until the cap is raised or lifted.
Rule 3: while a session is being ended nothing begins in it; what comes meanwhile waits until it is over, and begins afresh.
"""

from __future__ import annotations

import asyncio

from trunkline.dialects.signals import QuestionAsk, TurnEnd
from trunkline.errors import AgentNotRunning, Invalid
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.background import BackgroundTasks
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import Turn
from trunkline.session.recorder import Recorder
from trunkline.session.turns.spending import check_caps
from trunkline.session.turns.turn import TurnPlayer


class Hold:
    """Holds one session."""

    def __init__(self, recorder: Recorder, link: AgentLink, approvals: Approvals, background: BackgroundTasks,
                 turns: TurnPlayer) -> None:
        self._recorder = recorder
        self._link = link
        self._approvals = approvals
        self._background = background
        self._turns = turns
        self._ending: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether the session is over, or is being ended."""
        return self._ending is not None or self._recorder.fold.status == "completed"

    async def settled(self) -> None:
        """The session is not being ended, or is over by now."""
        while self._ending is not None:
            await asyncio.wait([self._ending])

    async def pause(self, *, by: str, reason: str | None, interrupt: bool) -> list[str]:
        """Hold the session; with ``interrupt`` its turn ends too. Returns what is held."""
        await self.settled()
        if self.over:
            raise Invalid("the session is over, so there is nothing to hold; a prompt or a resume begins it again")
        turn = self._recorder.fold.turn if interrupt else None
        held = self._begin(reason, by, interrupt=interrupt)
        self._recorder.write()
        await self._recorder.stored()
        if turn is not None:
            await self._end_turn(turn, by)
        return held

    def hold(self, reason: str, question: QuestionAsk, cap: str) -> None:
        """A cap is reached: hold the session, end its turn, and ask how to go on."""
        self._begin(reason, "hub", interrupt=True)
        self.take_back(cap)
        self._approvals.ask_about_cap(question, cap)
        self._recorder.write()
        if self._recorder.fold.turn is not None:
            self._background.run(self._end_turn(self._recorder.fold.turn, "hub"))

    def take_back(self, cap: str) -> None:
        """The question about this cap, where one is open, is about a limit that no longer is."""
        for question_id, view in list(self._recorder.fold.questions.items()):
            if view.cap == cap:
                self._recorder.at().questions.answered(question_id, action="cancel", content=None, who="hub")
        self._recorder.write()

    async def resume(self, *, by: str) -> bool:
        """Let a held session go on, and a queue that a failure held back; a session whose agent is gone gets it back. False where
        nothing was held or gone."""
        await self.settled()
        fold = self._recorder.fold
        over, held_back = fold.status == "completed", fold.turn is None and bool(fold.queue)
        if fold.paused is None and not over and not held_back:
            return False
        check_caps(fold, self._turns.worked_us())
        if fold.paused is not None:
            return await self.go_on(by=by)
        if over:
            await self._come_back(by)
        self._turns.play_queued()
        await self._recorder.stored()
        return True

    async def go_on(self, *, by: str) -> bool:
        """Let a held session go on; False where it is not held, or is being ended."""
        fold = self._recorder.fold
        if fold.paused is None or self._ending is not None:
            return False
        self._recorder.at().lifecycle.lift_pause()
        self._approvals.forget_caps(by=by)
        self._recorder.at().lifecycle.unpaused(by)
        self._recorder.write()
        await self._recorder.stored()
        self._approvals.look_again()
        self._turns.play_queued()
        return True

    async def terminate(self, *, by: str) -> None:
        """End the session: its turn, its agent and everything that the agent started. Its history stays."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(by))
            self._ending.add_done_callback(self._ended)
        await asyncio.shield(self._ending)

    async def _end(self, by: str) -> None:
        fold = self._recorder.fold
        self._recorder.at().turns.clear_queue(by=by)
        self._approvals.forget_caps(by=by)
        await self._turns.cancel(by=by)
        self._turns.end_now(TurnEnd(stop="cancelled"))
        stopping = self._link.stop_soon()  # first: a turn whose agent still starts is not over before that is
        await self._turns.ended()
        await asyncio.shield(stopping)
        self._recorder.at().lifecycle.lift_pause()
        if fold.status != "completed":
            self._recorder.at().lifecycle.completed("terminated", by)
        self._recorder.write()
        await self._recorder.stored()

    def _ended(self, ending: asyncio.Task[None]) -> None:
        self._ending = None
        if not ending.cancelled():
            ending.exception()  # whoever waited has it; nobody may wait any more

    def _begin(self, reason: str | None, by: str, *, interrupt: bool) -> list[str]:
        """Write down that the session is held; a pause that adds nothing to one before is not written again."""
        fold = self._recorder.fold
        held = ["approvals", "queue"]
        if interrupt and fold.turn is not None:
            held.append("turn")
        if fold.paused is not None and set(held) <= set(fold.paused.held):
            return fold.paused.held
        self._recorder.at().lifecycle.paused(reason, held, by)
        return held

    async def _end_turn(self, turn: Turn, by: str) -> None:
        """Have the turn ended, once: to cancel again what is being cancelled means to stop the agent."""
        if self._recorder.fold.turn is turn and not turn.cancelled:
            await self._turns.cancel(by=by)

    async def _come_back(self, by: str) -> None:
        await self._link.ensure()
        if self._ending is not None or not self._link.running:
            raise AgentNotRunning("the session was ended while its agent came back")
        if self._recorder.fold.status == "completed":  # else a prompt has begun it again
            self._turns.rest()
            self._recorder.at().writer.status("idle", reason="resumed", meta={"by": by})
            self._recorder.write()
        await self._recorder.stored()
