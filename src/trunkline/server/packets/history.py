"""Stored packets by the page, runs of text joined.

Rule 1: a joined run has its last seq. A cursor may point into a run and gets the rest of it, so pages of any size add up to
the same text.
Rule 2: a page is bounded in messages and in bytes, and so is a run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec

from trunkline.dialects.acp.decode import TextChunk, text_chunk
from trunkline.dialects.packets.derive import text_chunk_packet
from trunkline.feeds.session import Feed, packet_of
from trunkline.journal.base import Entry

PAGE_BYTES = 4 << 20
"""A page stops here; the next one goes on from there."""
RUN_BYTES = 1 << 20
"""A run longer than this is told in several messages."""
MESSAGE_STARTS = frozenset({"message:start", "thinking:start"})


class StoredPacket(msgspec.Struct):
    """A packet and its cursor."""

    seq: int
    packet: msgspec.Raw


class StoredPackets(msgspec.Struct, rename="camel"):
    """A page of packets. ``nextAfter`` is the cursor of the next page, null at the end; ``nextBefore`` that of the page
    before, null at the beginning (a joined run begins earlier than its seq says)."""

    messages: list[StoredPacket]
    next_after: int | None
    next_before: int | None


class _Kind(msgspec.Struct):
    type: str


_kind = msgspec.json.Decoder(_Kind)


class _Piece(msgspec.Struct):
    """What becomes one message of a page; ``first`` is the seq of its first entry."""

    first: int
    stored: StoredPacket

    def size(self) -> int:
        """Bytes of its packet."""
        return len(memoryview(self.stored.packet))


class _Run:
    """Chunks of text of one message, joined: JSON string tokens side by side are one token."""

    def __init__(self, chunk: TextChunk, entry: Entry) -> None:
        self.kind = chunk.kind
        self._at = entry.at
        self._first = entry.seq
        self._texts: list[bytes] = []
        self._size = 0
        self.add(chunk, entry)

    def takes(self, chunk: TextChunk, entry: Entry) -> bool:
        """Whether the chunk goes on where this run ends; ``message:start`` begins another message."""
        return chunk.kind == self.kind and self._size < RUN_BYTES and _kind.decode(entry.event).type not in MESSAGE_STARTS

    def add(self, chunk: TextChunk, entry: Entry) -> None:
        """Join a chunk."""
        text = bytes(chunk.text)[1:-1]
        self._last = entry.seq
        self._texts.append(text)
        self._size += len(text)

    def piece(self) -> _Piece:
        """The run as one packet with its last seq."""
        packet = text_chunk_packet(self.kind, b'"%b"' % b"".join(self._texts), self._at)
        return _Piece(self._first, StoredPacket(self._last, msgspec.Raw(packet)))


async def _pieces(feed: Feed, after: int, before: int | None) -> AsyncGenerator[_Piece, None]:
    """Packets between two cursors, runs of chunks joined."""
    run: _Run | None = None
    async for entry in _entries(feed, after, before):
        chunk = text_chunk(entry.update) if entry.packet is None and entry.update is not None else None
        if chunk is not None and run is not None and run.takes(chunk, entry):
            run.add(chunk, entry)
            continue
        packet = packet_of(entry)
        if packet is None:
            continue
        if run is not None:
            yield run.piece()
        run = _Run(chunk, entry) if chunk is not None else None
        if run is None:
            yield _Piece(entry.seq, StoredPacket(entry.seq, msgspec.Raw(packet)))
    if run is not None:
        yield run.piece()


async def _entries(feed: Feed, after: int, before: int | None) -> AsyncIterator[Entry]:
    while entries := await feed.read(after=after, before=before):
        for entry in entries:
            yield entry
        after = entries[-1].seq


async def page_after(feed: Feed, after: int, before: int | None, limit: int) -> StoredPackets:
    """The first packets after a cursor."""
    page: list[StoredPacket] = []
    more = False
    size = 0
    async with aclosing(_pieces(feed, after, before)) as pieces:
        async for piece in pieces:
            more = len(page) == limit or (bool(page) and size + piece.size() > PAGE_BYTES)
            if more:
                break
            page.append(piece.stored)
            size += piece.size()
    return StoredPackets(page, page[-1].seq if more else None, after + 1 if after else None)


async def page_before(feed: Feed, before: int, limit: int) -> StoredPackets:
    """The last packets before a cursor, found by looking back further and further."""
    start = before = min(before, feed.last_seq + 1)
    pieces: deque[_Piece] = deque()
    size, window = 0, limit * 4
    while start > 1 and len(pieces) <= limit and not (pieces and size >= PAGE_BYTES):
        start, passed = await _step_back(feed, start, window)
        size += passed
        pieces = await _last_pieces(feed, start - 1, before, limit + 1)
        window *= 4
    # The first piece may be the rest of a run: the page before this one ends with what is missing of it.
    page = list(pieces)[-limit:]
    earlier = page[0].first if page and (start > 1 or len(pieces) > limit) else None
    return StoredPackets([piece.stored for piece in page], before - 1 if before <= feed.last_seq else None, earlier)


async def _step_back(feed: Feed, start: int, count: int) -> tuple[int, int]:
    """Where so many entries before ``start`` begin, or as many as fill a page, and their bytes."""
    end, size = max(1, start - count), 0
    while start > end and size < PAGE_BYTES:
        entries = await feed.read_back(before=start, limit=start - end)
        if not entries:  # nothing that can be read is before it
            return 1, size
        start = entries[0].seq
        size += sum(len(entry.packet or entry.update or b"") for entry in entries)
    return start, size


async def _last_pieces(feed: Feed, after: int, before: int, count: int) -> deque[_Piece]:
    pieces: deque[_Piece] = deque(maxlen=count)
    async for piece in _pieces(feed, after, before):
        pieces.append(piece)
    return pieces
