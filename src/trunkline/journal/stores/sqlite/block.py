"""A block: the bytes that hold a run of consecutive entries of one session.

Rule 1: a block is a msgpack array of entries; compressed, it is a zlib stream. The first byte shows which.
Rule 2: merging joins bytes and decodes nothing, so that old rows are packed at memory speed.
Rule 3: a stored block carries a checksum over all of its columns. What does not fit it is not believed (``is_whole``).
Rule 4: a block of more than one entry stays within BLOCK_BYTES, BLOCK_ENTRIES and POS_SPAN, so that reading a page decodes
        little more than the page, and reading by pos looks back a bounded way.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from trunkline import decoders
from trunkline.dialects.outside import BROKEN
from trunkline.journal.base import Entry

UNREADABLE = (zlib.error, *BROKEN)
"""What reading a damaged body raises."""

BLOCK_BYTES = 256 * 1024
"""A reader's page is 256 KiB too, so a page that starts inside a block decodes at most one block in vain."""

_FILLED_BYTES = BLOCK_BYTES * 7 // 8
"""How far a block is filled: an entry's msgpack frame is a few bytes, and entries differ."""

BLOCK_ENTRIES = 4096

POS_SPAN = 16_384
"""The largest ``last_pos - first_pos``. A page by pos decodes blocks that hold at most that many entries on either side."""

POS_JUMP_MOST = 1 << 44
"""How far a pos may lie above all that is known from elsewhere (the marks, a whole block): fifty years of ten thousand entries a
second, all deleted. One beyond that is damage: numbered on from there, a journal would come to the end of SQLite's numbers."""

encode = msgspec.msgpack.Encoder().encode
_decode_entries = decoders.packed(list[Entry]).decode
decode_parts = decoders.packed(dict[str, list[Entry]]).decode
"""Entries by session: how the small parts of a group are stored."""

_NO_SUM = -1
"""What no body has as its checksum."""

_ZLIB_FIRST_BYTE = b"\x78"
_COMPRESSED_PAYS = 0.75
"""Compressed bytes must be under this share of the plain ones, else reading is not worth the time."""


class EntryBlock(NamedTuple):
    """One stored run of entries."""

    first_pos: int
    session: str
    first_seq: int
    last_seq: int
    last_pos: int
    body: bytes
    crc: int | None = None
    """None for a block that is not stored yet, and for those of before there were checksums."""


def stored_block(values: tuple[Any, ...]) -> EntryBlock:
    """A block as it was read. A damaged file gives back what its schema forbids: one with such a column is not whole, and has of
    its place what can be known."""
    block = EntryBlock._make(values)
    if isinstance(block.body, bytes) and all(isinstance(value, int) for value in (*block[2:5], block.crc or 0)) \
            and isinstance(block.session, str):
        return block
    seqs = [seq for seq in block[2:4] if isinstance(seq, int)] or [0]
    last_pos = block.last_pos if isinstance(block.last_pos, int) else block.first_pos
    session = block.session if isinstance(block.session, str) else ""
    return EntryBlock(block.first_pos, session, seqs[0], max(seqs), last_pos, b"", _NO_SUM)


def summed(block: EntryBlock) -> EntryBlock:
    """The block as it is stored, with its checksum."""
    return block._replace(crc=_sum(block))


def is_whole(block: EntryBlock) -> bool:
    """Whether a stored block is as it was written, as far as its checksum can tell."""
    return block.crc is None or block.crc == _sum(block)


def sum_of_parts(first_pos: int, body: bytes) -> int:
    """The checksum of the small parts of a group."""
    return zlib.crc32(body, first_pos & 0xFFFFFFFF)


def sum_of_place(block: EntryBlock) -> int:
    """The part of a block's checksum that its body is added to."""
    return zlib.crc32(f"{block.session} {block.first_pos} {block.first_seq} {block.last_seq} {block.last_pos}".encode())


def _sum(block: EntryBlock) -> int:
    return zlib.crc32(block.body, sum_of_place(block))


def decode(body: bytes) -> list[Entry]:
    """The entries of a block's body; one of UNREADABLE where it is none."""
    return _decode_entries(_plain(body))


def most_bytes(block: EntryBlock, entries: list[Entry]) -> int:
    """What the entries that were read from a block have at most together. Bytes that are compressed, or stand for a gap, do not
    tell: there they are weighed."""
    if len(entries) > 1 and block.body[:1] != _ZLIB_FIRST_BYTE:
        return len(block.body)
    return sum(entry.size() for entry in entries)


def blocks_of(session: str, entries: list[Entry]) -> Iterator[EntryBlock]:
    """Entries that have their pos, as blocks within the limits. A gap in their seqs may be filled by another block, so none
    spans one: blocks of a session never overlap."""
    body = encode(entries)
    if _is_one_block(entries, body):
        yield _block(session, entries, body)
    elif _is_one_run(entries):
        # As many pieces as should do; one that is still too large is cut again. To weigh each entry would take longer.
        step = min(BLOCK_ENTRIES, -(-len(entries) // (1 + len(body) // _FILLED_BYTES)))
        for start in range(0, len(entries), step):
            yield from blocks_of(session, entries[start:start + step])
    else:
        for run in _runs(entries):
            yield _block(session, run, encode(run))


def merge(blocks: Iterable[EntryBlock]) -> Iterator[EntryBlock]:
    """The same entries in as few blocks as the limits allow; ``blocks`` are of one session, in seq order."""
    run: list[EntryBlock] = []
    size = count = 0
    for block in blocks:
        body = _plain(block.body)
        entries, _ = _array_header(body)
        if run and (size + len(body) > BLOCK_BYTES or count + entries > BLOCK_ENTRIES
                    or block.last_pos - run[0].first_pos > POS_SPAN or block.first_pos < run[-1].last_pos):
            yield _joined(run, count)
            run, size, count = [], 0, 0
        run.append(block._replace(body=body))
        size += len(body)
        count += entries
    if run:
        yield _joined(run, count)


def compressed(block: EntryBlock) -> EntryBlock:
    """The block with its body compressed, or the block itself where that does not pay."""
    body = zlib.compress(block.body)
    return block._replace(body=body, crc=None) if len(body) < len(block.body) * _COMPRESSED_PAYS else block


def _plain(body: bytes) -> bytes:
    plain = zlib.decompress(body) if body[:1] == _ZLIB_FIRST_BYTE else body
    if not plain:
        raise msgspec.DecodeError("a block without bytes")
    return plain


def _is_one_block(entries: list[Entry], body: bytes) -> bool:
    if len(entries) == 1:
        return True
    return len(body) <= BLOCK_BYTES and len(entries) <= BLOCK_ENTRIES and _is_one_run(entries)


def _is_one_run(entries: list[Entry]) -> bool:
    """Whether nothing but their size and number keeps these from being one block."""
    first, last = entries[0], entries[-1]
    return last.pos - first.pos <= POS_SPAN and last.seq - first.seq == len(entries) - 1


def _block(session: str, entries: list[Entry], body: bytes) -> EntryBlock:
    first, last = entries[0], entries[-1]
    return EntryBlock(first.pos, session, first.seq, last.seq, last.pos, body)


def _runs(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Cut entries at gaps, and where a limit is reached."""
    run: list[Entry] = []
    size = 0
    for entry in entries:
        if run and (entry.seq != run[-1].seq + 1 or entry.pos - run[0].pos > POS_SPAN
                    or size + entry.size() > _FILLED_BYTES or len(run) == BLOCK_ENTRIES):
            yield run
            run, size = [], 0
        run.append(entry)
        size += entry.size()
    yield run


def _joined(run: list[EntryBlock], count: int) -> EntryBlock:
    if len(run) == 1:
        return run[0]._replace(crc=None)
    first, last = run[0], run[-1]
    body = b"".join([_header_of(count), *(block.body[_array_header(block.body)[1]:] for block in run)])
    return EntryBlock(first.first_pos, first.session, first.first_seq, last.last_seq, last.last_pos, body)


def _array_header(body: bytes) -> tuple[int, int]:
    """(number of entries, bytes of header) of a msgpack array."""
    first = body[0]
    if first == 0xDC:
        return int.from_bytes(body[1:3], "big"), 3
    if first == 0xDD:
        return int.from_bytes(body[1:5], "big"), 5
    return first & 0x0F, 1


def _header_of(count: int) -> bytes:
    if count < 16:
        return bytes([0x90 | count])
    return b"\xdc" + count.to_bytes(2, "big")
