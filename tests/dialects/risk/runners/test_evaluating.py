"""Code in the words of programs of which nobody knows how they read them."""

from __future__ import annotations

import time

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.risk.rules.all_programs.evaluated import unknown_code
from trunkline.dialects.risk.runners.evaluating import IN_WORDS, WORDS, given_code


@every_row(("line", "option", "code"), [
    ("foo --eval x", "--eval", "x"), ("foo --eval=x", "--eval", "x"), ("foo -eval x", "-eval", "x"),
    ("foo -e 'x(1)'", "-e", "x(1)"), ("foo -e'x(1)'", "-e", "x(1)"), ("foo -ne 'x(1)'", "-ne", "x(1)"),
    ("foo -c 'a b'", "-c", "a b"),
    ("foo --ev 'x(1)'", "--ev", "x(1)"), ("foo --post-command 'a b'", "--post-command", "a b"),
    ("foo eval 'x(1)'", "eval", "x(1)"),
    ("foo '(a \"b\")'", IN_WORDS, '(a "b")'), ("foo put 'system(1)'", IN_WORDS, "system(1)"), ('foo --eval "$X"', "--eval", None),
    ("swipl -g 'a(b)'", "-g", "a(b)"), ("clisp -x '(a)'", "-x", "(a)"),
])
def test_code_is_what_stands_behind_an_option_for_it_or_looks_like_it(line: str, option: str, code: str | None) -> None:
    assert [(one.option, one.code) for one in given_code(only(line))] == [(option, code)]


@every_row("line", [
    "foo -e prod", "foo -c config.toml", "foo -x 'src/**'", "foo -e A=b", "foo --expression .a", "foo -e -c", "foo --eval", "foo",
    "foo eval data.json", "foo 'a (b) c'", "foo --exclude 'a b'", "foo -m 'fix(api): a system (b)'", "foo --name 'a b'",
])
def test_a_name_a_path_a_glob_and_prose_are_no_code(line: str) -> None:
    assert list(given_code(only(line))) == []


@every_row(("line", "is_one"), [
    ("foo -e 'x(1)'", True), ("foo -e '1 + 1'", False), ("jq -e '.a | .b'", False), ("grep -e 'a b' x", False), ("foo", False),
    ("python -c 'x(1)'", False), ('foo --eval "$X"', True), ("swift -e 'x(1)'", True), ("'$X' -e 'x(1)'", True),
])
def test_only_a_program_that_nobody_knows_is_given_code_that_nobody_knows(line: str, is_one: bool) -> None:
    assert bool(unknown_code(only(line))) is is_one


@every_row("line", ["foo " + "-e 'a b' " * 500, "foo '" + "(a " * 1300 + "'", "foo -" + "e" * 4000, "foo --" + "eval" * 1000,
                    "foo '" + "system" * 700 + "'"])
def test_many_words_and_long_ones_are_looked_through_quickly(line: str) -> None:
    command = only(line)
    began = time.thread_time()
    assert len(list(given_code(command))) <= WORDS
    assert time.thread_time() - began < 0.2
