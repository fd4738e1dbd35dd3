"""Which simple commands a line has: lists, pipelines, groups, substitutions, functions."""

from __future__ import annotations

from tests.dialects.shell.lines import texts
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell


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
        ("echo $((1 + $(a)))", ["echo $((1 + $(a)))", "$((1 + $(a)))", "a"]),
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
