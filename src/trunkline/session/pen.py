"""The session's pen: everything that is written goes through it, in order, and is stored before anybody acts on it.

Rule 1: ``write`` never waits; ``stored`` waits until all that was written is in the journal, or raises StorageError.
Rule 2: what the journal could not take is kept, in order, and offered again; until it is stored nobody saw it and nobody acted
on it, so nothing has to be taken back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from trunkline.dialects import context
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, SessionRow
from trunkline.session.deadlines import Alarms
from trunkline.session.feed import Feed
from trunkline.session.fold import Fold, SessionView, checkpoint, view_of
from trunkline.session.interpret import Interpreter
from trunkline.session.lent import Lent

STORAGE_RETRY_S = 1.0

_encode = msgspec.json.Encoder().encode


class Pen:
    """Writes one session's entries; the committer's sink for them."""

    def __init__(self, fold: Fold, lent: Lent, alarms: Alarms) -> None:
        self.fold = fold
        self.feed = Feed(fold.session_id, lent.journal, fold.seq, lent.budget)
        self.hold_agent: Callable[[bool], None] = lambda hold: None
        """Set by whoever reads the agent: stop taking its output, or take it again."""
        self._lent = lent
        self._alarms = alarms
        self._interpret = Interpreter(
            fold, approval_timeout_s=lent.limits.approval_s, tools=lent.tool_names(fold.agent), home=lent.home,
            roots=(fold.cwd,), guarded=lent.guarded, chain_key=lent.chain_key)
        self._writer = self._interpret.writer
        self._clock = lent.clock
        self._unstored: list[Entry] = []
        self._closed = False
        lent.committer.register(fold.session_id, self)

    def at(self) -> Interpreter:
        """The interpreter, at this moment."""
        self._writer.at = self._clock()
        return self._interpret

    def as_of(self, at: int) -> Interpreter:
        """The interpreter, at a moment that may be long past; 0 is now."""
        self._writer.at = at or self._clock()
        return self._interpret

    def write(self) -> None:
        """Hand what was interpreted to the journal, with the checkpoint if more than text changed."""
        writer = self._writer
        size = writer.size
        entries = writer.take()
        if not entries or self._closed:
            return
        if self._unstored:
            self._unstored += entries
            return
        row = self._row if writer.dirty else None
        writer.dirty = False
        committer = self._lent.committer
        committer.submit(self.fold.session_id, entries, row, size)
        if committer.congested:
            self.hold_agent(True)

    @property
    def all_stored(self) -> bool:
        """Whether everything written so far is in the journal."""
        return not self._unstored and not self._lent.committer.is_pending(self.fold.session_id)

    async def stored(self) -> None:
        """Everything written so far is in the journal, or StorageError."""
        if self._unstored:
            raise StorageError("the journal cannot be written at the moment")
        await self._lent.committer.committed(self.fold.session_id)

    async def write_and_store(self) -> None:
        """Write, and return when it is in the journal."""
        self.write()
        await self.stored()

    async def stored_at_last(self) -> None:
        """Everything written so far is in the journal, however long that takes."""
        while not self._closed:
            try:
                await self.stored()
                return
            except StorageError:
                await asyncio.sleep(STORAGE_RETRY_S)

    def view(self) -> SessionView:
        """The state as clients see it."""
        fold = self.fold
        return view_of(fold, created_at=context.iso_ms(fold.created_at), updated_at=context.iso_ms(fold.updated_at))

    def committed(self, entries: list[Entry], size: int) -> None:
        """These are stored: readers may see them."""
        self.feed.committed(entries, size)

    def failed(self, error: StorageError, entries: list[Entry]) -> None:
        """Nothing of these is stored: keep them and try again."""
        self._unstored = entries + self._unstored
        self.hold_agent(True)
        self._alarms.set("storage", STORAGE_RETRY_S, self._offer_again)

    def drained(self) -> None:
        """The journal has caught up."""
        if not self._unstored:
            self.hold_agent(False)

    def rest(self) -> None:
        """Nothing will be written for a while."""
        self._lent.committer.unregister(self.fold.session_id)
        self.feed.forget()

    def resume(self) -> None:
        """Something may be written again."""
        self._lent.committer.register(self.fold.session_id, self)

    async def close(self) -> None:
        """The session goes: store what can be stored and end every reader."""
        try:
            await self.stored()
        except StorageError:
            # There is nobody left to tell; what nobody saw is not missed by anybody.
            self._unstored = []
        self._closed = True
        self._lent.committer.unregister(self.fold.session_id)
        self.feed.close()

    def _offer_again(self) -> None:
        entries, self._unstored = self._unstored, []
        self._interpret.writer.dirty = False
        self._alarms.set("stored again", STORAGE_RETRY_S, self.drained)
        self._lent.committer.submit(self.fold.session_id, entries, self._row)

    def _row(self) -> SessionRow:
        fold = self.fold
        return SessionRow(
            id=fold.session_id, agent=fold.agent, cwd=fold.cwd, title=fold.title, status=fold.status,
            created_at=fold.created_at, updated_at=fold.updated_at, summary=_encode(self.view()),
            checkpoint=checkpoint(fold), checkpoint_seq=fold.seq,
        )
