"""Runs of deltas as one event: what somebody reads who was not there when they came.

Rule 1: a run is what follows one another, among what is wanted, of one message, one thought or one call's arguments. As one event
it has the last one's seq and time, all their text, and ``_meta.joined``, the seq of the first.
Rule 2: text is spliced as the JSON that it is, never decoded. Whatever carries a ``_meta`` of its own stays alone.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from trunkline import decoders
from trunkline.dialects.context.filters import TypeFilter, parse_types
from trunkline.journal.base import Entry

RUN_BYTES = 256 << 10
"""A run longer than this is several events, as every long text is."""
JOINED_SCAN_MOST = 10_000
"""Entries that one page looks through."""

_DELTAS: Final = parse_types("message:delta,thinking:delta,tool:args_delta")


class _Joined(msgspec.Struct):
    joined: int


class _TextDelta(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
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

    def goes_on(self, other: _TextDelta) -> bool:
        """Whether the two are pieces of one text."""
        return (self.message_id == other.message_id and self.type == other.type and self.tool_call_id == other.tool_call_id
                and self.role == other.role)


_decode = decoders.of(_TextDelta).decode
_encode = msgspec.json.Encoder().encode


class EventRun:
    """One event of a page: an entry's own, or a run of deltas."""

    def __init__(self, entry: Entry) -> None:
        self.first = self.last = entry.seq
        self.size = len(entry.event)
        self._alone = entry.event
        self._newest = _delta_of(entry.event)
        self._texts = deque([_text(self._newest)] if self._newest is not None else [])

    def takes_after(self, entry: Entry) -> bool:
        """Join a delta that comes behind."""
        delta = self._fitting(entry)
        if delta is None:
            return False
        self._texts.append(_text(delta))
        self._newest, self.last = delta, entry.seq
        return True

    def takes_before(self, entry: Entry) -> bool:
        """Join a delta that came before."""
        delta = self._fitting(entry)
        if delta is None:
            return False
        self._texts.appendleft(_text(delta))
        self.first = entry.seq
        return True

    def event(self) -> Raw:
        """The event as it is shown."""
        if self.first == self.last or self._newest is None:
            return Raw(self._alone)
        self._newest.delta = Raw(b'"%b"' % b"".join(self._texts))
        self._newest.meta = Raw(_encode(_Joined(self.first)))
        return Raw(_encode(self._newest))

    def _fitting(self, entry: Entry) -> _TextDelta | None:
        if self._newest is None or self.size >= RUN_BYTES:
            return None
        delta = _delta_of(entry.event)
        if delta is None or not delta.goes_on(self._newest):
            return None
        self.size += len(memoryview(delta.delta)) - 2
        return delta


class EventRuns:
    """The events of a page that are wanted, deltas joined."""

    def __init__(self, wanted: TypeFilter) -> None:
        self._wanted = wanted

    def is_wanted(self, entry: Entry) -> bool:
        """Whether the filter lets it through."""
        return self._wanted.matches_encoded(entry.event)

    def begin(self, entry: Entry) -> EventRun:
        """Every entry has an event."""
        return EventRun(entry)


def _delta_of(event: bytes) -> _TextDelta | None:
    """The event as a delta that can be joined; None where it is none."""
    if not _DELTAS.matches_encoded(event):
        return None
    delta = _decode(event)
    return delta if delta.meta is UNSET else None


def _text(delta: _TextDelta) -> bytes:
    """The text between its quotes, as it is escaped."""
    return bytes(delta.delta)[1:-1]
