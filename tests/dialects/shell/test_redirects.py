"""Redirections and here-docs: where they lead, and what is run in them."""

from __future__ import annotations

import pytest

from tests.dialects.shell.lines import only, texts
from trunkline.dialects.shell import parse_shell


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
