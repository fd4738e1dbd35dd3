"""Options that change what is run: a pattern covers those that it names, and those that stay inside the project."""

from __future__ import annotations

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.session.policy.options import changing, unnamed


@every_row(("line", "options"), [
    ("pytest -q tests", ()), ("pytest -p plugin", ("-p",)), ("pytest -p no:cacheprovider", ()), ("make all", ()),
    ("make -C lib", ()), ("make -C ../other", ("-C",)), ("make -C $X", ("-C",)), ("make SHELL=x", ("SHELL=",)),
    ("foo -e 'x(1)'", ("-e",)), ("foo '(a \"b\")'", ("its code",)), ("foo -e prod", ()), ("jq -e '.a | .b'", ()),
])
def test_only_what_leads_to_other_code_changes_what_is_run(line: str, options: tuple[str, ...]) -> None:
    assert changing(only(line), "/w", "/w", None) == options


@every_row(("pattern", "options", "first"), [
    ("pytest*", ["-p"], "-p"), ("pytest -p*", ["-p"], ""), ("pytest -pfoo *", ["-p"], ""), ("pytest -p *", ["-p", "-p"], "-p"),
    ("make --file=x *", ["--file"], ""), ("make --filex *", ["--file"], "--file"), ("make SHELL=* *", ["SHELL="], ""),
    ("pytest -x", ["-p"], ""), ("pytest*", [], ""),
])
def test_a_pattern_covers_an_option_as_often_as_it_names_it(pattern: str, options: list[str], first: str) -> None:
    assert unnamed(pattern, options) == first
