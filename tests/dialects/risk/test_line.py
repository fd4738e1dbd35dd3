"""The risk of one shell line: each command by its own judge, then what they do together."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.levels import rank
from trunkline.dialects.risk.line import judge_line, line_findings
from trunkline.dialects.risk.places import Places

HERE = Places.of("/home/u/proj", ["/home/u/proj"], "/home/u")


@every_row("line", ["git status", "cat src/main.py", "ls -la && pwd", "grep -rn x src | head"])
def test_an_everyday_line_has_nothing_to_be_noticed(line: str) -> None:
    assert line_findings(line, HERE) == []
    assert judge_line(line, HERE).level == "low" and judge_line(line, HERE).reason == "nothing dangerous in it"


def test_a_program_that_nobody_knows_is_medium() -> None:
    assert judge_line("frobnicate-this src", HERE).level == "medium"


@every_row("line", ["git status 'open", "$TOOL src", "c\u0430t src/main.py", "cat src/ma\u200bin.py"])
def test_what_cannot_be_read_or_is_not_what_it_looks_like_is_high(line: str) -> None:
    assert rank(judge_line(line, HERE).level) >= rank("high")


def test_a_line_is_as_risky_as_the_worst_of_its_commands() -> None:
    assert judge_line("git status; frobnicate-this src; pwd", HERE).level == judge_line("frobnicate-this src", HERE).level
