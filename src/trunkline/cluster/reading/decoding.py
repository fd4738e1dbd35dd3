"""A stored message becomes entries, each with its place in the cluster.

Rule 1: what cannot be read becomes a gap with the seqs that the headers name; an unknown kind becomes a ``custom`` event.
Rule 2: claims and ends hold no entries.
Rule 3: who wrote a message had the key of one pool. What is shown to clients is what that key may speak of: entries of the
        session itself, each a line of JSON, as a hub writes them (``as_its_own``).
Rule 4: a large entry has a message of its own, as its owner sends it: no message makes a reader put together more than one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.cluster import wire
from trunkline.cluster.wire import Entries, Unknown
from trunkline.dialects.outside import BROKEN, MOMENT_MOST
from trunkline.errors import Invalid
from trunkline.journal.base import Entry
from trunkline.journal.gap import gap_entry

log = logging.getLogger("trunkline.cluster")

FetchParts = Callable[[int], Awaitable[Entry]]
"""Gets a large entry by its seq, put together of its parts; Invalid where they are not there."""
LARGE_MOST: Final = 1


class _Envelope(msgspec.Struct, rename="camel"):
    """What each event says of itself; of a name that is there twice the last counts, as for clients."""

    seq: int
    session_id: str
    timestamp: str
    type: str


class _Object(msgspec.Struct):
    """Any object."""


_envelope = decoders.of(_Envelope)
_object = decoders.of(_Object)


def as_its_own(session_id: str, entry: Entry) -> Entry:
    """An entry as it may be shown; a gap where it speaks of another session, or is no line of JSON: it would be another message
    where it is put among others."""
    try:
        event = _envelope.decode(entry.event)
        for body in filter(None, (entry.update, entry.packet)):
            _object.decode(body)
    except BROKEN as error:
        return _not_its_own(session_id, entry, str(error))
    if event.session_id != session_id or event.seq != entry.seq:
        return _not_its_own(session_id, entry, "its event is another entry's")
    if not 0 <= entry.at <= MOMENT_MOST or b"\n" in entry.event or b"\r" in entry.event:
        return _not_its_own(session_id, entry, "it is no line, or at no time")
    return entry


def _not_its_own(session_id: str, entry: Entry, why: str) -> Entry:
    log.error("entry %d of session %s is not shown: %s", entry.seq, session_id, why)
    return gap_entry(session_id, entry.seq, entry.seq, at=0, pos=entry.pos)


async def entries_in(session_id: str, stream_seq: int, headers: Mapping[str, str], body: bytes, fetch: FetchParts) -> list[Entry]:
    """The entries of one message, in seq order."""
    try:
        message = wire.read_message(headers, body)
    except Invalid as error:
        return _unreadable(session_id, stream_seq, headers, error)
    if isinstance(message, Unknown) and message.first:
        found = [_unknown(session_id, message)]
    elif isinstance(message, Entries):
        found = message.entries
        if message.parts:
            found += [await _whole(session_id, seq, fetch if number < LARGE_MOST else _too_many)
                      for number, seq in enumerate(message.parts)]
            found.sort(key=lambda entry: entry.seq)
    else:
        return []
    for index, entry in enumerate(found):
        entry.pos = wire.pos_of(stream_seq, index)
    return found


async def _too_many(seq: int) -> Entry:
    raise Invalid("its message names more large entries than one")


async def _whole(session_id: str, seq: int, fetch: FetchParts) -> Entry:
    try:
        return await fetch(seq)
    except Invalid as error:
        log.error("entry %d of session %s: %s", seq, session_id, error.message)
        return gap_entry(session_id, seq, seq, at=0, pos=0)


def _unreadable(session_id: str, stream_seq: int, headers: Mapping[str, str], why: Invalid) -> list[Entry]:
    log.error("message %d of session %s cannot be read: %s", stream_seq, session_id, why.message)
    try:
        first, last = wire.read_range(headers)
    except Invalid:
        return []
    return [gap_entry(session_id, first, last, at=0, pos=wire.pos_of(stream_seq, 0))] if first else []


def _unknown(session_id: str, message: Unknown) -> Entry:
    """It stands for all that the message names, and has the seq of the last: whoever has seen it goes on behind it."""
    from trunkline.dialects.context.envelope import encode_event
    from trunkline.dialects.context.events import CustomEvent
    from trunkline.dialects.context.types import to_raw

    data = {"version": message.version, "kind": message.kind, "from": message.first, "to": message.last}
    event = CustomEvent(namespace="trunkline", event_name="unknown_message", data=to_raw(data))
    return Entry(message.last, 0, encode_event(message.last, session_id, 0, event))
