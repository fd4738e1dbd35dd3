"""A page takes what fits, whether its entries are weighed one by one or as the block they came in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trunkline.journal.base import Entry
from trunkline.journal.page import MANY, Page
from trunkline.journal.stores.sqlite.block import blocks_of, compressed, decode, most_bytes


def entries_of(sizes: list[int]) -> list[Entry]:
    return [Entry(seq=number, at=1, event=b"x" * size, pos=number) for number, size in enumerate(sizes, 1)]


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=6), max_size=8), st.integers(1, 30), st.integers(0, 400))
def test_a_page_of_blocks_stays_within_its_limits_and_is_never_empty(runs: list[list[int]], limit: int, max_bytes: int) -> None:
    page, taken_all, offered = Page(limit, max_bytes), True, 0
    for sizes in runs:
        entries = entries_of(sizes)
        offered += len(entries)
        taken_all = page.add_block(entries, sum(sizes) + 3 * len(sizes))
        if not taken_all:
            break
    assert len(page.entries) <= limit
    assert len(page.entries) <= 1 or sum(entry.size() for entry in page.entries) <= max_bytes
    assert bool(page.entries) == bool(runs)
    assert not taken_all or len(page.entries) == offered


def test_a_page_ends_with_a_block_where_another_one_as_large_would_not_fit() -> None:
    page = Page(10 * MANY, 10 * MANY)
    assert not page.add_block(entries_of([6] * MANY), 7 * MANY)
    assert len(page.entries) == MANY


def test_a_page_of_a_few_entries_is_filled_up_to_its_limits() -> None:
    page = Page(100, 1000)
    assert page.add_block(entries_of([300, 300]), 610)
    assert not page.add_block(entries_of([200, 200, 200]), 630)
    assert len(page.entries) == 3


def test_a_page_goes_on_while_another_block_as_large_would_fit() -> None:
    page = Page(100, 1000)
    assert page.add_block(entries_of([200, 200]), 410)
    assert not page.add_block(entries_of([250, 250, 250]), 780)
    assert len(page.entries) == 4


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=40))
def test_what_a_block_is_said_to_weigh_is_never_too_little(sizes: list[int]) -> None:
    for block in blocks_of("s", entries_of(sizes)):
        for stored in (block, compressed(block)):
            entries = decode(stored.body)
            assert sum(entry.size() for entry in entries) <= most_bytes(stored, entries)
