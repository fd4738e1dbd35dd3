"""Everyday work stays easy: ordinary lines, in the shapes of ten agents, are not asked about more than before."""

from __future__ import annotations

from tests.session.everyday import LINES, SHAPES, TABLE, asked
from tests.tooling.rows import every_row

MORE = 0.03
"""Of the lines, that may be asked about beside those that always were."""


def test_the_table_has_two_hundred_lines_of_four_projects_and_ten_shapes() -> None:
    assert [len(lines) for lines in TABLE["lines"].values()] == [50, 50, 50, 50]
    assert len(SHAPES) == 10 and SHAPES.keys() == TABLE["asked_before"].keys()


@every_row("shape", SHAPES)
def test_ordinary_lines_are_not_asked_about_more_than_before(shape: str) -> None:
    found = list(asked(shape))
    assert len(found) <= TABLE["asked_before"][shape] + MORE * len(LINES), found
