"""Code of a program's own: where it stands in a command, and whether it may run commands."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.code import code_in, may_run
from trunkline.dialects.risk.runners.table import ROWS
from trunkline.dialects.risk.runners.words import row_of


@every_row(("line", "texts"), [
    ("sed 's/a/b/' x.txt", ["s/a/b/"]), ("sed -e 's/a/b/' -e p x.txt", ["s/a/b/", "p"]), ("make all", []), ("cat x.txt", []),
])
def test_code_is_found_in_its_option_or_its_place(line: str, texts: list[str]) -> None:
    assert [text for text, _ in code_in(only(line))] == texts


@every_row(("code", "runs"), [("s/a/b/", False), ("e make", True), ("s/a/b", True), ("p" * 100_000, True)])
def test_a_script_that_runs_something_or_is_too_odd_or_too_long_may_run_a_command(code: str, runs: bool) -> None:
    assert may_run(code, ROWS["sed"], "sed") is runs


def test_a_program_that_has_no_code_of_its_own_has_none() -> None:
    assert row_of(only("cat x"))[1] is None and code_in(only("cat x")) == []
