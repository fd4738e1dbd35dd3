"""What an earlier hub left open is closed at the start, before anybody is let in.

Rule: of a turn that was cut off its readers get one error. A question that the hub itself asked outlives the hub.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from trunkline.agents.catalog import AgentSpec
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process_tree import end_leftover
from trunkline.errors import HubRestarted, SessionUnreadable
from trunkline.hub.audit import AuditNotes
from trunkline.hub.sessions import Sessions
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.session.fold import IS_OPEN

log = logging.getLogger("trunkline.hub")

ROWS_AT_ONCE = 200


async def end_left_agents(pids: PidFiles, agents: Mapping[str, AgentSpec]) -> None:
    """End agents that were left behind, but not the daemons that they share with others. Where none was, no entry is read."""
    all_left = await asyncio.to_thread(pids.left_behind)
    spared = [daemon.command for spec in agents.values() for daemon in spec.daemons] if all_left else []
    for left in all_left:
        await end_leftover(left.pid, left.start_time, left.marker, keepers=left.keepers, spared=spared)
        pids.forget(left.session_id)


async def recover_sessions(journal: Journal, sessions: Sessions, audit: AuditNotes) -> None:
    """End turns that were cut off; open the sessions in which a person is still asked."""
    before: tuple[int, str] | None = None
    with_question: list[str] = []
    while rows := await journal.rows(RowFilter(status=IS_OPEN, before=before, limit=ROWS_AT_ONCE)):
        for row in rows:
            if await _recover(row, journal, sessions, audit):
                with_question.append(row.id)
        before = (rows[-1].updated_at, rows[-1].id)
    for session_id in with_question:
        await sessions.find(session_id)


async def _recover(row: SessionRow, journal: Journal, sessions: Sessions, audit: AuditNotes) -> bool:
    """Returns whether a question is still open in it."""
    restarted = HubRestarted("Trunkline was restarted while the agent worked on this; send the prompt again")
    try:
        session = await sessions.restored(row)
    except SessionUnreadable as error:
        log.error("%s; it is left as it is", error.message)
        return False
    await session.lifecycle.reread_open_text(journal)
    session.lifecycle.recover(restarted)
    await session.lifecycle.close(restarted)
    await audit.note([session])
    return session.fold.watches is None and bool(session.fold.questions)
