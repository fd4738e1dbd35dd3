"""The original helpers' recorded results: ours are the same, but for the differences that docs/reference/helpers.md lists."""

from __future__ import annotations

from collections import Counter

from scripts.helper_vectors import WHY, Vector, differences, vectors
from tests.tooling.rows import every_row


def test_all_recorded_calls_are_there() -> None:
    assert len(vectors()) == 129
    assert Counter(vector.fn for vector in vectors()) == {"assessRisk": 59, "categorizeTool": 42, "describeToolCall": 28}
    assert sum(vector.asserted_by_their_tests for vector in vectors()) == 62


@every_row("vector", [vector for vector in vectors() if vector.asserted_by_their_tests])
def test_what_the_originals_tests_assert_holds(vector: Vector) -> None:
    assert vector.ours == vector.theirs


@every_row("vector", [vector for vector in vectors() if vector.call not in WHY])
def test_what_is_no_listed_difference_holds(vector: Vector) -> None:
    assert vector.ours == vector.theirs


def test_every_listed_difference_is_one_and_is_listed_once() -> None:
    assert sorted(vector.call for vector in differences()) == sorted(WHY)
