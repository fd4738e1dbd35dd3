"""How a session begins: with a new conversation, with one that the agent has already, with a file that somebody else's agent
writes; and again after a crash."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from trunkline.errors import TrunklineError
from trunkline.journal.base import Journal
from trunkline.session.driver.link import AgentLink
from trunkline.session.interpret.lifecycle import standing
from trunkline.session.interpret.text import text_of
from trunkline.session.recorder import Recorder
from trunkline.session.turns.turn import TurnPlayer
from trunkline.session.workspace.artifacts import ArtifactFinder


class Beginnings:
    """Begins one session."""

    def __init__(self, recorder: Recorder, link: AgentLink, finder: ArtifactFinder, turns: TurnPlayer,
                 caught_up: Callable[[], Awaitable[None]]) -> None:
        """``caught_up`` waits until all is heard that the agent has said so far."""
        self._recorder = recorder
        self._link = link
        self._finder = finder
        self._turns = turns
        self._caught_up = caught_up

    async def new(self, mode: str | None, title: str | None, by: str) -> None:
        """Start the agent and write the first entries."""
        recorder = self._recorder
        self._finder.learn()
        await self._link.ensure()
        if title:
            recorder.at().conditions.title(title, by=by)
        if mode is not None and mode != recorder.fold.mode:
            await self._link.driver.set_mode(mode)
            recorder.at().conditions.mode(mode, None)
        recorder.at().writer.status("idle")
        await recorder.write_and_store()
        self._turns.rest()

    async def adopt(self, by: str) -> None:
        """Go on with a session of the agent's: what it tells of it again is our history from the first entry on."""
        recorder = self._recorder
        self._finder.learn()
        interpret = recorder.at()
        interpret.lifecycle.started(recorder.fold.agent, None, recorder.fold.cwd, None)
        interpret.writer.custom("session_attached", {"agentSessionId": recorder.fold.agent_session_id}, meta={"by": by})
        recorder.write()
        interpret.replaying = True
        try:
            await self._link.ensure(adopt=True)
            await self._caught_up()
        finally:
            interpret.replaying = False
        interpret = recorder.at()
        interpret.replayed()
        interpret.writer.status("idle")
        await recorder.write_and_store()
        self._turns.rest()

    async def watch(self, by: str) -> None:
        """Follow a file: from its beginning, or on from where we were."""
        recorder = self._recorder
        begins = recorder.fold.seq == 0
        if begins:
            interpret = recorder.as_of(recorder.fold.created_at)
            interpret.lifecycle.started(recorder.fold.agent, None, recorder.fold.cwd, None)
            data = {"agentSessionId": recorder.fold.agent_session_id, "watches": recorder.fold.watches}
            interpret.writer.custom("session_attached", data, meta={"by": by})
            interpret.writer.status("idle")
            recorder.write()
        await self._link.ensure(adopt=begins)
        await recorder.write_and_store()

    async def reread_open_text(self, journal: Journal) -> None:
        """Fill in the open message after a restart: the checkpoint names it, the journal has its words."""
        text = self._recorder.fold.text
        if text is None:
            return
        story = self._recorder.at().text
        after = text.start_seq - 1
        while entries := await journal.read(self._recorder.fold.session_id, after=after):
            for entry in entries:
                token = text_of(entry.update) if entry.update is not None else None
                if token is not None:
                    story.collect(text, token)
            after = entries[-1].seq

    def recover(self, error: TrunklineError) -> None:
        """Close what a crash left open, so that the next prompt finds the session in order."""
        fold, interpret = self._recorder.fold, self._recorder.at()
        if fold.turn is not None:
            interpret.turns.fail(error)
        for request_id in list(fold.approvals):
            interpret.asks.resolve(request_id, approved=False, resolved_by="policy", who="hub", reason=error.code)
        for question_id in fold.agent_questions():
            interpret.asks.answered(question_id, action="cancel", content=None, who="hub")
        interpret.lifecycle.agent_left()
        if fold.paused is None:
            interpret.writer.status(standing(fold), reason=error.code)
        self._recorder.write()
