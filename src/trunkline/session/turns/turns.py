"""What people do with the turns of a session: prompts sent, changed and taken back; turns cancelled, held and let go."""

from __future__ import annotations

from collections.abc import Sequence

from trunkline.dialects.acp.content import ContentBlock
from trunkline.session.admission import Admission
from trunkline.session.commands.requests import Accepted
from trunkline.session.turns.hold import Hold
from trunkline.session.turns.prompts import Prompts, WhenBusy
from trunkline.session.turns.turn import TurnPlayer


class Turns:
    """The turns of one session, for whoever steers it. Reached as ``session.turns``, which lets in whom it may."""

    def __init__(self, prompts: Prompts, player: TurnPlayer, hold: Hold, admission: Admission) -> None:
        self._prompts = prompts
        self._player = player
        self._hold = hold
        self._admission = admission

    async def send(self, content: Sequence[ContentBlock], *, when_busy: WhenBusy = "reject",
                   idempotency_key: str | None = None, by: str) -> Accepted:
        """Take a prompt: it starts its turn, or waits in the queue. Returns once that is in the journal."""
        await self._hold.settled()
        self._admission.check_open()  # it may have been closed while it was ended
        return await self._prompts.take(content, when_busy, idempotency_key, by)

    async def edit_queued(self, turn_id: str, content: Sequence[ContentBlock], *, by: str) -> None:
        """Change a prompt that waits."""
        await self._prompts.edit(turn_id, content, by)

    async def drop_queued(self, turn_id: str, *, by: str) -> None:
        """Take a waiting prompt back."""
        await self._prompts.drop(turn_id, by)

    async def cancel(self, *, by: str) -> bool:
        """End the running turn; False where nothing runs."""
        return await self._player.cancel(by=by)

    async def pause(self, *, by: str, reason: str | None = None, interrupt: bool = False) -> list[str]:
        """Hold the session: rules allow nothing, the queue waits; with ``interrupt`` the turn ends too. Returns what is held."""
        return await self._hold.pause(by=by, reason=reason, interrupt=interrupt)

    async def resume(self, *, by: str) -> bool:
        """Let a held session go on, and a queue that a failure held back; a session whose agent is gone gets it back. False where
        nothing was held or gone."""
        return await self._hold.resume(by=by)

    async def terminate(self, *, by: str) -> None:
        """End the session: its turn, its agent and everything that the agent started. Its history stays."""
        await self._hold.terminate(by=by)
