"""The options and settings of a command that change what is run, with the folder that they name where they do no more."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.changing import TARGET, Changing, changing_options


@every_row(("line", "found"), [
    ("make all", []), ("make -C lib", [Changing("-C", "lib")]), ("make SHELL=x", [Changing("SHELL=")]),
    ("pytest -p plugin", [Changing("-p")]), ("pytest -p no:cacheprovider", []), ("pytest @options", [Changing("@")]),
    ("pytest ../other/tests", [Changing(TARGET, "../other/tests")]), ("LD_PRELOAD=x make", [Changing("LD_PRELOAD=")]),
    ("CI=1 make", []), ("cat x", []),
])
def test_what_leads_to_other_code_is_named(line: str, found: list[Changing]) -> None:
    assert changing_options(only(line)) == found


def test_an_option_that_changes_something_once_counts_each_time() -> None:
    assert [one.name for one in changing_options(only("pytest -p no:x -p plugin"))] == ["-p", "-p"]
