"""How dangerous something is, and why: the worst counts, and everything else that was noticed is listed behind it."""

from __future__ import annotations

from trunkline.dialects.risk.levels import LEVELS, Finding, Risk, rank, worst


def test_nothing_noticed_is_a_low_risk_with_the_reason_that_was_given() -> None:
    assert worst([], "it only reads") == Risk(level="low", reason="it only reads")


def test_the_worst_comes_first_and_the_same_is_listed_once() -> None:
    found = worst([Finding("medium", "b"), Finding("critical", "a"), Finding("medium", "b"), Finding("medium", "c")], "")
    assert found == Risk(level="critical", reason="a", parts=("a", "b", "c"))


def test_of_very_much_the_worst_is_listed() -> None:
    found = worst([*(Finding("medium", f"m{number}") for number in range(20)), Finding("high", "h")], "")
    assert found.level == "high" and found.parts[0] == "h" and len(found.parts) == 8


def test_levels_compare_by_their_rank() -> None:
    assert sorted(reversed(LEVELS), key=rank) == list(LEVELS)
