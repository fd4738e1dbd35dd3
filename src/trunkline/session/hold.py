"""A session that is held, let go, or ended for good.

Rule 1: a pause is honest. It holds what we have in hand: what rules would allow, and the prompts that wait. A turn runs on until
it asks or ends, unless it is to be interrupted: agents can end a turn, none can stand still in one.
Rule 2: a session that used up a cap is held until the cap is raised or lifted.
"""

from __future__ import annotations

from collections.abc import Callable

from trunkline.dialects import context
from trunkline.dialects.signals import QuestionAsk, TurnEnd
from trunkline.errors import Invalid
from trunkline.session.approvals import Approvals
from trunkline.session.errands import Errands
from trunkline.session.fold import Pause
from trunkline.session.link import AgentLink
from trunkline.session.pen import Pen
from trunkline.session.spending import Spending
from trunkline.session.turn import TurnPlayer


class Hold:
    """Holds one session. What it plays with is given last, since turns and spending need the hold themselves."""

    turns: TurnPlayer
    spending: Spending

    def __init__(self, pen: Pen, link: AgentLink, approvals: Approvals, errands: Errands, clock: Callable[[], int]) -> None:
        self._pen = pen
        self._link = link
        self._approvals = approvals
        self._errands = errands
        self._clock = clock

    async def pause(self, *, by: str, reason: str | None, interrupt: bool) -> list[str]:
        """Hold the session; with ``interrupt`` its turn ends too. Returns what is held."""
        held = self._begin(reason or "paused", by, interrupt=interrupt)
        self._pen.write()
        await self._pen.stored()
        if interrupt:
            await self.turns.cancel(by=by)
        return held

    def hold(self, reason: str, question: QuestionAsk, cap: str) -> None:
        """A cap is reached: hold the session, end its turn, and ask how to go on."""
        self._begin(reason, "hub", interrupt=True)
        self._approvals.ask_about_cap(question, cap)
        self._pen.write()
        self._errands.run(self.turns.cancel(by="hub"))

    async def resume(self, *, by: str) -> bool:
        """Let a held session go on; one whose agent is gone gets it back. False where nothing was held or gone."""
        fold = self._pen.fold
        if fold.paused is None:
            return fold.status == "completed" and await self._come_back(by)
        for crossing in self.spending.reached():
            raise Invalid(f"the session's cap is used up ({crossing.text}); raise it, or answer the question about it")
        fold.paused = None
        self._approvals.forget_caps(by=by)
        self._pen.at().lifecycle.unpaused(by)
        self._pen.write()
        await self._pen.stored()
        self._approvals.look_again()
        self.turns.play_queued()
        return True

    async def terminate(self, *, by: str) -> None:
        """End the session: its turn, its agent and everything that the agent started. Its history stays."""
        fold = self._pen.fold
        if fold.status == "completed" and not self._link.running:
            return
        fold.paused = None
        self._pen.at().turns.clear_queue(by=by)
        self._approvals.forget_caps(by=by)
        await self.turns.cancel(by=by)
        self.turns.end_now(TurnEnd(stop="cancelled"))
        await self.turns.ended()
        await self._link.stop()
        if fold.status != "completed":
            self._pen.at().lifecycle.completed("terminated", by)
        self._pen.write()
        await self._pen.stored()

    def worked_us(self) -> int:
        """Time spent in turns so far."""
        return self.turns.worked_us()

    def _begin(self, reason: str, by: str, *, interrupt: bool) -> list[str]:
        """Write down that the session is held; a pause that adds nothing to one before is not told again."""
        fold = self._pen.fold
        held = ["approvals", "queue"]
        if interrupt and fold.turn is not None:
            held.append("turn")
        if fold.paused is not None and set(held) <= set(fold.paused.held):
            return fold.paused.held
        fold.paused = Pause(since=context.iso_ms(self._clock()), by=by, reason=reason, held=held)
        self._pen.at().lifecycle.paused(reason, held, by)
        return held

    async def _come_back(self, by: str) -> bool:
        await self._link.ensure()
        self.turns.rest()
        self._pen.at().writer.status("idle", reason="resumed", meta={"by": by})
        self._pen.write()
        await self._pen.stored()
        return True
