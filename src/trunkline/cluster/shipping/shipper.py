"""All sessions of this node on their way to the stream: fed by the committer, bounded, told of to whoever asks.

Rule 1: ``committed`` never waits and never fails: it is on the commit path.
Rule 2: what is not shipped is bounded (SPOOL_BYTES). Over that the agents are held, as they are when the journal is slow.
Rule 3: while the cluster is away nothing of what it misses is in memory: the journal has it.
Rule 4: a session that another node took over is told once (``on_taken``), with what it had that the stream has not.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.ledger import Ledger, ShippedRow
from trunkline.cluster.shipping.line import Line, not_there
from trunkline.cluster.shipping.outbox import Outbox, Reads
from trunkline.cluster.shipping.pace import Pace
from trunkline.cluster.shipping.verdict import Ended, Taken
from trunkline.errors import Invalid
from trunkline.journal.base import Entry

log = logging.getLogger("trunkline.cluster")

SPOOL_BYTES: Final = 1 << 30
"""Unshipped bytes before agents are held: hours of loud agents. The disk holds them, not the memory."""
SAME_TROUBLE_S: Final = 30.0
"""The same trouble is logged again after this."""
COUNTED_COMMITS: Final = 100
"""Commits of one session whose sizes are known apart: while the cluster is away for hours there are millions."""
IDLE_LINES: Final = 1000
"""Lines that are kept though they have nothing to ship; a session that goes on later begins one from its row."""


class Lost(msgspec.Struct, frozen=True):
    """A session that this node had: who has it now goes on behind ``after``; what this node has behind that is its alone."""

    session_id: str
    epoch: int
    after: int
    newest: int


class Counts(msgspec.Struct):
    """What happened since the start, for whoever watches."""

    groups: int = 0
    entries: int = 0
    went_back: int = 0
    """Entries that the stream had acknowledged and lost."""
    taken: int = 0


class Shipper:
    """The lines of one node. It is the ``Way`` of each."""

    def __init__(self, connection: Connection, journal: Reads, ledger: Ledger, *, pool: str, incarnation: str,
                 on_full: Callable[[bool], None] = lambda full: None, spool_bytes: int = SPOOL_BYTES) -> None:
        self.connection, self.pool = connection, pool
        self.owner, self.incarnation = connection.node, incarnation
        self.counts = Counts()
        self.spool_bytes = 0
        """What was committed since the start and is not shipped."""
        self.on_taken: Callable[[Lost], Awaitable[None]] | None = None
        self.on_went_back: Callable[[], None] = lambda: None
        self._journal, self._ledger = journal, ledger
        self.pace = Pace()
        self._on_full, self._most = on_full, spool_bytes
        self._full = False
        self._waits = True
        """Whether there is time to wait for the stream."""
        self._lines: dict[str, Line] = {}
        self._sizes: dict[str, deque[tuple[int, int]]] = {}
        """Per session: the last seq of a commit, or of several, and their bytes, of those that are not shipped."""
        self._said: dict[str, float] = {}
        self._telling: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Know how far an earlier start came."""
        await self._ledger.open()

    def committed(self, parts: dict[str, list[Entry]]) -> None:
        """What a commit has stored."""
        for session_id, entries in parts.items():
            if entries:
                self._take(session_id, entries)

    def resume(self, session_id: str, newest: int) -> None:
        """A session that is there from before, with entries up to ``newest``: ship what the stream does not have."""
        line = self._line(session_id, newest)
        line.outbox.newest = max(line.outbox.newest, newest)
        line.wake()

    async def shipped(self, session_id: str, seq: int) -> None:
        """Wait until the stream has a session's entries up to ``seq``; StorageError where it never will."""
        line = self._lines.get(session_id)
        if line is not None:
            if not self._waits and line.outbox.shipped < seq:
                raise not_there(session_id)
            await line.shipped(seq)

    def wait_no_more(self) -> None:
        """The hub stops: whoever waits for the stream is told that it does not have it. The next start ships it."""
        self._waits = False
        for line in self._lines.values():
            line.wait_no_more()

    async def hold_apart(self, session_id: str) -> None:
        """The history of a session is about to be written here: nothing of it is shipped, and a start throws it away."""
        self._lines.pop(session_id, None)
        self._ledger.put(ShippedRow(session_id, epoch=0, over=True))
        await self._ledger.flush()

    async def check_all(self) -> bool:
        """Ask of every session whether the stream still has what it had; False where some of them were not answered for."""
        known = True
        for session_id in list(self._ledger.rows):
            row = self._ledger.rows.get(session_id)
            if row is not None and row.seq and not row.over:
                line = self._line(session_id, row.seq)
                known = await line.check() and known
                self._let_rest(line)
        return known

    async def adopt(self, row: ShippedRow) -> None:
        """This node has claimed the session, and its journal has what was there before."""
        self._lines.pop(row.session, None)
        self._ledger.put(row)
        await self._ledger.flush()

    def is_apart(self, session_id: str) -> bool:
        """Whether a session's history is being written here."""
        return self.row(session_id).epoch == 0

    def rows(self) -> list[ShippedRow]:
        """How far every session is that was ever shipped from here."""
        return [self.row(session_id) for session_id in self._ledger.rows]

    async def look(self, session_id: str) -> None:
        """Somebody says that another node has this session: believe what the stream says."""
        await self._line(session_id, 0).look()

    async def forget(self, session_id: str) -> None:
        """The session is deleted here."""
        line = self._lines.pop(session_id, None)
        if line is not None:
            await line.close()
        self._free(session_id, None)
        self._ledger.forget(session_id)

    def row(self, session_id: str) -> ShippedRow:
        """How far a session is."""
        line = self._lines.get(session_id)
        return self._ledger.rows.get(session_id, ShippedRow(session_id)) if line is None else _row(line)

    def newest(self, session_id: str) -> int:
        """The last entry of a session that was committed since the start; 0: none was."""
        line = self._lines.get(session_id)
        return 0 if line is None else line.outbox.newest

    def lags(self) -> dict[str, float]:
        """The sessions whose readers elsewhere are behind, and for how long."""
        return {line.session_id: line.lag_s for line in self._lines.values() if line.lag_s}

    @property
    def behind(self) -> int:
        """Entries that the stream does not have."""
        return sum(line.outbox.newest - line.outbox.shipped for line in self._lines.values()
                   if not line.over and not line.outbox.is_empty)

    @property
    def is_behind(self) -> bool:
        """Whether anything is on its way."""
        return any(not line.over and not line.outbox.is_empty for line in self._lines.values())

    async def close(self, within_s: float = 2.0) -> None:
        """Ship what can be shipped in a moment; the rest goes with the next start."""
        try:
            async with asyncio.timeout(within_s):
                for line in list(self._lines.values()):
                    if not line.over and not line.outbox.is_empty and self.connection.up:
                        await line.shipped(line.outbox.newest)
        except TimeoutError:
            log.warning("the cluster does not have everything yet; the rest is shipped at the next start")
        for line in list(self._lines.values()):
            await line.close()
        for telling in list(self._telling):
            await asyncio.wait((telling,))
        await self._ledger.close()

    # What lines tell.

    def stored(self, line: Line) -> None:
        """More of a session is in the stream."""
        self.counts.groups += 1
        before = self._ledger.rows.get(line.session_id)
        self.counts.entries += max(0, line.outbox.shipped - (before.seq if before else 0))
        self._ledger.put(_row(line))
        self._free(line.session_id, line.outbox.shipped)
        self._let_rest(line)

    def trouble(self, line: Line, why: str) -> None:
        """A line cannot go on for now."""
        now = time.monotonic()
        if now - self._said.get(why, float("-inf")) > SAME_TROUBLE_S:
            self._said[why] = now
            log.error("session %s cannot be shipped to the cluster: %s", line.session_id, why)

    def went_back(self, line: Line, lost: int) -> None:
        """The stream lost acknowledged entries."""
        self.counts.went_back += max(lost, 0)
        log.error("the cluster's stream has lost %d entries of session %s that it had acknowledged; they are shipped again",
                  lost, line.session_id)
        self.on_went_back()

    def taken(self, line: Line, by: Taken | Ended) -> None:
        """A session is another node's."""
        self.counts.taken += 1
        self._ledger.put(_row(line))
        self._free(line.session_id, None)
        if isinstance(by, Taken) and self.on_taken is not None:
            lost = Lost(line.session_id, by.epoch, by.after, line.outbox.newest)
            telling = asyncio.create_task(_tell(self.on_taken, lost))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    # Lines.

    def _take(self, session_id: str, entries: list[Entry]) -> None:
        line = self._lines.get(session_id)
        if line is None:
            try:
                line = self._line(session_id, 0)
            except Invalid as error:
                log.error("%s", error.message)
                return
        if line.over:
            return
        size = sum([entry.size() for entry in entries])
        line.outbox.add(entries, size, keep=self.connection.up and not line.lag_s)
        self._count(session_id, entries[-1].seq, size)
        self.spool_bytes += size
        if self.spool_bytes > self._most:
            self._set_full(True)
        line.wake()

    def _count(self, session_id: str, seq: int, size: int) -> None:
        """Remember when so many bytes are free again; of a long run only that its end frees all of it."""
        sizes = self._sizes.setdefault(session_id, deque())
        if len(sizes) >= COUNTED_COMMITS:
            size += sizes.pop()[1]
        sizes.append((seq, size))

    def _line(self, session_id: str, newest: int) -> Line:
        line = self._lines.get(session_id)
        if line is None:
            row = self._ledger.rows.get(session_id, ShippedRow(session_id))
            outbox = Outbox(session_id, self._journal, row.seq, max(newest, row.seq))
            line = self._lines[session_id] = Line(self, outbox, epoch=row.epoch, fence=row.stream_seq, after=row.after)
            line.over = row.over
        return line

    def _let_rest(self, line: Line) -> None:
        """Keep a line that has nothing to do only while there are few."""
        if line.outbox.is_empty and len(self._lines) > IDLE_LINES:
            self._lines.pop(line.session_id, None)

    def _free(self, session_id: str, shipped: int | None) -> None:
        """Bytes up to ``shipped``, or all of a session, wait no more."""
        sizes = self._sizes.get(session_id)
        while sizes and (shipped is None or sizes[0][0] <= shipped):
            self.spool_bytes -= sizes.popleft()[1]
        if sizes is not None and not sizes:
            del self._sizes[session_id]
        if self._full and self.spool_bytes <= self._most // 2:
            self._set_full(False)

    def _set_full(self, full: bool) -> None:
        if full != self._full:
            self._full = full
            log.warning("what the cluster does not have is %s: agents are %s", "too much" if full else "little again",
                        "held" if full else "let go")
            self._on_full(full)


def _row(line: Line) -> ShippedRow:
    return ShippedRow(line.session_id, line.epoch, line.outbox.shipped, line.fence, line.after, line.over)


async def _tell(on_taken: Callable[[Lost], Awaitable[None]], lost: Lost) -> None:
    try:
        await on_taken(lost)
    except Exception:  # whoever is told must not end the shipper
        log.exception("session %s was taken over, and could not be put away", lost.session_id)


