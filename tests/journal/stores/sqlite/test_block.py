"""Blocks hold entries byte for byte, within their limits, however they are cut, joined and compressed."""

from __future__ import annotations

import os
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.samples import entries, entry
from tests.tooling.rows import every_row
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite.block import (
    BLOCK_BYTES,
    BLOCK_ENTRIES,
    POS_SPAN,
    UNREADABLE,
    EntryBlock,
    blocks_of,
    compressed,
    decode,
    merge,
)

Parts = list[tuple[int, int, bytes, bytes | None, bytes | None, bytes | None]]
"""Steps of seq and pos, and the bodies."""

bodies = st.none() | st.binary(max_size=40)
some_entries = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 9000), st.binary(max_size=40), bodies, bodies, bodies),
                        min_size=1, max_size=60)


def numbered(parts: Parts) -> list[Entry]:
    """Entries whose seq and pos rise by the given steps."""
    found: list[Entry] = []
    seq = pos = 0
    for seq_step, pos_step, event, update, packet, raw in parts:
        seq, pos = seq + seq_step, pos + pos_step
        found.append(Entry(seq, 0, event, update, packet, raw, pos))
    return found


def entries_in(blocks: list[EntryBlock]) -> list[Entry]:
    return [each for block in blocks for each in decode(block.body)]


def check_limits(blocks: list[EntryBlock]) -> None:
    for block in blocks:
        held = decode(block.body)
        assert (block.first_seq, block.last_seq) == (held[0].seq, held[-1].seq)
        assert (block.first_pos, block.last_pos) == (held[0].pos, held[-1].pos)
        assert block.last_pos - block.first_pos <= POS_SPAN
        assert len(held) <= BLOCK_ENTRIES
        assert len(held) == 1 or sum(each.size() for each in held) <= BLOCK_BYTES


@given(some_entries)
def test_blocks_hold_the_entries_in_order_and_span_no_gap(parts: Parts) -> None:
    given_entries = numbered(parts)
    blocks = list(blocks_of("a", given_entries))
    assert entries_in(blocks) == given_entries
    check_limits(blocks)
    assert all(block.last_seq - block.first_seq == len(decode(block.body)) - 1 for block in blocks)


@given(some_entries, st.data())
def test_merged_blocks_hold_the_same_entries(parts: Parts, data: st.DataObject) -> None:
    given_entries = numbered(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(given_entries)))) | {0, len(given_entries)})
    small = [block for start, stop in pairwise(cuts) for block in blocks_of("a", given_entries[start:stop])]
    some_compressed = [compressed(block) if data.draw(st.booleans()) else block for block in small]
    merged = list(merge(some_compressed))
    assert entries_in(merged) == given_entries
    assert len(merged) <= len(small)
    check_limits(merged)


@every_row("count", [1, 15, 16, 17, 255, 256, BLOCK_ENTRIES])
def test_joining_writes_a_header_for_any_count(count: int) -> None:
    one_by_one = [block for each in numbered([(1, 1, b"e", None, None, None)] * count) for block in blocks_of("a", [each])]
    [merged] = merge(one_by_one)
    assert len(decode(merged.body)) == count


def test_many_bytes_are_cut_into_blocks_of_the_limit() -> None:
    found = numbered([(1, 1, os.urandom(50_000), None, None, None)] * 40)
    blocks = list(blocks_of("a", found))
    check_limits(blocks)
    assert 8 <= len(blocks) <= 11
    assert len(list(merge(blocks))) == len(blocks)


def test_many_entries_are_cut_into_blocks_of_the_limit() -> None:
    blocks = list(blocks_of("a", numbered([(1, 1, b"", None, None, None)] * (BLOCK_ENTRIES + 1))))
    assert [len(decode(block.body)) for block in blocks] == [BLOCK_ENTRIES, 1]
    assert len(list(merge(blocks))) == 2


def test_an_entry_over_the_limit_is_a_block_of_its_own() -> None:
    found = [entry(1), entry(2, size=BLOCK_BYTES * 3), entry(3)]
    for pos, each in enumerate(found, start=1):
        each.pos = pos
    assert [(block.first_seq, block.last_seq) for block in blocks_of("a", found)] == [(1, 1), (2, 2), (3, 3)]


def test_compression_is_used_where_it_pays_only() -> None:
    [dull] = blocks_of("a", entries(1, 100))
    assert len(compressed(dull).body) < len(dull.body) // 4
    assert decode(compressed(dull).body) == decode(dull.body)
    [noise] = blocks_of("a", [Entry(1, 0, os.urandom(5000))])
    assert compressed(noise) is noise


@every_row("body", [b"", zlib.compress(b""), b"\x78", b"\xc1", b"\x91\xa1\xff"])
def test_a_body_that_is_none_is_damage_whoever_reads_it(body: bytes) -> None:
    with pytest.raises(UNREADABLE):
        decode(body)


@pytest.mark.parametrize("body", [b"", zlib.compress(b"")])
def test_a_body_without_bytes_is_not_merged(body: bytes) -> None:
    with pytest.raises(UNREADABLE):
        list(merge([EntryBlock(1, "s", 1, 1, 1, body)]))
