"""A table as one test: every row is tried, and each that fails is told of."""

from __future__ import annotations

import inspect

import pytest

from tests.tooling.rows import every_row


def test_every_row_is_tried_and_each_that_failed_is_told() -> None:
    tried = []

    @every_row(("number", "half"), [(2, 1), (3, 1), (4, 2), (5, 1)])
    def check(number: int, half: int) -> None:
        tried.append(number)
        assert number == 2 * half, f"{number} is odd"

    with pytest.raises(AssertionError) as failed:
        check()
    assert tried == [2, 3, 4, 5]
    assert "2 of 4 rows" in str(failed.value)
    assert "3 is odd" in str(failed.value) and "5 is odd" in str(failed.value) and "'number': 4" not in str(failed.value)


def test_what_a_row_does_not_give_pytest_is_asked_for() -> None:
    @every_row("number", [1])
    def check(number: int, other: str) -> None:
        assert (number, other) == (1, "given")

    assert [*inspect.signature(check).parameters] == ["other"]
    check(other="given")


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        every_row("number", [])


def test_a_row_that_raises_nothing_where_it_should_fails_like_any_other() -> None:
    @every_row("text", ["x", "1", "y", "2"])
    def check(text: str) -> None:
        with pytest.raises(ValueError):
            int(text)

    with pytest.raises(AssertionError, match="2 of 4 rows") as failed:
        check()
    assert "'text': '1'" in str(failed.value) and "'text': '2'" in str(failed.value)
