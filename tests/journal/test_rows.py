"""A session's row: which filter it passes, and that a damaged one has no state."""

from __future__ import annotations

from typing import Any

from tests.journal.samples import row
from tests.tooling.rows import every_row
from trunkline.journal.base import RowFilter, SessionRow
from trunkline.journal.rows import is_whole_row, matches, row_of, row_values

ROW = row("ses_1", updated_at=5, agent="demo", cwd="/home/ada/Work", title="Mend the Fence", status="idle")


def stored(given: SessionRow) -> tuple[Any, ...]:
    """The columns as a query gives them back: with the last seq, and the checksum at the end."""
    *columns, checkpoint_seq, summary, checkpoint, crc = row_values(given)
    return (*columns, summary, checkpoint, checkpoint_seq, 7, crc)


@every_row(("which", "passes"), [
    (RowFilter(), True),
    (RowFilter(id="ses_1"), True), (RowFilter(id="ses_2"), False),
    (RowFilter(agent="demo"), True), (RowFilter(agent="other"), False),
    (RowFilter(status=frozenset({"idle", "running"})), True), (RowFilter(status=frozenset()), False),
    (RowFilter(text="FENCE"), True), (RowFilter(text="ada/work"), True), (RowFilter(text="dem"), True),
    (RowFilter(text="x"), False),
    (RowFilter(before=(6, "a")), True), (RowFilter(before=(5, "ses_1")), False), (RowFilter(before=(5, "ses_2")), True),
    (RowFilter(id="ses_1", agent="other"), False),
])
def test_a_row_passes_a_filter_by_all_its_parts(which: RowFilter, passes: bool) -> None:
    assert matches(ROW, which) is passes


def test_a_row_comes_back_as_it_was_stored() -> None:
    again = row_of(stored(ROW))
    assert (again.id, again.title, again.last_seq) == ("ses_1", "Mend the Fence", 7)
    assert (again.summary, again.checkpoint) == (b"{}", b"fold")


@every_row(("column", "value"), [(3, "Another title"), (6, 6), (7, b"{ }"), (8, b"Fold"), (9, 3)])
def test_a_row_that_does_not_fit_its_checksum_has_no_state(column: int, value: Any) -> None:
    values = list(stored(ROW))
    values[column] = value
    again = row_of(tuple(values))
    assert (again.id, again.summary, again.checkpoint) == ("ses_1", b"", b"")


def test_a_column_of_another_type_is_damage_too() -> None:
    values = list(stored(ROW))
    values[5] = "yesterday"
    again = row_of(tuple(values))
    assert (again.created_at, again.checkpoint) == (0, b"")


def test_a_row_of_before_there_were_checksums_is_believed() -> None:
    assert is_whole_row(ROW, None)
    assert row_of((*stored(ROW)[:-1], None)).checkpoint == b"fold"
