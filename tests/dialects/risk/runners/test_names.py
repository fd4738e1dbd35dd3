"""What a command is under another name: copies, links and aliases that a line makes before it runs them."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.runners.names import UNKNOWN, Ran, line_names, real_name
from trunkline.dialects.shell import parse_shell


@every_row(("line", "last"), [
    ("make all", ()), ("cp /usr/bin/make m && ./m all", ("make all",)), ("ln -s $X m; ./m", UNKNOWN),
    ("echo hi >run.sh; ./run.sh", UNKNOWN), ("echo hi >run.sh; sh run.sh", UNKNOWN), ("echo hi >notes.txt; cat notes.txt", ()),
    ("echo hi >Makefile; make", UNKNOWN), ("hash -p /usr/bin/make m; m all", ("make all",)),
])
def test_what_a_line_has_made_counts_for_what_comes_behind_it(line: str, last: Ran) -> None:
    assert line_names(parse_shell(line).commands)[-1] == last


@every_row(("line", "name"), [
    ("hub status", ("git status",)), ("/lib64/ld-linux-x86-64.so.2 --library-path x /bin/make all", ("make all",)),
    ("make all", ()), ("git status", ()),
])
def test_a_program_that_stands_for_another_is_that_one(line: str, name: tuple[str, ...]) -> None:
    assert real_name(only(line)) == name
