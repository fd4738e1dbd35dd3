"""The journal's reads on the cluster's stream: by seq in both directions, and of all sessions by place.

Rule 1: pages come from any replica, which may lag behind: what is missing at the end is there a moment later.
Rule 2: to find a seq the stream is halved, from what is known of the session; a cursor near the end needs no search.
Rule 3: at least one entry is returned where one exists, whatever its size.
Rule 4: of a session whose last message is an end there are no entries, though its messages may be in the stream still.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Final

from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Stored
from trunkline.cluster.reading.decoding import entries_in
from trunkline.cluster.reading.index import SeqIndex
from trunkline.cluster.shipping.last_mark import Looked, look_on, readable, standing
from trunkline.cluster.shipping.parts import join_parts
from trunkline.errors import Invalid, SessionNotFound
from trunkline.journal.base import Entry
from trunkline.journal.deleted_ids import DeletedIds
from trunkline.journal.page import Page

BATCH: Final = 256
BATCH_BYTES: Final = 1 << 20
NEAR: Final = 500
"""Entries that are read in vain rather than searched for: one page of them costs less than three looks."""
PARTS_BATCH: Final = 1000
PARTS_BYTES: Final = 2 * wire.ENTRY_MOST
"""Of one entry: its owner may have sent each twice. More is not looked through."""
BEGUN_S: Final = 1.0
"""How long a session without a row is taken for one that has just begun, before it is looked at again."""
BEGUN_MOST: Final = 1000
LOOKED_MOST: Final = 1000
FIRST_WINDOW: Final = 64
"""Entries that are looked back for at first, for a page from the end."""
_NO_SEQ: Final = 1 << 62
"""Behind all seqs."""

ShownAs = Callable[[str, Entry], Entry]


class StreamReader:
    """Reads sessions of the cluster. ``pool_of`` knows where a session is; it raises SessionNotFound."""

    def __init__(self, connection: Connection, pool_of: Callable[[str], str], base: Callable[[], int] = lambda: 0, *,
                 shown_as: ShownAs = lambda session_id, entry: entry) -> None:
        """``base`` is added to every place: the generation that it is of (``wire.base_of``). ``shown_as`` makes of each entry
        what clients may see of it (``decoding.as_its_own``)."""
        self._connection = connection
        self._base, self._shown_as = base, shown_as
        self._pool_of = pool_of
        self._index = SeqIndex()
        self._ended = DeletedIds()
        self._begun: dict[str, float] = {}
        """When a session was looked at that has no row yet, and had not ended."""
        self._looked: dict[tuple[str, int], Looked] = {}
        """Sessions whose last message says nothing of where they stand, in a generation: how far that was looked for, and what
        was found."""

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        """As ``Journal.read``."""
        if limit < 1 or (before is not None and before <= after + 1):
            return []
        if await self._is_over(self._pool_of(session_id), session_id):
            return []
        if tail:
            return await self._read_back(session_id, after, before, limit, max_bytes)
        page = Page(limit, max_bytes)
        await self._fill(page, session_id, after, before)
        return page.entries

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        """As ``Journal.read_hub``; ``after`` is a place of the cluster."""
        page = Page(limit, max_bytes)
        sessions: list[str] = []
        async with aclosing(self._messages(subjects.ALL_JOURNALS, max(wire.stream_seq_of(after), 1))) as messages:
            async for message in messages:
                _, session_id = subjects.session_of(message.subject)
                fresh = [entry for entry in await self._entries(session_id, message) if entry.pos > after]
                goes_on = page.add_all(fresh)
                sessions += [session_id] * (len(page.entries) - len(sessions))
                if not goes_on:
                    break
        return list(zip(sessions, page.entries, strict=True))

    async def messages_from(self, stream_seq: int) -> list[Stored]:
        """The next messages of all sessions from a number on, as many as come at once."""
        page = await jetstream.read_page(self._connection, subjects.JOURNAL, subjects.ALL_JOURNALS, from_seq=stream_seq,
                                         batch=BATCH, max_bytes=BATCH_BYTES)
        return page.messages

    async def last(self, session_id: str) -> tuple[wire.Mark, int] | None:
        """Where a session stands: the mark of the last message that a node wrote, and the number of the last of all; None where
        the stream has none."""
        subject = subjects.journal(self._pool_of(session_id), session_id)
        found = await jetstream.last_near(self._connection, subjects.JOURNAL, subject)
        if found is None:
            self._looked.pop((session_id, self._base()), None)
            return None
        mark = standing(found.headers)
        if mark is None:
            mark = await self._last_standing(session_id, subject, found.seq)
        elif mark.last:
            self._index.learn(session_id, mark.last, found.seq)
        return None if mark is None else (mark, found.seq)

    async def last_for_sure(self, session_id: str) -> wire.Mark | None:
        """The mark of a session's last message, as the stream's leader has it."""
        subject = subjects.journal(self._pool_of(session_id), session_id)
        found = await jetstream.last_message(self._connection, subjects.JOURNAL, subject)
        return None if found is None else standing(found.headers) or await self._last_standing(session_id, subject, found.seq)

    def forget(self, session_id: str) -> None:
        """What is known of where its entries are is wrong."""
        self._index.forget(session_id)
        self._looked.pop((session_id, self._base()), None)

    async def entries_of(self, session_id: str, message: Stored) -> list[Entry]:
        """The entries of a message that came by another way."""
        return await self._entries(session_id, message)

    async def _fill(self, page: Page, session_id: str, after: int, before: int | None) -> None:
        subject = subjects.journal(self._pool_of(session_id), session_id)
        start = await self._seek(session_id, subject, after + 1)
        async with aclosing(self._messages(subject, start)) as messages:
            async for message in messages:
                fresh = [entry for entry in await self._entries(session_id, message)
                         if entry.seq > after and (before is None or entry.seq < before)]
                if not page.add_all(fresh) or (before is not None and _last_of(message) >= before - 1):
                    return

    async def _read_back(self, session_id: str, after: int, before: int | None, limit: int, max_bytes: int) -> list[Entry]:
        """The last ones that fit: a window before the end, and a larger one where that was not enough."""
        end = before if before is not None else await self._end(session_id)
        window = min(limit, FIRST_WINDOW)
        while True:
            start = max(after, end - 1 - window)
            whole = Page(window + 1, 1 << 62)
            await self._fill(whole, session_id, start, end)
            page = Page(limit, max_bytes)
            full = not page.add_all(whole.entries[::-1])
            if full or start == after:
                return page.entries[::-1]
            window *= 4

    async def _end(self, session_id: str) -> int:
        found = await self.last(session_id)
        if found is None:
            return 1
        mark, _ = found
        return (mark.last or mark.after or 0) + 1

    async def _seek(self, session_id: str, subject: str, seq: int) -> int:
        """A number from which on all messages with entries from ``seq`` on are found, and few before them."""
        (known, low), at = self._index.around(session_id, seq)
        low += 1
        if seq - known <= NEAR:
            return low
        high = at[1] if at is not None else await self._last_number(session_id)
        while high - low > BATCH:
            middle = (low + high) // 2
            found = await self._first_from(subject, middle)
            if found is None or _last_of(found) >= seq:
                high = middle
            else:
                low = found.seq + 1
                self._index.learn(session_id, _last_of(found), found.seq)
                if seq - _last_of(found) <= NEAR:
                    break
        return low

    async def _last_number(self, session_id: str) -> int:
        found = await self.last(session_id)
        return 0 if found is None else found[1]

    async def _last_standing(self, session_id: str, subject: str, newest: int) -> wire.Mark | None:
        """Looked for behind what was looked at before, or behind the last message that is known; from the beginning where that
        was wrong, as in a stream that went back. ``newest`` is the session's last message."""
        place = session_id, self._base()
        looked = self._looked.pop(place, Looked())
        if looked.upto > newest:
            looked = Looked()
        _, known = self._index.around(session_id, _NO_SEQ)[0]
        if known > looked.upto:
            looked = Looked(known - 1)
        if looked.upto < newest:
            looked = await look_on(self._connection, subject, looked)
        if looked.mark is None and known:
            looked = await look_on(self._connection, subject, Looked())
        if len(self._looked) >= LOOKED_MOST:
            self._looked.clear()
        self._looked[place] = looked
        return looked.mark

    async def _first_from(self, subject: str, stream_seq: int) -> Stored | None:
        """The first message from a number on that says where the session stands."""
        page = await jetstream.read_page(self._connection, subjects.JOURNAL, subject, from_seq=stream_seq, batch=1, max_bytes=1)
        if not page.messages or _last_of(page.messages[0]):
            return page.messages[0] if page.messages else None
        async with aclosing(self._messages(subject, page.messages[0].seq + 1)) as messages:
            async for message in messages:
                if _last_of(message):
                    return message
        return None

    async def _messages(self, subject: str, from_seq: int) -> AsyncGenerator[Stored, None]:
        while True:
            page = await jetstream.read_page(self._connection, subjects.JOURNAL, subject, from_seq=from_seq, batch=BATCH,
                                             max_bytes=BATCH_BYTES)
            for message in page.messages:
                yield message
            if not page.messages or not page.more:
                return
            from_seq = page.messages[-1].seq + 1

    async def _is_over(self, pool: str, session_id: str) -> bool:
        """Whether a session's last message is an end. One that cannot be read is none."""
        found = await jetstream.last_near(self._connection, subjects.JOURNAL, subjects.journal(pool, session_id))
        return found is not None and found.headers.get(wire.KIND) == wire.END

    async def _was_ended(self, pool: str, session_id: str) -> bool:
        """Whether a session was ended that the directory does not have, or not yet."""
        with suppress(SessionNotFound):
            self._pool_of(session_id)
            return False
        if session_id in self._ended:
            return True
        if self._begun.get(session_id, -math.inf) > time.monotonic() - BEGUN_S:
            return False
        if await self._is_over(pool, session_id):
            self._ended.add(session_id)
            return True
        if len(self._begun) >= BEGUN_MOST:
            self._begun.clear()
        self._begun[session_id] = time.monotonic()
        return False

    async def _entries(self, session_id: str, message: Stored) -> list[Entry]:
        pool, _ = subjects.session_of(message.subject)
        if await self._was_ended(pool, session_id):
            return []

        async def fetch(seq: int) -> Entry:
            return await self._large(pool, session_id, seq)

        found = await entries_in(session_id, message.seq, message.headers, message.data, fetch)
        base = self._base()
        found = [self._shown_as(session_id, entry) for entry in found]
        for entry in found:
            entry.pos += base
        if found:
            self._index.learn(session_id, found[-1].seq, message.seq)
        return found

    async def _large(self, pool: str, session_id: str, seq: int) -> Entry:
        parts: list[Stored] = []
        while True:
            page = await jetstream.read_page(self._connection, subjects.PARTS, subjects.parts(pool, session_id, seq),
                                             from_seq=parts[-1].seq + 1 if parts else 1, batch=PARTS_BATCH, max_bytes=8 << 20)
            parts += page.messages
            if sum(len(part.data) for part in parts) > PARTS_BYTES:
                raise Invalid(f"its parts have more than {PARTS_BYTES} bytes")
            if not page.messages or not page.more:
                return join_parts((part.headers, part.data) for part in parts)


def _last_of(message: Stored) -> int:
    """The last seq that a message names, or that its claim took over."""
    mark = readable(message.headers)
    return 0 if mark is None else mark.last or mark.after or 0
