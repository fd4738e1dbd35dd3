"""The packets face: a prompt and its turn as a stream, attach and resume, stored packets by the page.

Rule 1: one packet, one seq, one id. A reader that was cut anywhere goes on after the last id it saw.
Rule 2: closing a stream never touches the turn.
Rule 3: a page of stored packets may join chunks of text; a cursor may point into such a run and gets the rest of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import msgspec

from trunkline.dialects.acp import TextChunk, text_chunk
from trunkline.dialects.packets import text_chunk_packet
from trunkline.errors import Invalid, NotFound
from trunkline.journal.base import Entry
from trunkline.server.call import Call, Reply, reply, whole_number
from trunkline.server.prompt import SendMessage, blocks_of
from trunkline.server.sse import EventStream, Outlet, Pump, entries_after, follow, frames_of
from trunkline.session.feed import Feed, packet_of

PAGE_MOST = 1_000
PAGE_DEFAULT = 100
PAGE_BYTES = 4 << 20
"""A page stops here; the next one goes on from there."""
RUN_BYTES = 1 << 20
"""A run longer than this is told in several messages."""
KEY_LENGTH = 255
MESSAGE_STARTS = frozenset({"message:start", "thinking:start"})

TURN_END = re.compile(rb'"type":"(?:prompt_response|error)"')
"""In JSON text every quote inside a string is escaped, so this matches only real members: a cheap sieve, no verdict."""


class Sent(msgspec.Struct, rename="camel"):
    """The prompt was taken: attach after ``seq`` to see its turn."""

    turn_id: str
    seq: int
    queued: bool


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


async def send_message(call: Call) -> Reply:
    """Take a prompt; stream its turn where the client asked for that."""
    session = await call.session()
    message = await call.body(SendMessage)
    accepted = await session.send(
        blocks_of(message.content), when_busy=message.when_busy, idempotency_key=_idempotency_key(call), by=call.caller.name,
    )
    if not call.wants_stream():
        return reply(Sent(accepted.turn_id, accepted.seq, accepted.queued), 202)

    seen = cursor(call, session.feed)

    async def pump(outlet: Outlet) -> None:
        await relay_turn(session.feed, accepted.turn_id, accepted.seq, seen, outlet)

    return _stream(call, pump)


async def attach(call: Call) -> Reply:
    """Every packet after the cursor, then live."""
    session = await call.session()
    after = cursor(call, session.feed)

    async def pump(outlet: Outlet) -> None:
        await follow(session.feed, after, outlet)

    return _stream(call, pump)


async def messages(call: Call) -> Reply:
    """A page of stored packets: the first after ``after``, or, with only ``before``, the last before it."""
    feed = (await call.session()).feed
    after, before = call.integer("after"), call.integer("before", least=1)
    limit = call.integer("limit", PAGE_DEFAULT, least=1, most=PAGE_MOST)
    if before is not None and after is None:
        return reply(await page_before(feed, before, limit))
    return reply(await page_after(feed, after or 0, before, limit))


def cursor(call: Call, feed: Feed) -> int:
    """Where to start: ``Last-Event-ID`` wins over ``?after=``; neither means from the beginning."""
    name, value = "Last-Event-ID", call.request.headers.get("last-event-id") or None
    if value is None:
        name, value = "after", call.text("after")
    if value is None:
        return 0
    after = whole_number(name, value)
    if after > feed.last_seq:
        raise Invalid(f"{name} {after} is beyond the session's last entry, {feed.last_seq}",
                      details={"field": name, "lastSeq": feed.last_seq})
    return after


def _stream(call: Call, pump: Pump) -> EventStream:
    return EventStream(pump, call.parts.streams, keepalive_s=call.parts.options.keepalive_s)


def _idempotency_key(call: Call) -> str | None:
    key = call.request.headers.get("idempotency-key") or None
    if key is not None and len(key) > KEY_LENGTH:
        raise Invalid(f"Idempotency-Key is longer than {KEY_LENGTH} characters", details={"field": "Idempotency-Key"})
    return key


# One turn as a stream


class _Mark(msgspec.Struct, rename="camel"):
    turn_id: str | None = None


class _Event(msgspec.Struct, rename="camel"):
    """The members of an event that say where messages and turns start and end."""

    type: str
    event_name: str | None = None
    data: msgspec.Raw = msgspec.Raw(b"{}")
    meta: _Mark | None = msgspec.field(default=None, name="_meta")


_event = msgspec.json.Decoder(_Event)
_mark = msgspec.json.Decoder(_Mark)


async def relay_turn(feed: Feed, turn_id: str, after: int, seen: int, outlet: Outlet) -> None:
    """Write the packets of one turn, from its start (which may be a queue away) to its end.

    ``seen`` is what a reader has that repeats its POST after a lost connection: it gets the rest."""
    outlet.position = after
    position = await _start_of(feed, turn_id, after, outlet)
    ended = False
    while not ended:
        frames, position, ended = await _turn_frames(feed, turn_id, position, seen)
        outlet.position = position
        if frames:
            await outlet.write(frames)
        elif not ended and feed.last_seq <= position:
            if feed.closed:
                return
            await feed.wait(position)


async def _start_of(feed: Feed, turn_id: str, after: int, outlet: Outlet) -> int:
    position = after
    while True:
        for entry in await entries_after(feed, position):
            position = outlet.position = entry.seq
            fate = _fate_of(entry, turn_id)
            if fate == "turn_started":
                return position
            if fate == "prompt_dropped":
                raise NotFound("the prompt was taken out of the queue", details={"turnId": turn_id})
        if feed.last_seq <= position:
            if feed.closed:
                return position
            await feed.wait(position)


async def _turn_frames(feed: Feed, turn_id: str, position: int, seen: int) -> tuple[bytes, int, bool]:
    shared = feed.packet_frames(position) if position >= seen else None
    if shared is not None and not TURN_END.search(shared[0]):
        return *shared, False
    unseen: list[Entry] = []
    for entry in await entries_after(feed, position):
        position = entry.seq
        if position > seen:
            unseen.append(entry)
        if _ends(entry, turn_id):
            return frames_of(unseen), position, True
    return frames_of(unseen), position, False


def _fate_of(entry: Entry, turn_id: str) -> str | None:
    """What became of a waiting prompt, where this entry says so."""
    if b"turn_started" not in entry.event and b"prompt_dropped" not in entry.event:
        return None
    event = _event.decode(entry.event)
    if event.event_name not in ("turn_started", "prompt_dropped"):
        return None
    return event.event_name if _mark.decode(event.data).turn_id == turn_id else None


def _ends(entry: Entry, turn_id: str) -> bool:
    if entry.packet is None or not TURN_END.search(entry.packet):
        return False
    meta = _event.decode(entry.event).meta
    return meta is not None and meta.turn_id == turn_id


# Stored packets by the page


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
        return chunk.kind == self.kind and self._size < RUN_BYTES and _event.decode(entry.event).type not in MESSAGE_STARTS

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
    before = min(before, feed.last_seq + 1)
    window = limit * 4
    while True:
        start = max(0, before - 1 - window)
        pieces = await _last_pieces(feed, start, before, limit + 1)
        # The first piece of a window may be the rest of a run, so it counts only where the window starts at the beginning.
        if start == 0 or len(pieces) > limit:
            break
        window *= 4
    page = list(pieces)[-limit:]
    earlier = page[0].first if page and (start > 0 or len(pieces) > limit) else None
    return StoredPackets([piece.stored for piece in page], before - 1 if before <= feed.last_seq else None, earlier)


async def _last_pieces(feed: Feed, after: int, before: int, count: int) -> deque[_Piece]:
    pieces: deque[_Piece] = deque(maxlen=count)
    async for piece in _pieces(feed, after, before):
        pieces.append(piece)
    return pieces
