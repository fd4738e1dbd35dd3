"""Calls and asks of an adversary: none but what is harmless is approved by a rule, and every face says the same of each."""

from __future__ import annotations

from typing import Any

from tests.session.misleading import TABLE, Case, cases
from tests.session.test_misleading import verdicts
from tests.session.test_one_reading import ANNOUNCED, check_told
from tests.tooling.rows import every_row

CASES = [case for number in (1, 2) for case in cases(TABLE.with_name(f"adversary_calls_{number}.toml"))]
CALLS: list[dict[str, Any]] = [
    {key: case.play[0][key] for key in case.play[0] if key != "do"} for case in CASES
    if case.agent == "names"]


def test_there_are_more_than_two_hundred_calls() -> None:
    assert len(CASES) >= 200


@every_row("case", CASES)
def test_only_what_is_harmless_is_approved_by_a_rule(case: Case) -> None:
    assert [verdict == "allow" for verdict in verdicts(case)] == case.asks, case.play


@every_row("said", CALLS)
@every_row("announced", ANNOUNCED)
def test_every_face_says_the_same(said: dict[str, Any], announced: str) -> None:
    check_told(said, announced)
