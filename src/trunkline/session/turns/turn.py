"""A turn: from a committed prompt to exactly one end, and on to the next prompt that waits.

    prompt stored ─→ agent runs ─→ prompt sent ─→ … ─→ end ─→ artifacts ─→ end stored ─→ next in queue, or rest
                        │               │           ↑
                        └─ cannot start ┘           ├── the agent answered (stop reason or error)
                                                    ├── the agent's process ended
                                                    ├── it did not end after a cancel
                                                    └── it fell silent, was cancelled, and still did not end

Rule 1: whatever happens first ends the turn; everything after is kept as an entry and changes nothing.
Rule 2: a turn that a person cancelled ended as cancelled, whatever the agent calls it.
Rule 3: however many calls a turn left open, to end them holds nobody up: others have their turn in between.
"""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import msgspec

from trunkline.agents.exit_reason import last_words
from trunkline.agents.process import Exit
from trunkline.dialects.codes import ErrorCode
from trunkline.dialects.signals import StopReason, TurnEnd
from trunkline.errors import AgentAuthRequired, AgentError, AgentExited, IdleTimeout, StorageError, TrunklineError
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.background import Errands
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import OpenCall, Turn
from trunkline.session.intake.intake import GAP_S, HOLD_S
from trunkline.session.recorder import Pen
from trunkline.session.services import Lent
from trunkline.session.turns.spending import Spending
from trunkline.session.workspace.artifacts import ArtifactFinder

End = TurnEnd | TrunklineError

CALLS_AT_ONCE = 16
"""Calls that end with their turn at once: more than most turns leave open. One with a large input takes a millisecond."""


class TurnPlayer:
    """Plays one session's turns, one at a time."""

    def __init__(self, pen: Pen, link: AgentLink, approvals: Approvals, finder: ArtifactFinder, alarms: Alarms,
                 errands: Errands, watch: SilenceWatch, spending: Spending, lent: Lent) -> None:
        self._pen = pen
        self._link = link
        self._approvals = approvals
        self._spending = spending
        self._finder = finder
        self._alarms = alarms
        self._errands = errands
        self._watch = watch
        self._lent = lent
        self._end: asyncio.Future[End] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._silent: IdleTimeout | None = None
        self._prompted: Turn | None = None
        """The last turn whose prompt the agent was given."""
        self._closing = False
        self._began = 0

    def play(self, turn: Turn, content: list[msgspec.Raw]) -> None:
        """Begin a turn whose prompt is written."""
        self._alarms.clear("idle")
        self._silent = None
        self._finder.turn_started()
        self._began = self._lent.clock()
        self._end = asyncio.get_running_loop().create_future()
        prompted = self._link.running and self._pen.all_stored
        if prompted:
            self._prompt(turn, content, self._end)
        self._playing = asyncio.create_task(self._turn(turn, content, self._end, prompted))

    def answered(self, end: TurnEnd) -> None:
        """The agent answered the prompt. A second answer, or one to nothing, is only noted."""
        if not self._settle(self._silent or end):
            self._pen.at().writer.custom("late_turn_end", {"stopReason": end.stop})
            self._pen.write()

    def agent_exited(self, exit: Exit, stderr: str) -> None:
        """The agent's process ended."""
        self._alarms.clear("idle")
        turn = self._pen.fold.turn
        asks, questions = self._pen.fold.asks_of_turn() if turn is not None else ([], [])  # these end with their turn
        self._approvals.withdraw_all(by="agent", reason="the agent ended", but=[*asks, *questions])
        self._pen.at().tools.agent_gone()
        if turn is not None and turn.cancelled:
            end: End = TurnEnd(stop="cancelled")
        else:
            reason = last_words(stderr)
            end = self._silent or AgentExited(
                f"the agent ended in the middle of its turn ({exit})" + (f": {reason}" if reason else ""),
                details={"exitCode": exit.code, "signal": exit.signal, "stderr": stderr})
        if not self._settle(end) and turn is None:
            self._pen.at().lifecycle.agent_left()
            data = {"exitCode": exit.code, "signal": exit.signal, "stderr": stderr}
            self._pen.at().writer.custom("agent_exited", data)
            if exit.code == 0 and self._pen.fold.paused is None:  # a held session waits for a person, not for its agent
                self._pen.at().lifecycle.completed("the agent ended", by="agent")
            self._pen.write()

    async def cancel(self, *, by: str) -> bool:
        """Ask the agent to end the turn. Asked again while it does not, the agent is stopped. False: nothing runs."""
        turn = self._pen.fold.turn
        if turn is None:
            return False
        again = turn.cancelled
        self._pen.at().turns.cancelling(by=by)
        asks, questions = self._approvals.withdraw_all(by=by)
        self._pen.write()
        try:
            await self._pen.stored()
        except StorageError:
            self._errands.run(self._cancel_later(turn, asks, questions, again))
            raise
        self._cancelled(turn, asks, questions, again)
        return True

    async def _cancel_later(self, turn: Turn, asks: list[str], questions: list[str], again: bool) -> None:
        await self._pen.stored_at_last()
        self._cancelled(turn, asks, questions, again)

    def _cancelled(self, turn: Turn, asks: list[str], questions: list[str], again: bool) -> None:
        """The cancel is stored: tell the agent, and do not wait for it for ever."""
        if self._pen.fold.turn is not turn:
            if self._link.running:  # it ended by itself meanwhile, and its commands may go on
                self._link.driver.cancel_late()
            return
        self._tell_cancelled(turn, asks, questions)
        if again:
            self._give_up(None)
        else:
            self._alarms.set("cancel", self._lent.limits.cancel_grace_s, lambda: self._give_up(None))

    def fell_silent(self) -> None:
        """Nothing was heard for too long: cancel, and end the turn with that error."""
        limit = self.silence_limit()
        self._silent = IdleTimeout(f"the agent said nothing for {limit:.0f} s and was stopped", details={"seconds": limit})
        if self._link.running:
            self._link.driver.cancel()
        self._alarms.set("cancel", self._lent.limits.silence_grace_s, lambda: self._give_up(self._silent))

    def silence_limit(self) -> float:
        """How long the agent may say nothing now."""
        limits = self._lent.limits
        calls = self._pen.fold.calls.values()
        in_tool = any(not call.finished and call.state.status == "in_progress" for call in calls)
        return limits.tool_silence_s if in_tool else limits.silence_s

    def rest(self) -> None:
        """Nothing to do: an agent that stays unused is stopped after a while."""
        if self._link.running and not self._closing:
            self._alarms.set("idle", self._lent.limits.agent_idle_s, self._stop_unused)

    def _stop_unused(self) -> None:
        if not self._link.running:
            return
        if self._pen.fold.approvals or self._pen.fold.questions:
            self.rest()  # something in the background waits for a person
            return
        self._pen.at().lifecycle.agent_left()
        self._pen.at().writer.custom("agent_stopped", {"reason": f"unused for {self._lent.limits.agent_idle_s:.0f} s"})
        self._pen.write()
        self._link.stop_soon()

    async def close(self, error: TrunklineError) -> None:
        """End the running turn with ``error`` and play no more."""
        self._closing = True
        self._settle(error)
        await self.ended()

    async def _turn(self, turn: Turn, content: list[msgspec.Raw], end: asyncio.Future[End], prompted: bool) -> None:
        try:
            if not prompted:
                await self._begin(turn, content, end)
            await end
        except TrunklineError as error:
            self._settle(error)
        except Exception as error:  # the turn's boundary: whatever went wrong, a turn ends
            _report("a turn failed", error)
            self._settle(TrunklineError(f"the hub failed in the middle of this turn: {error!r}"))
        await self._finish(turn, end.result())

    async def _begin(self, turn: Turn, content: list[msgspec.Raw], end: asyncio.Future[End]) -> None:
        """Get the agent and prompt it. A turn that ends before that no longer needs it, and must not have it started."""
        agent = asyncio.ensure_future(self._link.ensure())
        first: list[asyncio.Future[Any]] = [agent, end]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if end.done():
            agent.cancel()
            await asyncio.gather(agent, return_exceptions=True)
            return
        await agent
        self._link.driver.check_prompt(content)
        await self._pen.stored()
        self._prompt(turn, content, end)

    def _prompt(self, turn: Turn, content: list[msgspec.Raw], end: asyncio.Future[End]) -> None:
        if end.done():
            return
        if turn.cancelled:
            end.set_result(TurnEnd(stop="cancelled"))
            return
        self._prompted = turn
        self._link.driver.prompt(content)
        self._watch.start()

    async def _finish(self, turn: Turn, end: End) -> None:
        self._watch.stop()
        self._alarms.clear("cancel")
        if isinstance(end, TurnEnd):
            await self._look_for_artifacts()
        await self._end_calls(turn, end)
        self._approvals.clear_alarms()
        self._end = None
        fold = self._pen.fold
        asks, questions = fold.asks_of_turn()
        fold.worked_us = self.worked_us()
        outcome = self._write_end(turn, end)
        self._lent.turn_ended(outcome)
        if asks or questions:
            self._errands.run(self._tell_closed(asks, questions))
        self._spending.check()
        # After a failure the queue waits for a person: what failed may fail for all of it.
        if not (outcome in get_args(StopReason) and self.play_queued()):
            self._pen.write()
            self.rest()

    def play_queued(self) -> bool:
        """Begin the first prompt that waits; False where none does, or the session is held."""
        fold = self._pen.fold
        if not fold.queue or fold.turn is not None or fold.paused is not None or self._closing:
            return False
        following, content = self._pen.at().turns.start_queued()
        self._pen.write()
        self.play(following, content)
        return True

    def worked_us(self) -> int:
        """Time spent in turns, the running one included."""
        fold = self._pen.fold
        return fold.worked_us + (self._lent.clock() - self._began if fold.turn is not None else 0)

    def end_now(self, end: End) -> None:
        """End the running turn, whatever the agent does."""
        self._settle(end)

    async def ended(self) -> None:
        """The turn that runs, if one does, is over and written down."""
        if self._playing is not None:
            await asyncio.wait([self._playing])

    async def _look_for_artifacts(self) -> None:
        try:
            await self._finder.look()
        except Exception as error:  # what cannot be looked at must not keep the turn from its end
            _report("artifacts could not be looked for", error)

    async def _end_calls(self, turn: Turn, end: End) -> None:
        """End what the turn left open in pieces, where that is much; what was asked about ends with the asks."""
        stop = end.stop if isinstance(end, TurnEnd) else None
        cancelled = turn.cancelled or stop == "cancelled"
        asked = {key for view in self._pen.fold.approvals.values() for key in view.call_ids}
        calls = [call for call in self._pen.at().tools.of_turn(cancelled=cancelled) if call.state.tool_call_id not in asked]
        if len(calls) <= CALLS_AT_ONCE:
            return
        self._pen.hold("turn")  # what the agent says meanwhile would have to be ended, too
        try:
            self._pen.at().text.close("cancelled" if turn.cancelled else stop)
            await self._end_in_pieces(calls, cancelled=cancelled)
        finally:
            self._pen.let_go("turn")

    async def _end_in_pieces(self, calls: list[OpenCall], *, cancelled: bool) -> None:
        now = asyncio.get_running_loop().time
        until = now() + HOLD_S
        for call in calls:
            self._pen.at().tools.end(call, cancelled=cancelled)
            if now() > until:
                self._pen.write()
                await asyncio.sleep(GAP_S)
                until = now() + HOLD_S

    def _write_end(self, turn: Turn, end: End) -> str:
        turns = self._pen.at().turns
        if isinstance(end, TrunklineError):
            turns.fail(end)
            return end.code
        stop = "cancelled" if turn.cancelled else end.stop
        if stop is not None:
            turns.end(stop, end.usage, usage_of_session=end.usage_of_session, said=end.said)
            return stop
        fault = end.error
        assert fault is not None, "a turn ends by a stop reason or by an error"
        details = {"agentData": msgspec.Raw(fault.data)} if fault.data is not None else None
        kind = AgentAuthRequired if fault.code == ErrorCode.AUTH_REQUIRED else AgentError
        error = kind(fault.message, details=details, agent_code=str(fault.code))
        turns.fail(error, rpc_code=fault.code)
        return error.code

    def _settle(self, end: End) -> bool:
        if self._end is None or self._end.done():
            return False
        self._end.set_result(end)
        return True

    def _tell_cancelled(self, turn: Turn, asks: list[str], questions: list[str]) -> None:
        if self._link.running and self._prompted is turn:  # else the agent knows of none, but may of the one before
            self._link.driver.cancel()
        self._approvals.dismiss(asks, questions)

    async def _tell_closed(self, asks: list[str], questions: list[str]) -> None:
        """What the agent left open when it ended its turn was closed with it; it hears so once that is stored."""
        await self._pen.stored()
        self._approvals.dismiss(asks, questions)

    def _give_up(self, error: TrunklineError | None) -> None:
        """The agent does not end its turn when asked: the hub does, and kills it. It was waited for long enough."""
        self._settle(error or TurnEnd(stop="cancelled"))
        self._link.stop_soon(at_once=True)


def _report(message: str, error: Exception) -> None:
    asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})
