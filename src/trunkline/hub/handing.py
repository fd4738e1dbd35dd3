"""Sessions that change hubs, within a cluster: one leaves, one comes.

Rule 1: what comes is found by nobody until it is this hub's (``arrived``). What never becomes that is thrown out.
Rule 2: it goes through the committer like all that is written: one group at a time, and readers of the whole hub see it in order.
Rule 3: it is folded before anybody has it: a state that had to be made again from entries is this hub's first checkpoint.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trunkline.errors import SessionNotFound, TrunklineError
from trunkline.hub.agents import Agents
from trunkline.hub.folders import folder
from trunkline.hub.sessions import Sessions
from trunkline.journal.base import Entry, Journal, RowFilter, SessionRow
from trunkline.journal.committer import Committer
from trunkline.session.fold import checkpoint
from trunkline.session.fold.kept import Arrival
from trunkline.session.restore.reload import refold
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.session.session import Session


class Handing:
    """Takes sessions in, and lets them go. ``lane`` is where folders are looked at."""

    def __init__(self, journal: Journal, committer: Committer, sessions: Sessions, agents: Agents, lane: Lane,
                 guarded: tuple[str, ...]) -> None:
        self._journal = journal
        self._committer = committer
        self._sessions = sessions
        self._agents = agents
        self._lane = lane
        self._guarded = guarded

    async def check_can_go_on(self, agent: str, cwd: str) -> None:
        """Raises where a session with this agent could not go on here, for lack of the agent or of its folder."""
        self._sessions.check_new()
        self._agents.spec(agent)
        await self._lane.run(folder, cwd, self._guarded)

    async def has(self, session_id: str) -> bool:
        """Whether the journal has such a session."""
        return bool(await self._journal.rows(RowFilter(id=session_id, limit=1)))

    async def take_in(self, row: SessionRow, pages: AsyncIterator[list[Entry]]) -> None:
        """Write a session down that another hub had; nobody finds it yet."""
        await self.throw_out(row.id)
        async for page in pages:
            self._committer.submit(row.id, page, changes=True)
            await self._committer.committed(row.id)
        await self._store_row(row)
        stored = (await self._journal.rows(RowFilter(id=row.id, limit=1)))[0]
        fold = await refold(self._journal, stored)
        await self._store_row(replace(stored, checkpoint=checkpoint(fold), checkpoint_seq=stored.last_seq))

    async def throw_out(self, session_id: str) -> None:
        """Forget what was written of a session that is not this hub's, where anything was."""
        self._sessions.hide(session_id)
        if await self.has(session_id):
            await self._sessions.forget_copy(session_id)

    async def arrived(self, session_id: str, arrival: Arrival, error: TrunklineError) -> Session:
        """It is this hub's from now on; a turn that was open in it ends with ``error``."""
        self._sessions.show(session_id)
        session = await self._sessions.find(session_id)
        await session.lifecycle.arrive(arrival, error)
        return session

    async def note_aside(self, session_id: str, epoch: int, node: str, entries: int) -> None:
        """Say in a session of this hub that the one before it has put something aside."""
        session = await self._sessions.find(session_id)
        await session.lifecycle.tail_aside(epoch, node, entries)

    async def put_away(self, session_id: str, why: TrunklineError) -> None:
        """A session is another hub's now: stop it here, and forget it."""
        try:
            await self._sessions.delete(session_id, why)
        except SessionNotFound:
            return  # it was put away before

    async def _store_row(self, row: SessionRow) -> None:
        self._committer.submit(row.id, [], lambda: row)
        await self._committer.committed(row.id)
