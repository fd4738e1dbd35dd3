"""What is missing shows by the numbers, and the note of how far it was folded is believed only whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.journal.samples import entries
from trunkline.errors import JournalDamaged
from trunkline.journal.base import Entry
from trunkline.journal.stores.sqlite import database
from trunkline.journal.stores.sqlite.block import blocks_of, encode, summed
from trunkline.journal.stores.sqlite.group_log import LogRecord
from trunkline.journal.stores.sqlite.missing import FOLDED_MOST, Parts, first_missing, folded_of, folded_value, span_of, unfolded

QUERIES = database.load_queries()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(database.connect(tmp_path / "journal.db")) as connection:
        database.migrate(connection, tmp_path / "journal.db")
        yield connection


def at_pos(*places: int) -> list[Entry]:
    """Entries from 1 on that stand at these places."""
    found = entries(1, len(places))
    for entry, pos in zip(found, places, strict=True):
        entry.pos = pos
    return found


def record(*places: int) -> LogRecord:
    return LogRecord(places[0], places[-1], encode({"a": at_pos(*places)}))


def block(file: sqlite3.Connection, session: str, *places: int) -> None:
    file.executemany(QUERIES["insert_block"], [summed(each) for each in blocks_of(session, at_pos(*places))])


def missing(file: sqlite3.Connection, folded: int | None, records: list[LogRecord], *recent: Parts) -> int | None:
    if folded is not None:
        file.execute(QUERIES["note_folded"], (folded_value(folded),))
    return first_missing(file, QUERIES, unfolded(file, QUERIES, records), recent)


def test_what_logs_blocks_and_rows_have_together_may_lie_in_any_order(file: sqlite3.Connection) -> None:
    block(file, "b", 14, 15, 16)
    assert missing(file, 10, [record(11, 12), record(18)], {"a": at_pos(13)}, {"a": at_pos(17)}) is None


@pytest.mark.parametrize("without", [11, 13, 14, 15])
def test_a_pos_that_nothing_has_is_missing_where_something_has_a_later_one(file: sqlite3.Connection, without: int) -> None:
    if without != 14:
        block(file, "b", 14)
    records = [record(pos) for pos in (11, 12, 15, 16) if pos != without]
    assert missing(file, 10, records, *([] if without == 13 else [{"a": at_pos(13)}])) == without


def test_a_block_of_entries_that_others_came_between_has_only_its_own(file: sqlite3.Connection) -> None:
    block(file, "b", 11, 13)
    assert missing(file, 10, [record(12)]) is None
    file.execute("UPDATE blocks SET body = x'00'")
    assert missing(file, 10, []) is None, "it is a gap to readers, and told as one"


def test_below_what_is_folded_nothing_is_missing_and_no_record_counts(file: sqlite3.Connection) -> None:
    block(file, "b", 3)
    logged = unfolded(file, QUERIES, [record(5), record(9)])
    assert (logged.newest, len(logged.parts)) == (9, 2), "without a note all of it counts"
    assert missing(file, 9, [record(5), record(9), record(10)]) is None
    assert [span_of(parts) for parts, _ in unfolded(file, QUERIES, [record(5), record(9), record(10)]).parts] == [(10, 10)]


def test_records_without_a_note_are_of_a_database_that_lost_it(file: sqlite3.Connection) -> None:
    assert missing(file, None, [record(4)]) == 4
    assert missing(file, None, []) is None


@given(st.integers(0, FOLDED_MOST - 1), st.integers(0, 62))
def test_a_note_with_a_flipped_bit_is_not_believed(pos: int, bit: int) -> None:
    value = folded_value(pos)
    assert folded_of(value) == pos and value < 1 << 63
    with pytest.raises(JournalDamaged):
        folded_of(value ^ 1 << bit)


@pytest.mark.parametrize("value", ["text", None, b"", -5, 1.5])
def test_a_note_that_is_no_number_is_damage(value: object) -> None:
    with pytest.raises(JournalDamaged):
        folded_of(value)
