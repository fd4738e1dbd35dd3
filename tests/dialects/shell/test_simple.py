"""One simple command: its words without quotes, its name, its text."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.shell.lines import only
from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell


@every_row(
    ("written", "value"),
    [
        ("rm", "rm"),
        ("r''m", "rm"),
        ('r""m', "rm"),
        ("'rm'", "rm"),
        ('"rm"', "rm"),
        ("\\rm", "rm"),
        ("r\\m", "rm"),
        ("r\\\nm", "rm"),
        ("$'rm'", "rm"),
        ("$'\\x72\\155'", "rm"),
        ("$'\\u0072m'", "rm"),
        ("a\\ b", "a b"),
        ("'a b'", "a b"),
        ('"a\\"b"', 'a"b'),
        ('"a\\b"', "a\\b"),
        ("'a'\\''b'", "a'b"),
        ('"  x  "', "  x  "),
        ("a\"b\"'c'd", "abcd"),
        ("~/x", "~/x"),
        ("a=b", "a=b"),
        ("'{a,b}'", "{a,b}"),
        ("*.py", "*.py"),
    ],
)
def test_quotes_and_escapes_are_removed_from_words(written: str, value: str) -> None:
    assert only(f"echo {written}").words == ("echo", value)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12), min_size=1, max_size=5))
@settings(max_examples=examples(30), deadline=None)
def test_any_words_that_python_quotes_come_back_as_they_were(words: list[str]) -> None:
    line = parse_shell("echo " + shlex.join(words))
    assert line.commands[0].words == ("echo", *words)


def test_braces_become_several_words() -> None:
    assert only("echo a{b,c}d {x,y}").words == ("echo", "abd", "acd", "x", "y")


def test_what_the_shell_computes_is_none_and_its_sketch_as_written() -> None:
    command = only('cat "$HOME/a" ${HOME}/b $1')
    assert command.words == ("cat", None, None, None)
    assert command.sketch == ("cat", "$HOME/a", "$HOME/b", "$1")


@every_row("line", ["$X a", "$(a) b", "`a` b", "a$X", "${X:-rm} x", "/bin/r? x", "a* x", "rm$IFS-rf"])
def test_a_name_that_is_only_known_at_run_time_is_none(line: str) -> None:
    assert parse_shell(line).commands[0].name is None


def test_a_name_has_no_folder_and_plain_has_no_quotes() -> None:
    command = only("/bin/r''m \"a b\" $X")
    assert command.name == "rm"
    assert command.plain == "rm a b $X"
    assert command.text == "/bin/r''m \"a b\" $X"


def test_the_text_has_one_blank_between_words_and_no_redirections_or_assignments() -> None:
    command = only("A=1 B=2 npm    test  > out 2>&1 --x")
    assert command.text == "npm test --x"
    assert command.assignments == ("A=1", "B=2")
    assert [(r.operator, r.target, r.descriptor) for r in command.redirects] == [(">", "out", ""), (">&", "1", "2")]
