"""Which simple commands a line has: lists, pipelines, groups, substitutions, here-docs, redirections."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.shell import SimpleCommand, parse_shell


def texts(line: str) -> list[str]:
    return [command.text for command in parse_shell(line).commands]


def only(line: str) -> SimpleCommand:
    (command,) = parse_shell(line).commands
    return command


@every_row(
    ("line", "expected"),
    [
        ("ls -la", ["ls -la"]),
        ("a; b & c && d || e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        ("(a; b)", ["a", "b"]),
        ("{ a; b; }", ["a", "b"]),
        ("! a", ["a"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done", ["a", "b"]),
        ("until a; do b; done", ["a", "b"]),
        ("for x in 1 $(a); do b; done", ["a", "b"]),
        ("for ((i=0; i<3; i++)); do b; done", ["", "b"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("f() { a; }; f", ["a", "f"]),
        ("function f { a; }", ["a"]),
        ("echo $(a) `b`", ["echo $(a) `b`", "a", "b"]),
        ('echo "x $(a) ${y:-$(b)}"', ['echo "x $(a) ${y:-$(b)}"', "a", "b"]),
        ("echo $((1 + $(a)))", ["echo $((1 + $(a)))", "a"]),
        ("cat <(a) >(b)", ["cat <(a) >(b)", "a", "b"]),
        ("x=$(a)", ["", "a"]),
        ("x=(1 $(a))", ["", "a"]),
        ("export X=$(a)", ["export X=$(a)", "a"]),
        ("[[ -n $(a) ]] && b", ["a", "b"]),
        ("echo `a \\`b\\``", ["echo `a \\`b\\``", "a `b`", "b"]),
        ("ls # rm x", ["ls"]),
        ("echo 'rm x' \"rm y\"", ["echo 'rm x' \"rm y\""]),
        ("", []),
    ],
)
def test_every_command_of_a_line_is_found(line: str, expected: list[str]) -> None:
    assert texts(line) == expected
    assert parse_shell(line).complete


def test_a_long_list_is_no_deep_nest() -> None:
    line = parse_shell(" && ".join(["a"] * 100))
    assert len(line.commands) == 100
    assert line.complete


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
@settings(max_examples=150, deadline=None)
def test_any_words_that_python_quotes_come_back_as_they_were(words: list[str]) -> None:
    line = parse_shell("echo " + shlex.join(words))
    assert line.commands[0].words == ("echo", *words)


def test_braces_become_several_words() -> None:
    assert only("echo a{b,c}d {x,y}").words == ("echo", "abd", "acd", "x", "y")


def test_what_the_shell_computes_is_none_and_its_sketch_as_written() -> None:
    command = only('cat "$HOME/a" ${HOME}/b $1')
    assert command.words == ("cat", None, None, None)
    assert command.sketch == ("cat", "$HOME/a", "$HOME/b", "$1")


@pytest.mark.parametrize("line", ["$X a", "$(a) b", "`a` b", "a$X", "${X:-rm} x", "/bin/r? x", "a* x", "rm$IFS-rf"])
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


def test_redirections_know_whether_they_read_or_write() -> None:
    command = only("a < in > out 2>&1 &> both >> more")
    assert [r.target for r in command.redirects if r.writes] == ["out", "both", "more"]
    assert [r.target for r in command.redirects if r.reads] == ["in"]
    assert only("a <<< 'b c'").stdin_text == "b c"


def test_a_descriptor_before_a_redirection_is_no_argument() -> None:
    assert only("bash -i >& /dev/x 0>&1").words == ("bash", "-i")


def test_a_redirection_alone_is_a_command_without_words() -> None:
    command = only("> x")
    assert (command.words, command.name, command.redirects[0].target) == ((), "", "x")


def test_redirections_of_a_group_stand_before_it() -> None:
    first, second = parse_shell("{ a; } > x").commands
    assert (first.words, first.redirects[0].target, second.text) == ((), "x", "a")


def test_a_comparison_in_single_brackets_that_redirects_is_seen() -> None:
    assert only("[ a > b ]").redirects[0].target == "b"
    assert parse_shell("[[ a > b ]]").commands == ()


@pytest.mark.parametrize(("start", "body"), [("'E'", "$x $(a)\n"), ("E", "plain\n"), ("\\E", "$x\n")])
def test_a_here_doc_that_expands_nothing_is_literal(start: str, body: str) -> None:
    assert parse_shell(f"cat <<{start}\n{body}E").commands[0].stdin_text == body


def test_commands_in_a_here_doc_are_found_where_it_expands() -> None:
    assert texts("cat <<E | b\n$(a)\nE") == ["cat", "a", "b"]
    assert parse_shell("cat <<E\n$(a)\nE").commands[0].stdin_text is None


def test_what_follows_a_here_doc_on_its_line_is_read() -> None:
    assert texts("cat <<E | sh\nx\nE") == ["cat", "sh"]
    assert texts("cat <<E > out && rm x\nx\nE") == ["cat", "rm x"]
    assert parse_shell("cat <<E | sh\nx\nE").commands[1].stdin_from == 0


def test_stages_of_a_pipeline_share_a_number_and_count_up() -> None:
    a, b, c, d = parse_shell("a | b | c; d").commands
    assert (a.pipeline, b.pipeline, c.pipeline) == (a.pipeline,) * 3
    assert (a.position, b.position, c.position, d.position) == (0, 1, 2, 0)
    assert d.pipeline != a.pipeline


def test_a_command_knows_what_may_feed_it() -> None:
    a, b, c, d = parse_shell("a | (b; c); d").commands
    assert (a.stdin_from, b.stdin_from, c.stdin_from, d.stdin_from) == (-1, 0, 0, -1)
    loop = parse_shell("while read l; do $l; done < <(a)").commands
    assert [command.stdin_from for command in loop if command.text in ("read l", "$l")] == [0, 0]


def test_a_command_in_a_substitution_names_its_parent() -> None:
    outer, inner = parse_shell("a $(b)").commands
    assert (outer.inside, inner.inside, inner.parent) == ("", "$(…)", 0)


def test_commands_of_a_function_say_so() -> None:
    assert [command.inside for command in parse_shell("f() { a; }").commands] == ["f()"]
