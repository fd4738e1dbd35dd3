"""A turn: from a committed prompt to exactly one end, and on to the next prompt that waits.

    prompt stored ─→ agent runs ─→ prompt sent ─→ … ─→ end ─→ artifacts ─→ end stored ─→ next in queue, or rest
                        │               │           ↑
                        └─ cannot start ┘           ├── the agent answered (stop reason or error)
                                                    ├── the agent's process ended
                                                    ├── it did not end after a cancel
                                                    └── it fell silent, was cancelled, and still did not end

Rule 1: whatever happens first ends the turn; everything after is kept as an entry and changes nothing.
Rule 2: a turn that a person cancelled ended as cancelled, whatever the agent calls it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec

from trunkline.agents.exit_reason import last_words
from trunkline.agents.process import Exit
from trunkline.dialects.signals import StopReason, TurnEnd
from trunkline.errors import AgentExited, IdleTimeout, StorageError, TrunklineError
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.background import BackgroundTasks
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import Turn
from trunkline.session.recorder import Recorder
from trunkline.session.services import Services
from trunkline.session.turns.ending import End, TurnEnding, report_fault
from trunkline.session.workspace.artifacts import ArtifactFinder

STOP_REASONS: Final = frozenset(get_args(StopReason))


class TurnPlayer:
    """Plays one session's turns, one at a time."""

    def __init__(self, recorder: Recorder, link: AgentLink, approvals: Approvals, finder: ArtifactFinder, alarms: Alarms,
                 background: BackgroundTasks, watch: SilenceWatch, services: Services) -> None:
        self._recorder = recorder
        self._link = link
        self._approvals = approvals
        self._finder = finder
        self._alarms = alarms
        self._background = background
        self._watch = watch
        self._services = services
        self._ending = TurnEnding(recorder, finder)
        self._end: asyncio.Future[End] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._silent: IdleTimeout | None = None
        self._prompted: Turn | None = None
        """The last turn whose prompt the agent was given."""
        self._closing = False
        self._began = 0
        self._after_turn: list[Callable[[], None]] = []

    def after_turn(self, act: Callable[[], None]) -> None:
        """Have this done after each turn's end is written, and before the next begins; it may hold the session."""
        self._after_turn.append(act)

    def begin(self, turn: Turn, content: list[msgspec.Raw], *, is_next: bool = False) -> None:
        """Write a turn's prompt, and play it. The agent gets it before readers do: everybody waits for what it will say.
        ``is_next``: readers get the end of the turn before with it, and that may not wait for what this one brings."""
        self._recorder.hold_readers()
        try:
            self._recorder.write()
            self._play(turn, content)
        finally:
            self._recorder.let_readers_go(at_once=is_next)

    def _play(self, turn: Turn, content: list[msgspec.Raw]) -> None:
        self._alarms.clear("idle")
        self._silent = None
        self._finder.turn_started()
        self._began = self._services.clock()
        loop = asyncio.get_running_loop()
        self._end = loop.create_future()
        prompted = self._link.running and self._recorder.all_stored
        if prompted:
            self._prompt(turn, content, self._end)
        self._playing = loop.create_task(self._turn(turn, content, self._end, prompted))

    def answered(self, end: TurnEnd) -> None:
        """The agent answered the prompt. A second answer, or one to nothing, is only noted."""
        if not self._settle(self._silent or end):
            self._recorder.at().writer.custom("late_turn_end", {"stopReason": end.stop})
            self._recorder.write()

    def agent_exited(self, exit: Exit, stderr: str) -> None:
        """The agent's process ended."""
        self._alarms.clear("idle")
        turn = self._recorder.fold.turn
        asks, questions = self._recorder.fold.asks_of_turn() if turn is not None else ([], [])  # these end with their turn
        self._approvals.withdraw_all(by="agent", reason="the agent ended", but=[*asks, *questions])
        self._recorder.at().tools.agent_gone()
        if turn is not None and turn.cancelled:
            end: End = TurnEnd(stop="cancelled")
        else:
            reason = last_words(stderr)
            end = self._silent or AgentExited(
                f"the agent ended in the middle of its work ({exit})" + (f": {reason}" if reason else ""),
                details={"exitCode": exit.code, "signal": exit.signal, "stderr": stderr})
        if not self._settle(end) and turn is None:
            self._recorder.at().lifecycle.agent_left()
            data = {"exitCode": exit.code, "signal": exit.signal, "stderr": stderr}
            self._recorder.at().writer.custom("agent_exited", data)
            if exit.code == 0 and self._recorder.fold.paused is None:  # a held session waits for a person, not for its agent
                self._recorder.at().lifecycle.completed("the agent ended", by="agent")
            self._recorder.write()

    async def cancel(self, *, by: str) -> bool:
        """Ask the agent to end the turn. Asked again while it does not, the agent is stopped. False: nothing runs."""
        turn = self._recorder.fold.turn
        if turn is None:
            return False
        again = turn.cancelled
        self._recorder.at().turns.cancelling(by=by)
        asks, questions = self._approvals.withdraw_all(by=by)
        self._recorder.write()
        try:
            await self._recorder.stored()
        except StorageError:
            self._background.run(self._cancel_later(turn, asks, questions, again))
            raise
        self._cancelled(turn, asks, questions, again)
        return True

    async def _cancel_later(self, turn: Turn, asks: list[str], questions: list[str], again: bool) -> None:
        await self._recorder.stored_at_last()
        self._cancelled(turn, asks, questions, again)

    def _cancelled(self, turn: Turn, asks: list[str], questions: list[str], again: bool) -> None:
        """The cancel is stored: send it to the agent, and do not wait for it for ever."""
        if self._recorder.fold.turn is not turn:
            if self._link.running:  # it ended by itself meanwhile, and its commands may go on
                self._link.driver.cancel_late()
            return
        self._send_cancel(turn, asks, questions)
        if again:
            self._give_up(None)
        else:
            self._alarms.set("cancel", self._services.limits.cancel_grace, lambda: self._give_up(None))

    def fell_silent(self) -> None:
        """The agent was silent for too long: cancel, and end the turn with that error."""
        limit = self.silence_limit()
        self._silent = IdleTimeout(f"the agent said nothing for {limit:.0f} s and was stopped", details={"seconds": limit})
        if self._link.running:
            self._link.driver.cancel()
        self._alarms.set("cancel", self._services.limits.silence_grace, lambda: self._give_up(self._silent))

    def silence_limit(self) -> float:
        """How long the agent may say nothing now."""
        limits = self._services.limits
        calls = self._recorder.fold.calls.values()
        in_tool = any(not call.finished and call.state.status == "in_progress" for call in calls)
        return limits.tool_timeout if in_tool else limits.idle_timeout

    def rest(self) -> None:
        """Nothing to do: an agent that stays unused is stopped after a while."""
        if self._link.running and not self._closing:
            self._alarms.set("idle", self._services.limits.agent_idle_stop, self._stop_unused)

    def _stop_unused(self) -> None:
        if not self._link.running:
            return
        if self._recorder.fold.approvals or self._recorder.fold.questions:
            self.rest()  # something in the background waits for a person
            return
        self._recorder.at().lifecycle.agent_left()
        unused_s = self._services.limits.agent_idle_stop
        self._recorder.at().writer.custom("agent_stopped", {"reason": f"unused for {unused_s:.0f} s"})
        self._recorder.write()
        self._link.stop_soon()

    async def close(self, error: TrunklineError) -> None:
        """End the running turn with ``error`` and play no more."""
        self._closing = True
        self._settle(error)
        await self.ended()
        self._watch.stop()

    async def _turn(self, turn: Turn, content: list[msgspec.Raw], end: asyncio.Future[End], prompted: bool) -> None:
        try:
            if not prompted:
                await self._begin(turn, content, end)
            await end
        except TrunklineError as error:
            self._settle(error)
        except Exception as error:  # the turn's boundary: whatever went wrong, a turn ends
            report_fault("a turn failed", error)
            self._settle(TrunklineError(f"Trunkline failed while the agent worked on this: {error!r}"))
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
        await self._recorder.stored()
        self._prompt(turn, content, end)

    def _prompt(self, turn: Turn, content: list[msgspec.Raw], end: asyncio.Future[End]) -> None:
        if end.done():
            return
        if turn.cancelled:
            end.set_result(TurnEnd(stop="cancelled"))
            return
        self._prompted = turn
        self._link.driver.prompt(content)
        self._watch.start(self.silence_limit, self.fell_silent)

    async def _finish(self, turn: Turn, end: End) -> None:
        self._watch.stop()
        self._alarms.clear("cancel")
        if isinstance(end, TurnEnd):
            await self._ending.look_for_artifacts()
        self._finder.turn_ended()
        await self._ending.end_calls(turn, end)
        self._approvals.timeouts.stop_turn()
        self._end = None
        asks, questions = self._recorder.fold.asks_of_turn()
        self._recorder.at().turns.worked(self.worked_us())
        outcome = self._ending.write(turn, end)
        self._services.turn_ended(outcome, self._recorder.fold)
        if asks or questions:
            self._background.run(self._dismiss_closed(asks, questions))
        for act in self._after_turn:
            act()
        # After a failure the queue waits for a person: what failed may fail for all of it.
        if not (outcome in STOP_REASONS and self.play_queued()):
            self._recorder.write()
            self.rest()

    def play_queued(self) -> bool:
        """Begin the first prompt that waits; False where none does, or the session is held."""
        fold = self._recorder.fold
        if not fold.queue or fold.turn is not None or fold.paused is not None or self._closing:
            return False
        following, content = self._recorder.at().turns.start_queued()
        self.begin(following, content, is_next=True)
        return True

    def worked_us(self) -> int:
        """Time spent in turns, the running one included."""
        fold = self._recorder.fold
        return fold.worked_us + (self._services.clock() - self._began if fold.turn is not None else 0)

    def end_now(self, end: End) -> None:
        """End the running turn, whatever the agent does."""
        self._settle(end)

    async def ended(self) -> None:
        """The turn that runs, if one does, is over and written down."""
        if self._playing is not None:
            await asyncio.wait([self._playing])

    def _settle(self, end: End) -> bool:
        if self._end is None or self._end.done():
            return False
        self._end.set_result(end)
        return True

    def _send_cancel(self, turn: Turn, asks: list[str], questions: list[str]) -> None:
        if self._link.running and self._prompted is turn:  # else the agent knows of none, but may of the one before
            self._link.driver.cancel()
        self._approvals.answers.dismiss(asks, questions)

    async def _dismiss_closed(self, asks: list[str], questions: list[str]) -> None:
        """What the agent left open when it ended its turn was closed with it; the agent is answered so once it is stored."""
        await self._recorder.stored()
        self._approvals.answers.dismiss(asks, questions)

    def _give_up(self, error: TrunklineError | None) -> None:
        """The agent does not end its turn when asked: the hub does, and kills it. It was waited for long enough."""
        self._settle(error or TurnEnd(stop="cancelled"))
        self._link.stop_soon(at_once=True)
