"""What stands behind the commands of a line is looked at, up to a bound."""

from __future__ import annotations

from trunkline.dialects.shell import parse_shell
from trunkline.session.policy.behind import TEXTS_READ, behind


def test_of_very_many_texts_that_a_line_runs_the_rest_may_be_anything() -> None:
    def unknown(count: int) -> bool:
        return behind(parse_shell("; ".join(f"man -P 'less {number}' x" for number in range(count))).commands)[-1].unknown

    assert [unknown(TEXTS_READ), unknown(TEXTS_READ + 1)] == [False, True]
