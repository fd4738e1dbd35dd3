"""Words to sessions: an index beside the journal, made by the first search and kept up from then on.

    words.py   what was typed, as a question      texts.py   what of an entry can be found
    index_file.py   the file (SQLite with FTS5)

Rule 1: the index follows the journal by ``pos``. Nothing is written into it when something happens: it reads up when somebody
searches, and now and then while the hub is idle.
Rule 2: it can be deleted at any time. What it finds wrong with itself it mends by reading the journal again.
Rule 3: what is deleted is not found, from the first moment on.
Rule 4: sqlite3 is loaded by whoever searches first, not by the hub.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from trunkline.errors import HubStopping, StorageError, TrunklineError
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.journal.deleted_ids import DeletedIds
from trunkline.journal.search.words import expression_of

if TYPE_CHECKING:
    from trunkline.journal.search.index_file import Hit, IndexFile

log = logging.getLogger("trunkline.search")

PATIENCE_S = 2.0
"""How long a search waits for the index to read up; it then answers with what is there and says so."""

SCRUB_AFTER_S = 1.0
"""How long after a deletion the index is rewritten: whoever deletes one session often deletes the next."""

PAGE_ENTRIES = 2_000
PAGE_BYTES = 4 << 20
T = TypeVar("T")


class FoundText(msgspec.Struct, frozen=True):
    """A passage of a session. ``snippet`` is in pieces, each with whether it matches."""

    row: SessionRow
    seq: int
    at: int
    kind: str
    snippet: list[tuple[str, bool]]


class SearchIndex:
    """The index of one journal. ``path`` None keeps it in memory."""

    def __init__(self, journal: Journal, path: Path | None, store_rows: Callable[[], Awaitable[None]] | None = None) -> None:
        """``store_rows`` has the rows of running sessions written, which may be a moment behind: titles are read from them."""
        self._journal = journal
        self._store_rows = store_rows
        self._path = path
        self._thread: ThreadPoolExecutor | None = None
        self._opened: IndexFile | None = None
        self._checked = False
        self._gone = DeletedIds()
        self._reading: asyncio.Task[None] | None = None
        self._closed = False
        self._scrubbing: asyncio.Task[None] | None = None

    async def find(self, typed: str, *, limit: int, patience_s: float = PATIENCE_S) -> tuple[list[FoundText], bool]:
        """The best passages for what was typed, and whether the index has read the whole journal."""
        expression = expression_of(typed)
        complete = await self._read_up(patience_s)
        return await self._found(expression, limit), complete

    async def keep_up(self) -> None:
        """Read up, where there is an index: the next search is then quick."""
        if self._exists():
            await self._read_up(None)

    def hide(self, session_id: str) -> None:
        """A session is about to be deleted: from here on it is not found."""
        self._gone.add(session_id)

    def show(self, session_id: str) -> None:
        """A session of that id is there again: it came back from another hub."""
        self._gone.discard(session_id)

    async def forget(self, session_id: str) -> None:
        """Take a deleted session out. Where that fails it stays hidden, and the next hub's check takes it out."""
        self.hide(session_id)
        if not self._exists():
            return
        try:
            await self._run(lambda index: index.forget(session_id))
        except StorageError as error:
            log.warning("a deleted session is still in the search index: %s", error.message)
            return
        if self._scrubbing is None or self._scrubbing.done():
            self._scrubbing = asyncio.create_task(self._scrub())

    async def _scrub(self) -> None:
        """Overwrite what was deleted, once for all that is deleted in the next moment."""
        await asyncio.sleep(SCRUB_AFTER_S)
        try:
            await self._run(lambda index: index.scrub())
        except (StorageError, HubStopping) as error:
            log.warning("words of a deleted session may still stand in the search index: %s", error.message)

    async def close(self) -> None:
        """End the reading and close the file."""
        for task in (self._reading, self._scrubbing):
            if task is not None:
                task.cancel()
                await asyncio.wait((task,))
        self._closed = True
        if self._thread is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
            self._thread.shutdown()

    # Reading the journal.

    async def _read_up(self, patience_s: float | None) -> bool:
        """Take in what the journal has; False when there was not enough time for all of it."""
        while self._reading is not None and not self._reading.done():
            # It may be past what was committed before this call: once it is done we look again.
            if not await _done(self._reading, patience_s):
                return False
        reading = self._reading = asyncio.create_task(self._read_to_the_end())
        reading.add_done_callback(_report_failure)
        if not await _done(reading, patience_s):
            return False
        reading.result()
        return True

    async def _read_to_the_end(self) -> None:
        if not self._checked:
            await self._check()
            self._checked = True
        if self._store_rows is not None:
            await self._store_rows()
        after = await self._run(lambda index: index.pos)
        while page := await self._journal.read_hub(after=after, limit=PAGE_ENTRIES, max_bytes=PAGE_BYTES):
            titles = {session_id: (row.title, row.updated_at) for session_id in {session_id for session_id, _ in page}
                      if (row := await self._row(session_id)) is not None}
            await self._run(lambda index, page=page, titles=titles: index.add(page, titles, self._gone))  # type: ignore[misc]
            after = page[-1][1].pos

    async def _check(self) -> None:
        """Compare the index with the journal, once: a crash, a restored backup or a new journal may stand between them."""
        if await self._run(lambda index: index.pos) > self._journal.last_pos:
            await self._run(lambda index: index.clear())
            return
        for session_id, last_seq in (await self._run(lambda index: index.sessions())).items():
            row = await self._row(session_id)
            if row is None:
                await self._run(lambda index, gone=session_id: index.forget(gone))  # type: ignore[misc]
            elif row.last_seq < last_seq:
                await self._run(lambda index: index.clear())
                return

    async def _row(self, session_id: str) -> SessionRow | None:
        if session_id in self._gone:
            return None
        rows = await self._journal.rows(RowFilter(id=session_id, limit=1))
        return rows[0] if rows else None

    # Answering.

    async def _found(self, expression: str, limit: int) -> list[FoundText]:
        while True:
            hits = await self._run(lambda index: index.find(expression, limit))
            rows = {session_id: await self._row(session_id) for session_id in {hit.session for hit in hits}}
            gone = [session_id for session_id, row in rows.items() if row is None]
            if not gone:
                return [found for hit in hits if (found := _shown(hit, rows[hit.session])) is not None]
            for session_id in gone:
                await self._run(lambda index, gone=session_id: index.forget(gone))  # type: ignore[misc]

    # The thread.

    def _exists(self) -> bool:
        return self._opened is not None or (self._path is not None and self._path.exists())

    async def _run(self, work: Callable[[IndexFile], T]) -> T:
        if self._closed:
            raise HubStopping("the hub is stopping")
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "search")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)

    def _work(self, work: Callable[[IndexFile], T]) -> T:
        from trunkline.journal.search.index_file import IndexFile, is_damage, remove
        from trunkline.journal.stores.sqlite.database import storage_errors  # Rule 4

        with storage_errors(self._path or Path("search.db"), "searched"):
            if self._opened is None:
                self._opened = IndexFile(self._path)
            try:
                return work(self._opened)
            except BaseException as error:
                if self._path is not None and is_damage(error):
                    self._close()
                    remove(self._path)
                raise

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._opened, self._checked = None, False


async def _done(task: asyncio.Task[None], patience_s: float | None) -> bool:
    await asyncio.wait((task,), timeout=patience_s)
    return task.done()


def _report_failure(task: asyncio.Task[None]) -> None:
    """Whoever waited for the reading may have left: what went wrong is in the log, too."""
    if task.cancelled():
        return
    error = task.exception()
    if isinstance(error, TrunklineError):
        log.warning("the search index could not read up: %s", error.message)
    elif error is not None:
        log.error("the search index could not read up", exc_info=error)


def _shown(hit: Hit, row: SessionRow | None) -> FoundText | None:
    return FoundText(row, hit.seq, hit.at, hit.kind, _pieces(hit.marked)) if row is not None else None


def _pieces(marked: str) -> list[tuple[str, bool]]:
    """A snippet taken apart at its marks."""
    pieces = []
    for index, part in enumerate(marked.replace("\3", "\2").split("\2")):
        if part:
            pieces.append((part, index % 2 == 1))
    return pieces
