"""Where the grammar and bash read a line differently: what cannot be decided is a doubt."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell
from trunkline.dialects.shell.doubts import backtick_texts, has_computed_index, hides_substitution, is_misread


@every_row(("source", "misread"), [
    (b"echo a\\ b", False), (b"echo \\ b", True), (b"\\ x", True), (b"$\\\n(make)", True), (b"[[ a == 1< x ]]", True),
    (b"echo $(make)", False),
])
def test_what_the_grammar_takes_for_something_else_is_known(source: bytes, misread: bool) -> None:
    assert is_misread(source) is misread


@every_row(("text", "computed"), [
    ("a[$(make)]", True), ("'a'[`make`]", True), ("a[1]", False), ("[$(make)]", False), ("a[1] $(make)", False)])
def test_a_command_in_the_index_of_an_array_is_run(text: str, computed: bool) -> None:
    assert has_computed_index(text) is computed


@every_row(("text", "hides"), [
    ("`make`", True), ("$(make)", True), ("\\`make\\`", False), ("\\$(make)", False), ("plain", False)])
def test_an_escaped_sign_is_no_substitution(text: str, hides: bool) -> None:
    assert hides_substitution(text) is hides


def test_commands_between_backticks_are_taken_apart_and_an_open_one_is_told() -> None:
    assert backtick_texts("a `make` b `npm \\`test\\``") == (["make", "npm `test`"], True)
    assert backtick_texts("a `make") == (["make"], False)


def test_a_here_doc_that_does_not_end_makes_a_line_incomplete() -> None:
    assert parse_shell("cat <<E\nx\nE\n").complete
    assert not parse_shell("cat <<E\nx\n").complete
