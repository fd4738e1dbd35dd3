"""Sessions by id: made, begun, opened from the journal, listed, deleted.

Rule 1: a session is in memory while it is used or waits for a person; any other is opened from the journal when somebody asks
for it.
Rule 2: a session that could not be begun never was.
Rule 3: a deleted session is found by nobody, from the first moment on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.errors import (
    HubStopping,
    SessionDeleted,
    SessionNotFound,
    SessionUnreadable,
    TrunklineError,
    TurnInProgress,
    Unsupported,
)
from trunkline.feeds.hub import HubFeed
from trunkline.hub.audit import AuditNotes
from trunkline.hub.drivers import Drivers
from trunkline.hub.in_memory import SessionsInMemory
from trunkline.hub.loading import session_type
from trunkline.hub.sight import ListPage
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.journal.deleted_ids import DeletedIds
from trunkline.journal.search import SearchIndex
from trunkline.session.fold import Fold, SessionView, restore, view_of
from trunkline.session.restore.reload import refold
from trunkline.session.services import Services

if TYPE_CHECKING:
    from trunkline.session.session import Session

log = logging.getLogger("trunkline.hub")


class Sessions:
    """All sessions of a hub, in memory or not."""

    def __init__(self, journal: Journal, memory: SessionsInMemory, services: Services, drivers: Drivers, *, everything: HubFeed,
                 index: SearchIndex, audit: AuditNotes) -> None:
        self.closing = False
        self.refuse_new: Callable[[], None] = lambda: None
        """Set by whoever knows of a reason: raises it."""
        self._journal = journal
        self._memory = memory
        self._services = services
        self._drivers = drivers
        self._everything = everything
        self._index = index
        self._audit = audit
        self._beginning: dict[Session, asyncio.Event] = {}
        """The event is set when the session is begun, or undone."""
        self._opening: dict[str, asyncio.Task[Session]] = {}
        self._deleted = DeletedIds()
        self._held: dict[str, TrunklineError] = {}
        """Sessions that are about to be another hub's, and what is said to whoever asks for one."""

    def check_new(self) -> None:
        """Raises where no session is to begin here: the hub stops, or its node is being drained."""
        self.check_open()
        self.refuse_new()

    def check_open(self) -> None:
        """HubStopping, when it is too late for something new."""
        if self.closing:
            raise HubStopping("the hub is stopping")

    async def find(self, session_id: str) -> Session:
        """The session of that id, opened from the journal where it is not in memory."""
        if session_id in self._deleted:
            raise _not_found(session_id)
        if session_id in self._held:
            raise self._held[session_id]
        session = self._memory.find(session_id)
        if session is not None:
            return session
        self.check_open()
        opening = self._opening.get(session_id)
        if opening is None:
            opening = self._opening[session_id] = asyncio.create_task(self._open(session_id))
            opening.add_done_callback(lambda _: self._opening.pop(session_id, None))
        return await asyncio.shield(opening)

    async def make(self, fold: Fold) -> Session:
        """A session with that state, which nobody finds yet."""
        kind = await session_type(self._drivers.kind_of(fold.agent))
        return kind(fold, self._services, self._drivers.driver_for)

    async def begin(self, session: Session, open: Callable[[Session], Awaitable[None]]) -> Session:
        """Open a session that is new here; one that cannot be opened never was."""
        self._beginning[session] = asyncio.Event()
        try:
            await open(session)
            self.check_open()
        except BaseException:
            await self._undo(session)
            self.check_open()
            raise
        finally:
            self._beginning.pop(session).set()
        self._memory.add(session)
        return session

    async def restored(self, row: SessionRow) -> Session:
        """The session of a row, as of its last entry; one whose state had to be made again says so. Raises SessionUnreadable."""
        session = await self.make(await refold(self._journal, row))
        if not _is_readable(row.checkpoint):
            await session.note("state_rebuilt", {}, by="hub")
        self._audit.found(row.id, session.fold.chain)
        return session

    async def list(self, which: RowFilter) -> ListPage:
        """Sessions, newest activity first, each with its place in that order, and the place to go on from; None at the end."""
        await self._memory.store_rows()
        rows = await self._journal.rows(which)
        found = [((row.updated_at, row.id), await self._view_of(row)) for row in rows if row.id not in self._deleted]
        return found, (rows[-1].updated_at, rows[-1].id) if len(rows) == which.limit else None

    async def let_go(self, session_id: str, why: TrunklineError, *, force: bool) -> int:
        """Stop a session at its rest, so that another hub can go on with it; whoever asks for it is told ``why``, until ``keep``.
        Returns its last seq. TurnInProgress where it does not rest, unless that shall be cut off (``force``)."""
        session = await self.find(session_id)
        if session.fold.watches is not None:
            raise Unsupported("a session that another program runs stays where that is")
        if session.busy and not force:
            raise TurnInProgress("a turn is running, or somebody is waited for; wait for its end, or insist")
        self._held[session_id] = why
        await session.lifecycle.close(why)
        self._memory.remove(session_id)
        return session.fold.seq

    def keep(self, session_id: str) -> None:
        """Nobody came for it: it goes on here."""
        self._held.pop(session_id, None)

    def hide(self, session_id: str) -> None:
        """Nobody is to find what is written under this id, until ``show``."""
        self._deleted.add(session_id)

    def show(self, session_id: str) -> None:
        """It is a session of this hub."""
        self._deleted.discard(session_id)
        self._held.pop(session_id, None)
        self._index.show(session_id)
        self._audit.came(session_id)

    async def delete(self, session_id: str, why: TrunklineError | None = None) -> None:
        """Stop a session and forget it; whoever uses it is told ``why``."""
        self._held.pop(session_id, None)
        try:
            session: Session | None = await self.find(session_id)
        except SessionUnreadable:
            session = None
        self._deleted.add(session_id)
        self._index.hide(session_id)
        if session is not None:
            await session.lifecycle.close(
                why or SessionDeleted(f"session {session_id} was deleted", details={"sessionId": session_id}))
        self._memory.remove(session_id)
        self._audit.delete(session_id)
        await self._journal.delete(session_id)
        await self._index.forget(session_id)
        self._everything.forget_session(session_id)

    async def forget_copy(self, session_id: str) -> None:
        """Take out what is stored under an id that nobody finds (``hide``)."""
        self._index.hide(session_id)
        await self._journal.delete(session_id)
        await self._index.forget(session_id)
        self._everything.forget_session(session_id)

    async def close(self, why: HubStopping) -> None:
        """Stop every agent, also those that are still starting."""
        beginning = [*self._beginning.values()]
        await asyncio.gather(*(session.lifecycle.close(why) for session in [*self._memory, *self._beginning]))
        await asyncio.gather(*(done.wait() for done in beginning))

    async def _open(self, session_id: str) -> Session:
        rows = await self._journal.rows(RowFilter(id=session_id, limit=1))
        if not rows or session_id in self._deleted:
            raise _not_found(session_id)
        begun = await self._begun(session_id)
        if begun is not None:
            return begun
        session = await self.restored(rows[0])
        await session.lifecycle.reread_open_text(self._journal)
        if session_id in self._deleted:
            raise _not_found(session_id)
        self._memory.add(session)
        if session.fold.watches is not None:
            await _follow_on(session)
        return session

    async def _begun(self, session_id: str) -> Session | None:
        """A session that has its first entries and is still being begun, once it is: there is one of it, not a second out of the
        journal. None for any other."""
        for session, done in [*self._beginning.items()]:
            if session.id == session_id:
                await done.wait()
                if session_id in self._deleted:
                    raise _not_found(session_id)
                await asyncio.sleep(0)  # whoever begins it hands it to memory right behind that
                return session
        return None

    async def _undo(self, session: Session) -> None:
        self._deleted.add(session.id)
        await session.lifecycle.close(HubStopping("the session could not be started"))
        self._audit.delete(session.id)
        await self._journal.delete(session.id)
        self._everything.forget_tail()

    async def _view_of(self, row: SessionRow) -> SessionView:
        session = self._memory.kept(row.id)
        view = session.view() if session is not None else await view_of_row(self._journal, row)
        view.node = self._services.node
        return view


async def view_of_row(journal: Journal, row: SessionRow) -> SessionView:
    """What a row says of a session that is not in memory, brought up to date where entries came after it."""
    try:
        is_current = row.last_seq == row.checkpoint_seq and row.summary
        view = decoders.decode(row.summary, SessionView) if is_current else view_of(await refold(journal, row))
    except (SessionUnreadable, *BROKEN):
        # One row that cannot be read must not hide all the others.
        view = view_of(Fold(session_id=row.id, agent=row.agent, cwd=row.cwd, title=row.title, status="error",
                            created_at=row.created_at, updated_at=row.updated_at))
    view.last_seq = row.last_seq
    return view


async def _follow_on(session: Session) -> None:
    try:
        await session.lifecycle.watch(by="hub")
    except TrunklineError as error:
        log.warning("session %s is no longer followed: %s", session.id, error.message)


def _is_readable(checkpoint: bytes) -> bool:
    try:
        restore(checkpoint)
    except SessionUnreadable:
        return False
    return True


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"no session {session_id}", details={"sessionId": session_id})
