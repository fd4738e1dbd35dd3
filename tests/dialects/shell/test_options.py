"""Options are read as programs read them: cut short, in bundles, with values joined or apart."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell.options import given_value, in_full, is_milder, milder


@every_row(("given", "full"), [
    ("--output", "--output"), ("--outp", "--output"), ("--o", "--output"), ("--", ""), ("--x", ""), ("-o", "-o"), ("-ou", ""),
    ("--outputs", ""), ("-outp", ""), ("--a", "--all"),
])
def test_a_long_option_is_meant_by_any_beginning_of_it(given: str, full: str) -> None:
    assert in_full(given, ("--output", "-o", "--all", "--allow")) == full


@every_row(("line", "found"), [
    ("x -c text", ("text", 3)), ("x -ctext y", ("text", 2)), ("x -qc text", ("text", 3)), ("x --command text", ("text", 3)),
    ("x --comm=text", ("text", 2)), ("x -o -c y", None), ("x -oc y", None), ("x -qoc y", None), ("x file -c text", ("text", 4)),
    ("x -- -c text", None), ("x -c", ("", 3)), ("x file", None), ("x --opt -c text", ("text", 4)),
])
def test_the_value_of_an_option_is_found_wherever_it_stands(line: str, found: tuple[str, int] | None) -> None:
    assert given_value(tuple(line.split()), ("-c", "--command"), ("-o",)) == found


def test_options_end_at_the_first_operand_where_a_program_takes_no_more() -> None:
    assert given_value(("x", "file", "-c", "text"), ("-c",), leading=True) is None
    assert given_value(("x", "-q", "-c", None), ("-c",), leading=True) == (None, 4)


ROW = milder("-n --dry-run", "fq", "e", "--force --drop", "--exclude", "j")


@every_row(("words", "given"), [
    ("-n", True), ("-fn", True), ("-qfn x", True), ("-n -e x", True), ("-ne x", True), ("-n -j4", True), ("--dry-run", True),
    ("--dry", True), ("--exclude=x --dry-run", True), ("x -n", True), ("-n $x", True),
    ("", False), ("-f", False), ("-en", False), ("-fen", False), ("-e -n", False), ("-fe -n", False), ("--exclude -n", False),
    ("--excl --dry-run", False), ("-- -n", False), ("x -- --dry-run", False), ("-jn", False), ("--d", False),
    ("-n --no-dry-run", False), ("-n --other", False), ("-nz", False), ("--dry-run=false", False), ("$x -n", False), ("-", False),
])
def test_only_an_option_that_is_surely_there_makes_a_call_milder(words: str, given: bool) -> None:
    assert is_milder(tuple(words.split()), ROW) is given


def test_an_option_that_is_not_known_takes_no_other_where_values_have_no_dash() -> None:
    assert is_milder(("--other", "--check"), milder("--check", dashed=True))
    assert not is_milder(("-x", "--check"), milder("--check", dashed=True))


def test_a_row_that_wants_nothing_wants_no_other_option() -> None:
    row = milder("", "v", "f")
    assert is_milder(("-vf", "x"), row)
    assert not is_milder(("-rf", "x"), row)
