"""Plain lines are read without a grammar, and exactly as the grammar reads them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from trunkline.dialects.shell import ParsedLine
from trunkline.dialects.shell.plain import plain_line
from trunkline.dialects.shell.reader import LineReader
from trunkline.dialects.shell.simple import Place
from trunkline.dialects.shell.tokens import BARE_COMMAND, plain_command
from trunkline.dialects.shell.words import Word

LABELLED = Path(__file__).parent.parent / "risk" / "commands.toml"
WORDS = """
ls rm a.b -rf x=1 A=1 A= A="x $y" 'q' "d" "$x y" $A $A/b a$B 2 > 2> >> < 2>&1 >&2 f /tmp/x ~ ~/x ; && || | & sh env sudo time
if in done for export do xargs 7z -- - + ^ % @ a@b 1 12 a:b cd eval . .. nohup -c "" '' = == a= $1 { } ! ( ) [
* ? ** *.py a* s?/*_x {} {a,b} x{a,b}y {1..3} {a}{b,c} a{ }b '{a,b}' #x watch
"""
PIECES = [*WORDS.split(), "x>y", "a1>b", "2>f", "x 3>f", "a<b", "&>", "&>f", "x&>>f", "ls 2>&1>f",
          "\n", "  ", "\t", "sh -c 'ls; rm x'", "find . -exec rm {} +", '"a b"c', "$IFS", "sudo -u x ls"]


def read(line: str, *, by_grammar: bool) -> ParsedLine:
    reader = LineReader()
    with patch("trunkline.dialects.shell.reader.plain_line", (lambda text: None) if by_grammar else plain_line):
        reader.read(line, Place())
    return reader.line()


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9), st.sampled_from([" ", " ", " ", ""]))
def test_any_line_is_read_the_same_with_and_without_the_grammar(pieces: list[str], between: str) -> None:
    line = between.join(pieces)
    assert read(line, by_grammar=False) == read(line, by_grammar=True)


def strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for part in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
            for text in strings_in(part)]


def test_every_labelled_command_is_read_the_same_and_most_need_no_grammar() -> None:
    lines = strings_in(tomllib.loads(LABELLED.read_text("utf-8")))
    assert [line for line in lines if read(line, by_grammar=False) != read(line, by_grammar=True)] == []
    assert sum(plain_line(line) is not None for line in lines) > len(lines) / 2


@pytest.mark.parametrize("line", ["a | b | c && d", "a | b | c || d && e | f | g", "a | b | c && d > f", "a | b | c | d && e; f"])
def test_what_follows_a_pipeline_is_not_fed_by_it(line: str) -> None:
    parsed = read(line, by_grammar=True)
    assert parsed == read(line, by_grammar=False)
    assert next(command for command in parsed.commands if command.name == ("e" if "|| d" in line or "; f" in line else "d")
                ).stdin_from == -1


@pytest.mark.parametrize(("line", "words"), [
    ("ls -1>f", ("ls", "-1")), ("x -1>f -2>g", ("x", "-1", "-2")), ("chmod -R777>f /", ("chmod", "-R777", "/")),
    ("ls 2>f", ("ls",)), ("ls a2>f", ("ls", "a2")), ("x3>f", ("x3",)), ("ls>f -1", ("ls", "-1")),
])
def test_a_word_before_a_redirection_is_not_taken_for_its_descriptor(line: str, words: tuple[str, ...]) -> None:
    for parsed in (read(line, by_grammar=True), read(line, by_grammar=False)):
        assert (parsed.commands[0].words, parsed.complete) == (words, True)


@pytest.mark.parametrize("line", ["sudo bash -;x", "bash -|x y", "bash -&", 'sudo "a" -;x'])
def test_a_lone_dash_before_an_operator_is_kept_as_the_grammar_keeps_it(line: str) -> None:
    assert read(line, by_grammar=False) == read(line, by_grammar=True)
    assert "-" in read(line, by_grammar=False).commands[0].words


TOKENS = r"""a . / * ? = : + - -- 2 \  \; \$ \* \" \( \| \{ $A ${A} $_x {} {a,b} {1..3} { } 'a' "$A" "a\"b" "\n" '{a}' `x`"""
SUBSTITUTIONS = ["$(x)", "$(x a)", "`x`", "`x -a b*`", "<(x)", ">(x f)", "$(sudo x)", "$(time x)", "`x;y`", "$(x -)", "<(x $A)",
                 "$( x)", ">(z)", '"$(x)"', '"$(x a*)"', '"$(x) y"', '"$(sh -c y)"']
PLAIN = st.lists(st.sampled_from(TOKENS.split(" ")), min_size=1, max_size=4).map("".join)
AROUND = ["({})", "{} | x *", "if {}; then y; fi", "x $({})", "{} > f; y *", "{} &> f", "{} 2>&1 | y *",
          "x <({})", "for i in a; do {}; done"]


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(SUBSTITUTIONS) | PLAIN, max_size=4), st.sampled_from(AROUND),
       st.sampled_from(["ls", "sudo", "a.b"]))
@example(["{}-", "{1..3}"], "({})", "ls").via("the grammar takes both for one word")
def test_any_command_of_a_tree_is_read_the_same_from_its_text_and_from_its_nodes(
        words: list[str], around: str, name: str) -> None:
    line = around.replace("{}", " ".join([name, *words]))
    by_text = read(line, by_grammar=True)
    with (patch("trunkline.dialects.shell.simple.plain_redirect", lambda written: None),
          patch("trunkline.dialects.shell.simple.plain_string", lambda written: None),
          patch("trunkline.dialects.shell.simple.substituted_command", lambda written: None),
          patch("trunkline.dialects.shell.simple.plain_command", bare_command)):
        assert by_text == read(line, by_grammar=True)


def bare_command(written: bytes, alone: bool) -> list[Word] | None:
    """What is read from its text even where the nodes are asked: words that the grammar may take for operators."""
    return plain_command(written, alone) if alone and BARE_COMMAND.fullmatch(written) else None


@pytest.mark.parametrize("line", [
    "ls $(rm x)", "ls `rm x`", 'echo "$(rm x)"', "ls \\\nrm", "if ls; then rm x; fi", "(rm x)", "{ rm x; }", "export A=1",
    "f() { x; }", "! ls", "*", "ls > *", "ls [a]", "ls &&", "| ls", "a;; b", "<(rm)", "cat <<E\nx\nE", "échô", "x=(rm)",
    "ls ${A}", "ls # rm", "$A x", "-",
])
def test_what_is_not_plain_is_left_to_the_grammar(line: str) -> None:
    assert plain_line(line) is None
