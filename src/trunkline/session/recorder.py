"""The session's recorder: everything that is written goes through it, in order, and is stored before anybody acts on it.

Rule 1: ``write`` never waits; ``stored`` waits until all that was written is in the journal, or raises StorageError.
Rule 2: what the journal could not take is kept, in order, and offered again; until it is stored nobody saw it and nobody acted
on it, so nothing has to be taken back.
Rule 3: what a write changed in the fold is stored in its last entry, as a step (``fold/steps.py``). The session's row, with the
whole checkpoint and view, is written at most every ROW_GAP_S, or later where it is large: nothing depends on how old it is but
the time that a restart takes. Only what a restart looks for in rows is never late: that the session is open (``IS_OPEN``).
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import msgspec

from trunkline.errors import ClusterUnavailable, StorageError
from trunkline.feeds.session import Feed
from trunkline.journal.base import Entry, SessionRow
from trunkline.session.deadlines import Alarms
from trunkline.session.fold import IS_OPEN, Fold, SessionView, Steps, checkpoint, view_of
from trunkline.session.interpret import Interpreter
from trunkline.session.services import Services

STORAGE_RETRY_S = 1.0

ROW_GAP_S = 0.25
"""Between two rows of a session. A page of steps is read in far less when the hub starts again."""

ROW_BYTES_PER_S = 8 << 20
"""What the rows of one session may write: a large one (prompts with images wait in it) is written less often than every
ROW_GAP_S."""

ALONE_ENTRIES = 8
"""A prompt has five, the first word of an answer two: with more, streamed text is rather shared with what others say."""

_encode = msgspec.json.Encoder().encode


class PausableReader(Protocol):
    """Who reads an agent's output."""

    def pause_reading(self) -> None:
        """Take no more for a while."""

    def resume_reading(self) -> None:
        """Take it again."""


class Backpressure:
    """Why the agent's output is not taken at the moment; its reader stands still while there is a reason."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._reader: PausableReader | None = None

    def attach(self, reader: PausableReader) -> None:
        """This one reads the agent from now on."""
        self._reader = reader

    def detach(self) -> None:
        """Nobody reads the agent any more."""
        self._reader = None

    def hold(self, why: str) -> None:
        """Stop taking the agent's output, until nobody has a reason for it any more."""
        self._reasons.add(why)
        if self._reader is not None:
            self._reader.pause_reading()

    def let_go(self, why: str) -> None:
        """This reason is gone."""
        self._reasons.discard(why)
        if not self._reasons and self._reader is not None:
            self._reader.resume_reading()


class Recorder:
    """Writes one session's entries; the committer's sink for them."""

    def __init__(self, fold: Fold, services: Services, alarms: Alarms) -> None:
        self.fold = fold
        self.feed = Feed(fold.session_id, services.journal, fold.seq, services.budget)
        self.committed = self.feed.committed
        """What is stored readers may see: of the sink's two ends, this one is the feed's."""
        self.backpressure = Backpressure()
        self._services = services
        self._committer = services.committer
        self._session_id = fold.session_id
        self._alarms = alarms
        self._interpret = Interpreter(
            fold, approval_timeout_s=services.limits.approval_timeout, tools=services.tool_names(fold.agent), home=services.home,
            roots=(fold.cwd,), guarded=services.guarded, chain_key=services.chain_key,
            raw_as_sent=services.raw_as_sent)
        self._writer = self._interpret.writer
        self.clock = services.clock
        self._unstored: list[Entry] = []
        self._steps = Steps(fold, known=fold.seq > 0)
        self._next_row = float("-inf")
        self._row_behind = False
        """Whether a step came after the last row."""
        self._row_is_open = False
        """Whether the last row says that the session is open."""
        self._closed = False
        services.committer.register(fold.session_id, self)

    def at(self) -> Interpreter:
        """The interpreter, at this moment."""
        self._writer.at = self.clock()
        return self._interpret

    def as_of(self, at: int) -> Interpreter:
        """The interpreter, at a moment that may be long past; 0 is now."""
        self._writer.at = at or self.clock()
        return self._interpret

    def write(self) -> None:
        """Hand what was interpreted to the journal, with its step if more than text changed, and the row where that is due."""
        writer = self._writer
        size, changes = writer.size, writer.dirty
        entries = writer.take()
        if not entries or self._closed:
            return
        if changes:
            writer.dirty = False
            step = entries[-1].step = self._steps.take()
            size += len(step)
            self._row_behind = True
        if self._unstored:
            self._unstored += entries
            return
        committer = self._committer
        if changes and self._row_is_due():
            committer.submit(self._session_id, entries, self._row, size, changes=True)
        elif len(entries) <= ALONE_ENTRIES:
            committer.submit_alone(self._session_id, entries, size, changes=changes)
        else:
            committer.submit(self._session_id, entries, None, size, changes=changes)
        if committer.congested:
            self.backpressure.hold("journal")

    def write_one(self, entry: Entry, size: int) -> None:
        """Hand one entry to the journal that changed no more than text, and did not pass through the writer."""
        if self._closed:
            return
        if self._unstored:
            self._unstored.append(entry)
            return
        committer = self._committer
        committer.submit_alone(self._session_id, [entry], size)
        if committer.congested:
            self.backpressure.hold("journal")

    def hold_readers(self) -> None:
        """Readers are written to when they are let go: what is done until then must not wait for their connections."""
        self.feed.hold()
        self._services.hold_readers()

    def let_readers_go(self, *, at_once: bool) -> None:
        """They may be written to again; those of the session ``at_once``, or when an agent that is quick could be heard first."""
        self._services.let_readers_go()
        if at_once:
            self.feed.let_go()
        else:
            self.feed.let_go_soon()

    def write_row(self) -> bool:
        """Hand the row to the journal where a step came after the last one; False where none did."""
        behind = self._row_behind and not self._closed and not self._unstored
        if behind:
            self._services.committer.submit(self.fold.session_id, [], self._row)
        return behind

    @property
    def is_behind(self) -> bool:
        """Whether so much waits to be stored that nothing more should be written."""
        return self._services.committer.congested

    @property
    def all_stored(self) -> bool:
        """Whether everything written so far is in the journal."""
        return not self._unstored and not self._services.committer.is_pending(self.fold.session_id)

    async def stored(self) -> None:
        """Everything written so far is in the journal, or StorageError."""
        if self._unstored:
            raise StorageError("the journal cannot be written at the moment")
        await self._services.committer.committed(self.fold.session_id)

    async def stored_soon(self) -> None:
        """``stored`` for who only looks; ClusterUnavailable where a cluster that has to have it first does not take it."""
        seconds = self._services.stored_within_s
        try:
            async with asyncio.timeout(seconds):
                await self.stored()
        except TimeoutError:
            raise ClusterUnavailable(f"the cluster has not taken the last of session {self.fold.session_id} for {seconds:g} s; "
                                     "it is shown when it has (--commit all)") from None

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

    async def note(self, name: str, data: dict[str, Any], *, by: str) -> None:
        """Write down what somebody did, where no other entry says it."""
        self.at().writer.custom(name, data, meta={"by": by})
        await self.write_and_store()

    def view(self) -> SessionView:
        """The state as clients see it."""
        return view_of(self.fold)

    def failed(self, error: StorageError, entries: list[Entry]) -> None:
        """Nothing of these is stored: keep them and try again."""
        self._unstored = entries + self._unstored
        self._row_behind = True
        self.backpressure.hold("journal")
        self._alarms.set("storage", STORAGE_RETRY_S, self._offer_again)

    def drained(self) -> None:
        """The journal has caught up."""
        if not self._unstored:
            self.backpressure.let_go("journal")

    def rest(self) -> None:
        """Nothing will be written for a while."""
        self.write_row()
        self._services.committer.unregister(self.fold.session_id)
        self.feed.forget()

    def resume(self) -> None:
        """Something may be written again."""
        self._services.committer.register(self.fold.session_id, self)

    async def close(self) -> None:
        """The session goes: store what can be stored and end every reader."""
        self.write_row()
        try:
            await self.stored()
        except StorageError:
            # There is nobody left to deliver to; what nobody saw is not missed by anybody.
            self._unstored = []
        self._closed = True
        self._services.committer.unregister(self.fold.session_id)
        self.feed.close()

    def _offer_again(self) -> None:
        entries, self._unstored = self._unstored, []
        self._alarms.set("stored again", STORAGE_RETRY_S, self.drained)
        self._services.committer.submit(self.fold.session_id, entries, self._row)

    def _row_is_due(self) -> bool:
        """Whether the row goes with what is written now; else it follows when its time has come."""
        now = asyncio.get_running_loop().time()
        if now >= self._next_row or (self.fold.status in IS_OPEN and not self._row_is_open):
            return True
        if not self._alarms.is_set("row"):
            self._alarms.set("row", self._next_row - now, self.write_row)
        return False

    def _row(self) -> SessionRow:
        fold = self.fold
        row = SessionRow(
            id=fold.session_id, agent=fold.agent, cwd=fold.cwd, title=fold.title, status=fold.status,
            created_at=fold.created_at, updated_at=fold.updated_at, summary=_encode(self.view()),
            checkpoint=checkpoint(fold), checkpoint_seq=fold.seq,
        )
        self._row_behind, self._row_is_open = False, fold.status in IS_OPEN
        gap = max(ROW_GAP_S, (len(row.summary) + len(row.checkpoint)) / ROW_BYTES_PER_S)
        self._next_row = asyncio.get_running_loop().time() + gap
        self._alarms.clear("row")
        return row
