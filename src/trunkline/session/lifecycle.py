"""How a session begins: with a new conversation, with one that the agent has already, with a file that somebody else's agent
writes; and again after a crash. How it changes hands, rests, and ends.

Rule: these are the hub's. What clients do is reached through the session's properties, which check whether they may.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from trunkline.errors import StorageError, TrunklineError, TurnInProgress
from trunkline.journal.base import Journal
from trunkline.session.admission import Admission
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.background import BackgroundTasks
from trunkline.session.deadlines import Alarms
from trunkline.session.driver.elsewhere import FileEnd
from trunkline.session.driver.line import LineEnd
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import IS_OPEN
from trunkline.session.fold.kept import Arrival
from trunkline.session.intake.intake import Intake
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.text import chunk_text
from trunkline.session.recorder import Recorder
from trunkline.session.turns.hold import Hold
from trunkline.session.turns.spending import Spending
from trunkline.session.turns.turn import TurnPlayer
from trunkline.session.workspace.artifacts import ArtifactFinder


class Lifecycle:
    """Begins and ends one session."""

    def __init__(self, recorder: Recorder, link: AgentLink, *, admission: Admission, env: dict[str, str], finder: ArtifactFinder,
                 player: TurnPlayer, hold: Hold, spending: Spending, approvals: Approvals, intake: Intake,
                 background: BackgroundTasks, alarms: Alarms, line: LineEnd) -> None:
        """``env`` takes the variables that come with the session's start."""
        self._recorder = recorder
        self._link = link
        self._admission = admission
        self._env = env
        self._finder = finder
        self._player = player
        self._hold = hold
        self._spending = spending
        self._approvals = approvals
        self._intake = intake
        self._background = background
        self._alarms = alarms
        self._line = line

    async def open(self, *, env: Mapping[str, str], mode: str | None, title: str | None, by: str) -> None:
        """Begin a new session: start the agent and write the first entries."""
        recorder = self._recorder
        self._env.update(env)
        self._finder.learn()
        await self._link.ensure()
        if title:
            recorder.at().conditions.title(title, by=by)
        if mode is not None and mode != recorder.fold.mode:
            await self._link.driver.set_mode(mode)
            recorder.at().conditions.mode(mode, None)
        recorder.at().writer.status("idle")
        await recorder.write_and_store()
        self._player.rest()

    async def adopt(self, *, by: str) -> None:
        """Begin with a session that the agent has already: what it sends of it again is our history from the first entry on."""
        recorder = self._recorder
        self._finder.learn()
        interpret = recorder.at()
        interpret.lifecycle.started(recorder.fold.agent, None, recorder.fold.cwd, None)
        interpret.writer.custom("session_attached", {"agentSessionId": recorder.fold.agent_session_id}, meta={"by": by})
        recorder.write()
        interpret.replaying = True
        try:
            await self._link.ensure(adopt=True)
            await self._intake.settled()
        finally:
            interpret.replaying = False
        interpret = recorder.at()
        interpret.replayed()
        interpret.writer.status("idle")
        await recorder.write_and_store()
        self._player.rest()

    async def watch(self, *, by: str) -> None:
        """Follow a session that somebody else's agent writes into a file: from its beginning, or on from where we were."""
        recorder = self._recorder
        begins = recorder.fold.seq == 0
        if begins:
            interpret = recorder.as_of(recorder.fold.created_at)
            interpret.lifecycle.started(recorder.fold.agent, None, recorder.fold.cwd, None)
            data = {"agentSessionId": recorder.fold.agent_session_id, "watches": recorder.fold.watches}
            interpret.writer.custom("session_attached", data, meta={"by": by})
            interpret.writer.status("idle")
            recorder.write()
        self._line.reset()
        await self._link.ensure(adopt=begins)
        await recorder.write_and_store()

    async def take_over(self, check: Callable[[], Awaitable[None]], *, by: str) -> None:
        """Go on here with what was followed: its file is read to the end, then its own agent opens it, or all stays as it was.
        ``check`` is asked right before that, and raises where somebody else has it; and once more when the agent has it, since no
        look and no start are one."""
        recorder, fold = self._recorder, self._recorder.fold
        assert fold.watches is not None, "only what is followed is taken over"
        path, parts, waits = fold.watches, dict(fold.watch_parts), fold.waits
        self._finder.learn()
        try:
            await self._link.read_to_end()
            await check()
            path, parts = fold.watches, dict(fold.watch_parts)
            self._close_followed()
            recorder.at().lifecycle.taken_over()
            await self._link.ensure(adopt=True)
            await check()
        except BaseException:
            await self._link.stop()
            recorder.at().lifecycle.given_back(path, fold.watch_position, parts, waits)
            if self._admission.is_open:
                await self.watch(by=by)
            raise
        recorder.at().writer.custom("session_taken_over", {"agentSessionId": fold.agent_session_id}, meta={"by": by})
        recorder.at().writer.status("idle")
        await recorder.write_and_store()
        self._player.rest()

    def _close_followed(self) -> None:
        """Whoever wrote the file is gone: nothing more comes of what is open in it."""
        self._approvals.leave_to_terminal("taken_over")
        interpret = self._recorder.at()
        if interpret.fold.turn is not None:
            interpret.turns.end("cancelled")
        interpret.lifecycle.agent_left()
        self._recorder.write()

    async def give_back(self, find: Callable[[], Awaitable[FileEnd | None]], *, by: str) -> bool:
        """End the agent, and follow its file from where that ends then. ``find`` looks for it; where there is none that we can
        read, the agent is ended and that is all: returns whether it is followed."""
        recorder, fold = self._recorder, self._recorder.fold
        self._check_rests()
        await self._link.stop()
        await self._intake.hurry()
        end = await find()
        self._check_rests()
        self._alarms.clear("idle")
        recorder.at().lifecycle.agent_left()
        if end is not None:
            recorder.at().lifecycle.given_back(end.path, end.position, end.parts, end.waits)
        data = {"agentSessionId": fold.agent_session_id, "watches": fold.watches}
        recorder.at().writer.custom("session_given_back", data, meta={"by": by})
        recorder.write()
        if end is not None:
            await self._link.ensure()
        await recorder.write_and_store()
        return end is not None

    def _check_rests(self) -> None:
        if self._recorder.fold.turn is not None:
            raise TurnInProgress("a turn is running; cancel it, or wait for its end, and give the session back then")

    async def reread_open_text(self, journal: Journal) -> None:
        """Fill in the open message after a restart: the checkpoint names it, the journal has its words."""
        text = self._recorder.fold.text
        if text is None:
            return
        story = self._recorder.at().text
        after = text.start_seq - 1
        while entries := await journal.read(self._recorder.fold.session_id, after=after):
            for entry in entries:
                token = chunk_text(entry.update) if entry.update is not None else None
                if token is not None:
                    story.collect(text, token)
            after = entries[-1].seq

    def recover(self, error: TrunklineError) -> None:
        """Close what a crash left open, so that the next prompt finds the session in order."""
        fold, interpret = self._recorder.fold, self._recorder.at()
        if fold.watches is not None:  # its turn goes on elsewhere
            self._approvals.leave_to_terminal(error.code)
            return
        if fold.turn is not None:
            interpret.turns.fail(error)
        for request_id in list(fold.approvals):
            interpret.asks.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason=error.code)
        for question_id in fold.agent_questions():
            interpret.questions.answered(question_id, action="cancel", content=None, who="hub")
        interpret.lifecycle.agent_left()
        if fold.paused is None:
            interpret.writer.status(standing(fold), reason=error.code)
        self._recorder.write()
        self._spending.check()

    async def arrive(self, arrival: Arrival, error: TrunklineError) -> None:
        """Go on here with a session that another hub had; what it left open ends with ``error``. The agent comes with the next
        prompt, as after a restart."""
        self._recorder.at().lifecycle.arrived(arrival)
        self._recorder.write()
        if self._recorder.fold.status in IS_OPEN:
            self.recover(error)
        await self._recorder.write_and_store()

    async def tail_aside(self, epoch: int, node: str, entries: int) -> None:
        """Say that the hub which had the session before has put something aside."""
        self._recorder.at().lifecycle.tail_aside(epoch, node, entries)
        await self._recorder.write_and_store()

    def doze(self) -> None:
        """Nobody uses the session: hold nothing in memory but what readers hold. ``wake`` undoes it."""
        self._recorder.rest()

    def wake(self) -> None:
        """Somebody uses the session again."""
        self._recorder.resume()

    def drained(self) -> None:
        """The journal has caught up with all sessions."""
        self._recorder.drained()

    async def store_row(self) -> None:
        """Have the row that lists are made from say what is so now. Where it cannot be stored, the last one that was counts."""
        if self._recorder.write_row():
            with suppress(StorageError):
                await self._recorder.stored_soon()

    async def close(self, error: TrunklineError) -> None:
        """Stop the agent and end every reader. An open turn ends with ``error``, and so does whatever is wanted from now on."""
        self._admission.close(error)
        await self._intake.hurry()
        if self._recorder.fold.watches is not None:
            self._approvals.leave_to_terminal(error.code)
        await self._player.close(error)
        await self._link.close()
        await self._intake.hurry()
        if self._recorder.fold.watches is None:  # who writes a file that we follow goes on without us
            self._approvals.withdraw_all(by="hub", reason=error.code)
            self._recorder.at().lifecycle.agent_left()
            self._recorder.write()
        await self._hold.settled()
        await self._background.close()
        await self._recorder.close()
        self._alarms.clear_all()
