"""Runs of deltas as one event: what somebody reads who was not there when they were told.

Rule 1: a run is what follows one another, among what is wanted, of one message, one thought or one call's arguments. Told as one
event it has the last one's seq and time, all their text, and ``_meta.joined``, the seq of the first.
Rule 2: a cursor may point into a run and gets the rest of it, so pages of any size add up to the same text.
Rule 3: what one page costs is bounded: events, bytes, and entries looked through. A run that is cut goes on in the next.
Rule 4: text is spliced as the JSON that it is, never decoded. Whatever carries a ``_meta`` of its own stays alone.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from trunkline.dialects.context.filters import TypeFilter, parse_types
from trunkline.feeds.session import Feed
from trunkline.journal.base import Entry

PAGE_BYTES = 4 << 20
RUN_BYTES = 256 << 10
"""A run longer than this is told in several events, as every long text is."""
SCANNED_MOST = 10_000
"""Entries that one page looks through."""
READ_ENTRIES = 2_000
READ_BYTES = 1 << 20

_DELTAS: Final = parse_types("message:delta,thinking:delta,tool:args_delta")


class _Joined(msgspec.Struct):
    joined: int


class _Delta(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A delta of whatever kind, its text as it is written."""

    seq: int
    session_id: str
    timestamp: str
    type: str
    message_id: str | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
    role: str | UnsetType = UNSET
    delta: Raw
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")

    def goes_on(self, other: _Delta) -> bool:
        """Whether the two are pieces of one text."""
        return (self.message_id == other.message_id and self.type == other.type and self.tool_call_id == other.tool_call_id
                and self.role == other.role)


_decode = msgspec.json.Decoder(_Delta).decode
_encode = msgspec.json.Encoder().encode


class Piece:
    """One event of a page: an entry's own, or a run that grows at one of its ends."""

    def __init__(self, entry: Entry) -> None:
        self.first = self.last = entry.seq
        self.size = len(entry.event)
        self._alone = entry.event
        self._newest = _delta_of(entry.event)
        self._texts = [_text(self._newest)] if self._newest is not None else []

    def takes_after(self, entry: Entry) -> bool:
        """Join an entry that comes behind; False where it does not belong."""
        delta = self._fitting(entry)
        if delta is None:
            return False
        self._texts.append(_text(delta))
        self._newest, self.last = delta, entry.seq
        return True

    def takes_before(self, entry: Entry) -> bool:
        """Join an entry that came before; False where it does not belong. The texts are in reverse then."""
        delta = self._fitting(entry)
        if delta is None:
            return False
        self._texts.append(_text(delta))
        self.first = entry.seq
        return True

    def event(self, *, reversed_: bool = False) -> Raw:
        """The event as it is told."""
        if self.first == self.last or self._newest is None:
            return Raw(self._alone)
        texts = self._texts[::-1] if reversed_ else self._texts
        self._newest.delta = Raw(b'"%b"' % b"".join(texts))
        self._newest.meta = Raw(_encode(_Joined(self.first)))
        return Raw(_encode(self._newest))

    def _fitting(self, entry: Entry) -> _Delta | None:
        if self._newest is None or self.size >= RUN_BYTES:
            return None
        delta = _delta_of(entry.event)
        if delta is None or not delta.goes_on(self._newest):
            return None
        self.size += len(memoryview(delta.delta)) - 2
        return delta


class Stretch(msgspec.Struct):
    """What was found between two cursors. ``position`` is the entry that was looked at last; ``more``: there are others."""

    events: list[Raw]
    position: int
    more: bool


async def joined_after(feed: Feed, after: int, before: int | None, limit: int, wanted: TypeFilter) -> Stretch:
    """The first events after a cursor."""
    pieces: list[Piece] = []
    size = scanned = 0
    position = after
    while scanned < SCANNED_MOST and (entries := await feed.read(
            after=position, before=before, limit=READ_ENTRIES, max_bytes=READ_BYTES)):
        for entry in entries:
            if wanted.matches_encoded(entry.event) and not (pieces and pieces[-1].takes_after(entry)):
                size += pieces[-1].size if pieces else 0
                if len(pieces) == limit or (pieces and size + len(entry.event) > PAGE_BYTES):
                    return Stretch([piece.event() for piece in pieces], position, True)
                pieces.append(Piece(entry))
            position = entry.seq
        scanned += len(entries)
    end = feed.last_seq + 1 if before is None else min(before, feed.last_seq + 1)
    return Stretch([piece.event() for piece in pieces], position, position + 1 < end)


async def joined_before(feed: Feed, before: int, limit: int, wanted: TypeFilter) -> Stretch:
    """The last events before a cursor, found by looking back."""
    pieces: list[Piece] = []
    size = scanned = 0
    position = before
    while scanned < SCANNED_MOST and (entries := await feed.read_back(
            before=position, limit=READ_ENTRIES, max_bytes=READ_BYTES)):
        for entry in reversed(entries):
            if wanted.matches_encoded(entry.event) and not (pieces and pieces[-1].takes_before(entry)):
                size += pieces[-1].size if pieces else 0
                if len(pieces) == limit or (pieces and size + len(entry.event) > PAGE_BYTES):
                    return Stretch(_backwards(pieces), position, True)
                pieces.append(Piece(entry))
            position = entry.seq
        scanned += len(entries)
    return Stretch(_backwards(pieces), position, position > 1)


def _backwards(pieces: list[Piece]) -> list[Raw]:
    return [piece.event(reversed_=True) for piece in reversed(pieces)]


def _delta_of(event: bytes) -> _Delta | None:
    """The event as a delta that can be joined; None where it is none."""
    if not _DELTAS.matches_encoded(event):
        return None
    delta = _decode(event)
    return delta if delta.meta is UNSET else None


def _text(delta: _Delta) -> bytes:
    """The text between its quotes, as it is escaped."""
    return bytes(delta.delta)[1:-1]
