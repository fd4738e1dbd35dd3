"""A session's messages in the stream: groups of entries, claims, ends. Bytes and headers only; nothing is sent here.

    Tl-V      the version of all this, in every message
    Tl-Kind   entries | claim | end; another one is kept, and shown as what we do not know
    Tl-Epoch  whose: it rises with each claim
    Tl-Seq    first-last, for entries
    Tl-Parts  seq:count,… for entries that are not in the body but in parts beside it
    Tl-After  behind a claim: the last seq that it took over, so that an owner who was away learns it from any later message

A body of entries is a msgpack array of them, as a zlib stream where that pays; the first byte shows which. Their ``pos`` is 0:
a reader gives each its place in the stream.

Rule 1: what version 1 wrote stays readable (tests/data/cluster has messages of each version).
Rule 2: what cannot be read is Invalid, or an Unknown with all that it carries. Bytes never decide how much memory they take.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN, is_whole_number
from trunkline.errors import Invalid
from trunkline.journal.base import Entry

VERSION: Final = 1
V: Final = "Tl-V"
KIND: Final = "Tl-Kind"
EPOCH: Final = "Tl-Epoch"
SEQ: Final = "Tl-Seq"
PARTS: Final = "Tl-Parts"
AFTER: Final = "Tl-After"

ENTRIES: Final = "entries"
CLAIM: Final = "claim"
END: Final = "end"

GROUP_BYTES: Final = 256 << 10
GROUP_ENTRIES: Final = 4096
"""What one message holds at most; so many entries have a place each (``pos_of``)."""
PLACE_BITS: Final = 46
PLACE_MOST: Final = (1 << PLACE_BITS) - 1
GENERATIONS: Final = 127
"""A place is 34 bits of the stream's own number and 12 of the entry in its message; before these stands the generation. All of it
is below 2^53, which is what JSON's readers can count to."""
LARGE_ENTRY: Final = 512 << 10
"""An entry over this goes in parts of this size: a server's default limit is 1 MiB a message."""
PLAIN_MOST: Final = 2 << 20
"""What a body may unpack to: twice what we write."""
ENTRY_MOST: Final = 256 << 20
"""The same for one entry that came in parts."""

PACK_FROM: Final = 1 << 10
_PACK_LEVEL: Final = 1
_PACKED_PAYS: Final = 0.75
_ZLIB_FIRST_BYTE: Final = 0x78

_encode = msgspec.msgpack.Encoder().encode
_decode_entries = decoders.packed(list[Entry]).decode
_decode_entry = decoders.packed(Entry).decode

Headers = dict[str, str]


class Entries(msgspec.Struct, frozen=True):
    """What one commit, or several that were merged, wrote of a session."""

    epoch: int
    first: int
    last: int
    entries: list[Entry]
    parts: dict[int, int]
    """The seqs of entries that are in parts, and in how many."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """From here on the session is another node's."""

    epoch: int
    owner: str
    incarnation: str
    """Which start of that node: two of one name are two owners."""
    after: int
    """The last seq that it saw, and goes on behind."""
    why: str = ""


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The session's owner gave it up: it was deleted, or handed on."""

    epoch: int
    owner: str
    after: int
    why: str = ""


class Unknown(msgspec.Struct, frozen=True):
    """A message of a kind or version that this one does not know; ``first`` is 0 where it names no entries."""

    version: int
    kind: str
    epoch: int
    first: int
    last: int
    body: bytes


Message = Entries | Claim | End | Unknown

_claim = decoders.of(Claim)
_end = decoders.of(End)


def entries_body(entries: Sequence[Entry]) -> bytes:
    """The body of a group."""
    return pack(encode_entries(entries))


def encode_entries(entries: Sequence[Entry]) -> bytes:
    """The same, not packed yet: that takes by far the most of its time."""
    return _encode([(e.seq, e.at, e.event, e.update, e.packet, e.raw, 0, e.step) for e in entries])


def entries_headers(epoch: int, first: int, last: int, parts: Mapping[int, int] | None = None, after: int | None = None
                    ) -> Headers:
    """Its headers; ``parts`` are the seqs that are missing in the body, ``after`` is what the epoch's claim took over."""
    headers = {**_headers(ENTRIES, epoch), SEQ: f"{first}-{last}"}
    if after is not None:
        headers[AFTER] = str(after)
    if parts:
        headers[PARTS] = ",".join(f"{seq}:{count}" for seq, count in parts.items())
    return headers


def claim_message(claim: Claim) -> tuple[bytes, Headers]:
    """A claim as body and headers."""
    return msgspec.json.encode(claim), {**_headers(CLAIM, claim.epoch), AFTER: str(claim.after)}


def end_message(end: End) -> tuple[bytes, Headers]:
    """An end as body and headers."""
    return msgspec.json.encode(end), {**_headers(END, end.epoch), AFTER: str(end.after)}


def entry_bytes(entry: Entry) -> bytes:
    """One large entry, to be cut into parts."""
    return pack(_encode((entry.seq, entry.at, entry.event, entry.update, entry.packet, entry.raw, 0, entry.step)))


def read_entry(body: bytes) -> Entry:
    """An entry that was put together of its parts; Invalid where it is none."""
    try:
        return _decode_entry(unpack(body, ENTRY_MOST))
    except BROKEN as error:
        raise Invalid(f"a large entry cannot be read: {error}") from None


def read_message(headers: Mapping[str, str], body: bytes) -> Message:
    """What a message says; Invalid where it is none of ours, or not what it claims to be."""
    version, kind, epoch = _number(headers, V), headers.get(KIND, ""), _number(headers, EPOCH)
    first, last = read_range(headers)
    if version != VERSION or kind not in (ENTRIES, CLAIM, END):
        return Unknown(version, kind, epoch, first, last, body)
    try:
        if kind == CLAIM:
            return _claim.decode(body)
        if kind == END:
            return _end.decode(body)
        return _read_entries(headers, body, epoch, first, last)
    except BROKEN as error:
        raise Invalid(f"a message of kind {kind} cannot be read: {error}") from None


class Mark(msgspec.Struct, frozen=True):
    """What a message's headers say of where the session stands, whatever is in its body."""

    kind: str
    epoch: int
    last: int
    """The last seq that it names; 0: none."""
    after: int | None
    """What the epoch's claim took over; None in an epoch without one."""


def read_mark(headers: Mapping[str, str]) -> Mark:
    """The mark of a message; Invalid where it is none of ours."""
    after = _number(headers, AFTER) if AFTER in headers else None
    return Mark(headers.get(KIND, ""), _number(headers, EPOCH), read_range(headers)[1], after)


def pos_of(stream_seq: int, index: int) -> int:
    """The place of a message's entry among all of the cluster."""
    return stream_seq * GROUP_ENTRIES + index


def stream_seq_of(pos: int) -> int:
    """The message that has the entry with this place."""
    return (pos & PLACE_MOST) // GROUP_ENTRIES


def base_of(generation: int) -> int:
    """What is added to places of a stream in this generation: so each says of which it is. A hub's own places have nothing."""
    return (generation % GENERATIONS + 1) << PLACE_BITS


def is_same_base(pos: int, other: int) -> bool:
    """Whether two places are of one generation."""
    return pos >> PLACE_BITS == other >> PLACE_BITS


def pack(plain: bytes) -> bytes:
    """Bytes, compressed where that pays."""
    if len(plain) < PACK_FROM:
        return plain
    packed = zlib.compress(plain, _PACK_LEVEL)
    return packed if len(packed) < len(plain) * _PACKED_PAYS else plain


def unpack(body: bytes, most: int) -> bytes:
    """The way back; Invalid where that would be more than ``most`` bytes."""
    if not body or body[0] != _ZLIB_FIRST_BYTE:
        return body
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(body, most)
    except zlib.error as error:
        raise Invalid(f"a packed body cannot be read: {error}") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise Invalid(f"a packed body is damaged, or larger than {most} bytes")
    return plain


def _read_entries(headers: Mapping[str, str], body: bytes, epoch: int, first: int, last: int) -> Entries:
    entries = _decode_entries(unpack(body, PLAIN_MOST))
    parts = _parts(headers)
    seqs = [*sorted([entry.seq for entry in entries] + list(parts))]
    if not seqs or seqs[0] != first or seqs[-1] != last or len(seqs) > GROUP_ENTRIES:
        raise Invalid(f"a group says {first}-{last} and has other entries")
    return Entries(epoch, first, last, entries, parts)


def _headers(kind: str, epoch: int) -> Headers:
    return {V: str(VERSION), KIND: kind, EPOCH: str(epoch)}


def read_range(headers: Mapping[str, str]) -> tuple[int, int]:
    """The first and last seq that a message names; zeros where it names none."""
    text = headers.get(SEQ)
    if text is None:
        return 0, 0
    first, dash, last = text.partition("-")
    if not (dash and is_whole_number(first) and is_whole_number(last) and 0 < int(first) <= int(last)):
        raise Invalid(f"{SEQ} must be first-last, not {text[:40]!r}")
    return int(first), int(last)


def _parts(headers: Mapping[str, str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for item in filter(None, headers.get(PARTS, "").split(",")):
        seq, colon, count = item.partition(":")
        if not (colon and is_whole_number(seq) and is_whole_number(count) and int(count)):
            raise Invalid(f"{PARTS} must be seq:count, not {item[:40]!r}")
        found[int(seq)] = int(count)
    return found


def _number(headers: Mapping[str, str], name: str) -> int:
    text = headers.get(name, "")
    if not is_whole_number(text):
        raise Invalid(f"{name} must be a number, not {text[:40]!r}")
    return int(text)
