"""Entries of many megabytes: written into their block piece by piece.

A block that is bound as a value is copied three times on its way (encoded, bound, put into its record). One that is written into
a place of the right size is not copied at all, and the interpreter's lock is free meanwhile. That holds only as long as nothing
stands behind the place in its record: the checksum stands before it (``insert_large``).
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.block import EntryBlock, sum_of_place

LARGE_ENTRY = 4 << 20
"""Bytes of an entry from which on it is written so: below, three copies take less than the second write of its pages."""

_encode = msgspec.msgpack.Encoder().encode


class LargeBlock(NamedTuple):
    """One large entry, as the parts that its block is made of."""

    session: str
    entry: Entry
    parts: list[bytes]
    size: int


def large_block(session: str, entry: Entry) -> LargeBlock:
    """The parts, together what ``block.encode([entry])`` would give."""
    parts = list(_parts(entry))
    return LargeBlock(session, entry, parts, sum(map(len, parts)))


def write(connection: sqlite3.Connection, query: str, block: LargeBlock) -> None:
    """Make room for the block, and write it there."""
    entry = block.entry
    crc = sum_of_place(EntryBlock(entry.pos, block.session, entry.seq, entry.seq, entry.pos, b""))
    for part in block.parts:
        crc = zlib.crc32(part, crc)
    connection.execute(query, (entry.pos, block.session, entry.seq, entry.seq, entry.pos, block.size, crc))
    with connection.blobopen("blocks", "body", entry.pos) as body:
        for part in block.parts:
            body.write(part)


def _parts(entry: Entry) -> Iterator[bytes]:
    yield b"\x91" + bytes([0x90 | len(Entry.__struct_fields__)])
    for name in Entry.__struct_fields__:
        value = getattr(entry, name)
        if isinstance(value, bytes) and len(value) > 0xFFFF:
            yield b"\xc6" + len(value).to_bytes(4, "big")
            yield value
        else:
            yield _encode(value)
