"""Keeps ``audit.log`` behind the journal: how far each session's approvals have come.

Rule 1: only what the journal has is noted, as the session's row has it.
Rule 2: never in the middle of a turn: it is done when a turn has ended, when a session is recovered, and when the hub stops.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trunkline.errors import SessionUnreadable, StorageError
from trunkline.hub.shapes import HubOptions
from trunkline.journal.base import Journal, RowFilter
from trunkline.journal.deleted_ids import DeletedIds
from trunkline.session.audit.chain import Chain
from trunkline.session.audit.key import AUDIT_KEY_FILE, audit_key
from trunkline.session.audit.log import AUDIT_LOG_FILE, AuditLog, Note
from trunkline.session.restore.reload import refold

if TYPE_CHECKING:
    from trunkline.session.session import Session


def chain_key(options: HubOptions) -> bytes:
    """The key of the approvals' hash chain: beside the database, not in it."""
    path = options.file(AUDIT_KEY_FILE)
    if path is None:
        return secrets.token_bytes(32)
    options.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return audit_key(path)


def audit_log(options: HubOptions, key: bytes) -> AuditLog | None:
    """How far the chains have come, beside the database."""
    path = options.file(AUDIT_LOG_FILE)
    return AuditLog(path, key) if path is not None else None


class AuditNotes:
    """Notes the chains of a hub's sessions; without a log (a hub in memory) it does nothing."""

    def __init__(self, journal: Journal, log: AuditLog | None, sessions: Iterable[Session]) -> None:
        self._journal = journal
        self._log = log
        self._sessions = sessions
        self._task: asyncio.Task[None] | None = None
        self._is_behind = True
        """Whether there may be something to note in sessions whose turn ended before."""
        self._deleted = DeletedIds()

    def open(self) -> None:
        """Read the log, or begin one."""
        if self._log is not None:
            self._log.open()

    def turn_ended(self, session_id: str, chain: Chain) -> None:
        """Note what has come, off the way of whoever ended it. Mostly nothing has: nobody was asked in that turn."""
        if self._log is not None and self._task is None and (self._is_behind or not self._log.knows(session_id, chain)):
            self._task = asyncio.get_running_loop().create_task(self._note_stored())
            self._task.add_done_callback(self._done)

    def found(self, session_id: str, chain: Chain) -> None:
        """A session was read from the journal with this chain."""
        if self._log is not None:
            self._log.found(session_id, chain)

    def delete(self, session_id: str) -> None:
        """A session is about to be deleted, because somebody wants it."""
        self._deleted.add(session_id)
        if self._log is not None:
            self._log.delete(session_id)

    def came(self, session_id: str) -> None:
        """A session came from another hub, which may have been here before."""
        self._deleted.discard(session_id)

    async def note(self, sessions: Iterable[Session]) -> None:
        """Note how far the journal has these sessions."""
        if self._log is None:
            return
        notes: list[Note] = []
        for session in sessions:
            if not self._log.knows(session.id, session.fold.chain):
                notes += await self._in_journal(session.id)
        self._log.note([note for note in notes if note.session not in self._deleted
                        and not self._log.knows(note.session, Chain(note.n, note.head))])

    async def close(self) -> None:
        """The hub stops: nothing is noted any more but by ``note``."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _note_stored(self) -> None:
        log = self._log
        assert log is not None
        behind = [session for session in self._sessions if not log.knows(session.id, session.fold.chain)]
        self._is_behind = bool(behind)  # the next turn's end looks again whether all of it could be noted
        for session in behind:
            try:
                await session.snapshot()
            except StorageError:
                continue  # what the journal has is noted, the rest when it has that
        await self.note(behind)

    async def _in_journal(self, session_id: str) -> list[Note]:
        try:
            rows = await self._journal.rows(RowFilter(id=session_id, limit=1))
            chains = [(await refold(self._journal, row)).chain for row in rows]
        except (StorageError, SessionUnreadable):
            return []  # it stays behind, and is noted the next time
        return [Note(session_id, chain.n, chain.head) for chain in chains if chain.n]

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "approvals could not be noted", "exception": error})
