"""What every store holds its writers to, and what an entry weighs."""

from __future__ import annotations

import pytest

from tests.journal.samples import entries, entry
from tests.tooling.rows import every_row
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, check_order


@every_row("given", [[], [entry(5)], entries(5, 9), [entry(5), entry(9)], [entry(7)]])
def test_entries_that_follow_what_is_there_are_taken(given: list[Entry]) -> None:
    check_order("a", given, 4)


@pytest.mark.parametrize(("given", "complaint"), [
    ([entry(4)], "already has entries up to 4; entry 4"), (entries(3, 9), "entry 3 cannot follow"),
    ([entry(5), entry(5)], "not in rising order"), ([entry(6), entry(5)], "not in rising order"),
])
def test_entries_of_a_writer_that_lost_count_are_refused(given: list[Entry], complaint: str) -> None:
    with pytest.raises(StorageError, match=complaint):
        check_order("a", given, 4)


def test_the_size_of_an_entry_is_all_of_its_bodies() -> None:
    assert Entry(1, 0, b"12345").size() == 5
    assert Entry(1, 0, b"1", b"22", b"333", b"4444", step=b"55555").size() == 15
