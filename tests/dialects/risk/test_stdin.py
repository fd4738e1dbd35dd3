"""What a command reads on its input, as far as the line has it."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

READS = "select 1"


def level(line: str) -> str:
    return explain_risk("Bash", {"command": line}, cwd="/srv/app", roots=["/srv/app"], home="/home/u").level


@every_row("line", [
    "echo 'select 1' | psql", "printf '%s' 'select 1' | psql", "psql <<< 'select 1'", "psql <<END\nselect 1\nEND",
    "cat <<END | psql\nselect 1\nEND", "psql < /dev/null",
])
def test_a_text_that_the_line_itself_has_is_read(line: str) -> None:
    assert level(line) in ("low", "medium")


@every_row("line", [
    "psql < dump.sql", "cat dump.sql | psql", "make sql | psql", 'psql <<< "$STATEMENT"', 'echo "$STATEMENT" | psql',
    "{ echo 'select 1'; cat dump.sql; } | psql",
])
def test_what_comes_from_elsewhere_is_not_known(line: str) -> None:
    assert level(line) == "high"


def test_a_file_behind_a_text_that_is_known_is_what_is_read() -> None:
    assert level("psql <<< 'select 1' < dump.sql") == "high"


def test_an_input_says_no_more_than_the_same_words_as_an_argument() -> None:
    assert level(f"psql -c '{READS}'") == level(f"psql <<< '{READS}'")


@every_row("line", [
    r"printf 'sel%s %d\n' ect 1 | psql", r"printf '\163elect 1' | psql", r"printf '%b' '\0163elect 1' | psql",
    "(printf sel; echo 'ect 1') | psql", "printf '%s\\n' 'select 1;' 'select 2;' | psql",
])
def test_what_printf_and_echo_make_of_their_words_is_what_is_read(line: str) -> None:
    assert level(line) == "low"


@pytest.mark.parametrize("line", ["printf '%.3s%s' select 1 | psql", "printf '%*s' 3 x | psql", 'printf "$FORMAT" x | psql'])
def test_a_format_that_is_not_understood_may_print_anything(line: str) -> None:
    assert level(line) == "high"


@pytest.mark.parametrize(("given", "expected"), [
    ("<<< 'select 1'", "medium"), ("< dump.sql", "high"), ('<<< "select $X"', "high"),
])
def test_an_input_of_a_function_is_that_of_the_commands_in_it(given: str, expected: str) -> None:
    assert level(f"f() {{ psql; }}; f {given}") == expected
    assert level(f"f() {{ psql; }}; g() {{ f; }}; g {given}") == expected


def test_an_exec_gives_its_input_to_what_follows_in_its_shell() -> None:
    assert level("exec < dump.sql; psql") == level("exec < dump.sql; (psql)") == "high"
    assert level("exec < dump.sql; exec <<< 'select 1'; psql") == level("exec <<< 'select 1'; psql") == "low"
    assert level("(exec < dump.sql); psql") == "medium"
