"""Entries too large for one message: cut into parts that are stored before the group that names them.

Rule 1: the group is the commit. Parts without one are strays that go with their session.
Rule 2: all parts of one entry carry the digest of the whole. A reader takes those of one digest, and checks it; one that was sent
twice is there twice, and counts once.
Rule 3: who has a key of the pool can put anything there. Looking for what is whole costs no more than a few digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from trunkline.cluster import wire
from trunkline.cluster.jetstream import EXPECTED_STREAM
from trunkline.cluster.subjects import PARTS
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import Invalid
from trunkline.journal.base import Entry

PART: Final = "Tl-Part"
DIGEST: Final = "Tl-Digest"
WRONG_MOST: Final = 8
"""Times that parts are all there and are not what their digest says: no node sends such."""


def parts_of(epoch: int, entry: Entry) -> list[tuple[bytes, wire.Headers]]:
    """The messages that hold an entry."""
    whole = wire.entry_bytes(entry)
    digest = _digest(whole)
    pieces = [whole[start:start + wire.LARGE_ENTRY] for start in range(0, len(whole), wire.LARGE_ENTRY)]
    return [(piece, {wire.V: str(wire.VERSION), wire.EPOCH: str(epoch), PART: f"{number}/{len(pieces)}", DIGEST: digest,
                     EXPECTED_STREAM: PARTS})
            for number, piece in enumerate(pieces, 1)]


def join_parts(messages: Iterable[tuple[wire.Headers, bytes]]) -> Entry:
    """The entry of which these are the parts, perhaps with strays among them; Invalid where none is whole."""
    found: dict[str, dict[int, bytes]] = {}
    wrong = 0
    for headers, body in messages:
        number, count = _place(headers)
        if not number:
            continue
        pieces = found.setdefault(headers.get(DIGEST, ""), {})
        pieces[number] = body
        if len(pieces) == count:
            if _digest(whole := b"".join(pieces[each] for each in sorted(pieces))) == headers.get(DIGEST):
                return wire.read_entry(whole)
            if (wrong := wrong + 1) == WRONG_MOST:
                break
    raise Invalid("the parts of a large entry are not all there")


def _place(headers: wire.Headers) -> tuple[int, int]:
    """Which part it is, of how many; zeros for a message that is none."""
    number, _, count = headers.get(PART, "").partition("/")
    return (int(number), int(count)) if is_whole_number(number) and is_whole_number(count) else (0, 0)


def _digest(whole: bytes) -> str:
    return hashlib.sha256(whole).hexdigest()[:32]
