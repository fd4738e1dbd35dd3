"""Lines of many small pieces, each read by the one reader: nothing of a line is lost, and nothing is taken for something else."""

from __future__ import annotations

import pkgutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from tests.tooling.rows import every_row
from trunkline.dialects import shell
from trunkline.dialects.shell import parse_shell

WORDS = """
ls rm a.b -rf x=1 'q' "d" "$x" $A $A/b a$B 2 f /tmp/x ~ ~/x sh env sudo 7z -- - + ^ % @ a@b 1 12 a:b . .. -c "" '' = == =~ a= $1
* ? ** *.py a* s?/*_x {} '{a,b}' "a"c $
""".split()


@pytest.mark.parametrize("line", ["a | b | c && d", "a | b | c || d && e | f | g", "a | b | c && d > f", "a | b | c | d && e; f"])
def test_what_follows_a_pipeline_is_not_fed_by_it(line: str) -> None:
    wanted = "e" if "|| d" in line or "; f" in line else "d"
    assert next(command for command in parse_shell(line).commands if command.name == wanted).stdin_from == -1


@every_row(("line", "words"), [
    ("ls -1>f", ("ls", "-1")), ("x -1>f -2>g", ("x", "-1", "-2")), ("chmod -R777>f /", ("chmod", "-R777", "/")),
    ("ls 2>f", ("ls",)), ("ls a2>f", ("ls", "a2")), ("x3>f", ("x3",)), ("ls>f -1", ("ls", "-1")),
])
def test_a_word_before_a_redirection_is_not_taken_for_its_descriptor(line: str, words: tuple[str, ...]) -> None:
    parsed = parse_shell(line)
    assert (parsed.commands[0].words, parsed.complete) == (words, True)


@pytest.mark.parametrize("line", ["sudo bash -;x", "bash -|x y", "bash -&", 'sudo "a" -;x'])
def test_a_lone_dash_before_an_operator_is_a_word(line: str) -> None:
    assert "-" in parse_shell(line).commands[0].words


@every_row(("line", "words"), [
    ("test $a == b", ("test", None, "==", "b")), ("echo == $x y", ("echo", "==", None, "y")), ("echo $ a", ("echo", "$", "a")),
    ("echo a == x > y", ("echo", "a", "==", "x")), ("sudo ls {} == b", ("sudo", "ls", "{}", "==", "b")),
    ("expr $A =~ b", ("expr", None, "=~", "b")),
])
def test_a_word_that_the_grammar_takes_for_an_operator_is_kept(line: str, words: tuple[str | None, ...]) -> None:
    assert parse_shell(line).commands[0].words == words


@every_row(("line", "names"), [
    ("a; b\nc & d", ["a", "b", "c", "d"]), ("A=1 B='x y' a b", ["a"]), ("a 2>&1>f; b", ["a", "b"]), ("a&>f b", ["a"]),
    ("ls &", ["ls"]), ("x{1,2}y a", ["x1y"]), ("time a", ["time", "a"]), ("ls # b", ["ls"]), ("ls \\\nb", ["ls"]),
])
def test_a_line_of_small_pieces_has_the_commands_that_it_runs(line: str, names: list[str]) -> None:
    assert [command.name for command in parse_shell(line).commands] == names


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=8), st.sampled_from(["", " > f", " | y", " && y", "; y", " 2>&1"]))
def test_every_word_of_a_command_is_one_of_its_words(words: list[str], behind: str) -> None:
    """Or the line is not complete: a test's operator at the end of a command is one that the grammar cannot place."""
    parsed = parse_shell(" ".join(["x", *words]) + behind)
    assert parsed.commands[0].text == " ".join(["x", *words]) or not parsed.complete


def test_there_is_one_reader() -> None:
    assert not {"plain", "tokens", "engine"} & {module.name for module in pkgutil.iter_modules(shell.__path__)}


@pytest.mark.parametrize("line", ["x - $", "sh - $ y", "cat - $ > a"])
def test_a_word_that_the_grammar_leaves_out_makes_the_line_unsure(line: str) -> None:
    assert not parse_shell(line).complete
