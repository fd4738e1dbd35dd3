"""Stored packets by the page, runs of text joined.

Rule: a run is the chunks of text of one message. As one packet it has the last one's seq and the first one's time.
"""

from __future__ import annotations

from collections import deque

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.reading.decode import TextChunk, text_chunk
from trunkline.dialects.packets.derive import text_chunk_packet
from trunkline.feeds.session import Feed
from trunkline.journal.base import Entry
from trunkline.server.packets.frames import packet_of
from trunkline.server.paging import runs_after, runs_before

RUN_BYTES = 1 << 20
"""A run longer than this is several messages."""
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


class _TypeOnly(msgspec.Struct):
    type: str


_event_type = decoders.of(_TypeOnly)


class PacketRun:
    """One message of a page: a packet, or chunks of text joined (JSON string tokens side by side are one token)."""

    def __init__(self, entry: Entry, packet: bytes) -> None:
        chunk = _chunk_of(entry)
        self.first = self.last = entry.seq
        self.size = len(packet)
        self._packet = packet
        self._kind = chunk.kind if chunk is not None else None
        self._at = entry.at
        self._texts = deque([_text(chunk)] if chunk is not None else [])
        self._text_bytes = sum(map(len, self._texts))
        self._begins = chunk is not None and _begins_message(entry)

    def takes_after(self, entry: Entry) -> bool:
        """Join a chunk that comes behind."""
        chunk = self._fitting(entry)
        if chunk is None or _begins_message(entry):
            return False
        self._texts.append(_text(chunk))
        self._grow(len(self._texts[-1]))
        self.last = entry.seq
        return True

    def takes_before(self, entry: Entry) -> bool:
        """Join a chunk that came before, unless this is the beginning of the message."""
        chunk = None if self._begins else self._fitting(entry)
        if chunk is None:
            return False
        self._texts.appendleft(_text(chunk))
        self._grow(len(self._texts[0]))
        self.first, self._at, self._begins = entry.seq, entry.at, _begins_message(entry)
        return True

    def stored(self) -> StoredPacket:
        """The run as one packet with its last seq."""
        if self._kind is None or self.first == self.last:
            return StoredPacket(self.last, msgspec.Raw(self._packet))
        packet = text_chunk_packet(self._kind, b'"%b"' % b"".join(self._texts), self._at)
        return StoredPacket(self.last, msgspec.Raw(packet))

    def _grow(self, count: int) -> None:
        self.size += count
        self._text_bytes += count

    def _fitting(self, entry: Entry) -> TextChunk | None:
        if self._kind is None or self._text_bytes >= RUN_BYTES:
            return None
        chunk = _chunk_of(entry)
        return chunk if chunk is not None and chunk.kind == self._kind else None


class PacketRuns:
    """The packets of a page, chunks of text joined."""

    def is_wanted(self, entry: Entry) -> bool:
        """Whether it can have a packet."""
        return entry.packet is not None or entry.update is not None

    def begin(self, entry: Entry) -> PacketRun | None:
        """Not every update has a packet."""
        packet = packet_of(entry)
        return PacketRun(entry, packet) if packet is not None else None


async def page_after(feed: Feed, after: int, before: int | None, limit: int) -> StoredPackets:
    """The first packets after a cursor."""
    found = await runs_after(feed, after, before, limit, PacketRuns())
    next_after = found.runs[-1].last if found.more and found.runs else None
    return StoredPackets([run.stored() for run in found.runs], next_after, after + 1 if after else None)


async def page_before(feed: Feed, before: int, limit: int) -> StoredPackets:
    """The last packets before a cursor."""
    before = min(before, feed.last_seq + 1)
    found = await runs_before(feed, before, limit, PacketRuns())
    next_before = found.runs[0].first if found.more and found.runs else None
    return StoredPackets([run.stored() for run in found.runs], before - 1 if before <= feed.last_seq else None, next_before)


def _chunk_of(entry: Entry) -> TextChunk | None:
    """The chunk of text that its packet is derived from; None where it is another packet."""
    return text_chunk(entry.update) if entry.packet is None and entry.update is not None else None


def _begins_message(entry: Entry) -> bool:
    return _event_type.decode(entry.event).type in MESSAGE_STARTS


def _text(chunk: TextChunk) -> bytes:
    """The text between its quotes, as it is escaped."""
    return bytes(chunk.text)[1:-1]
