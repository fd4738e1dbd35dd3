"""What a policy sees of one simple command: how it is written, what it may turn out to be, and what makes it unsure."""

from __future__ import annotations

import pytest

from tests.dialects.shell.lines import only
from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell
from trunkline.session.policy import globs
from trunkline.session.policy.commands import (
    ANYTHING,
    VALUES,
    as_written,
    behind_variables,
    bundle_ends,
    doubt,
    glob_outline,
    mentions,
    moves,
    only_reads_line,
    outline,
    path_like_parts,
    path_outline,
    pieces,
    values,
)


def test_variables_that_change_nothing_are_left_out_and_others_are_not() -> None:
    command = only("CI=true NODE_OPTIONS=x npm test")
    assert as_written(command) == "CI=true NODE_OPTIONS=x npm test"
    assert behind_variables(command) == "NODE_OPTIONS=x npm test"


def test_a_shell_that_only_reads_a_line_is_told_from_one_that_does_more() -> None:
    assert only_reads_line(parse_shell("bash -lc 'npm test'").commands, 0)
    assert not only_reads_line(parse_shell("NODE_OPTIONS=x bash -lc 'npm test'").commands, 0)
    assert not only_reads_line(parse_shell("npm test").commands, 0)


@every_row(("line", "pattern"), [
    ("git $X", "git *"), ("cat *.TXT", "cat *.txt"), ("cat a[bc].txt", "cat a?*"), ("cat x{1..3}.md", "cat x?*.md"),
    ("make all", None),
])
def test_what_only_the_shell_knows_is_open_in_the_outline(line: str, pattern: str | None) -> None:
    assert outline(only(line)) == pattern


@every_row(("line", "why"), [
    ("make all", ""), ("make all 2>&1", ""), ("make all >/dev/null", ""), ("make >log", "`make` is redirected"),
    ("make $X", "`make $X` has a part that only the shell knows"), ("X=1", "it does more than run commands"),
])
def test_no_pattern_covers_a_command_with_a_doubt(line: str, why: str) -> None:
    assert doubt(only(line)) == why


@every_row(("line", "named"), [
    ("cat a.txt", ["cat", "a.txt"]), ("cat $HOME/x", ["cat", "/home/ann/x"]), ("cat $X", ["cat", ANYTHING]),
    ("echo $X", ["echo"]), ("make >log", ["make", "log"]), ("A=b make", ["make", "A=b"]), ("A=$B make", ["make", ANYTHING]),
    ("git commit -m $X", ["git", "commit", "-m"]),
])
def test_everything_that_may_be_a_path_is_mentioned(line: str, named: list[str]) -> None:
    assert list(mentions(parse_shell(line).commands, "/home/ann")) == named


@every_row(("line", "folders"), [
    ("cd src && make", ["src"]), ("cd", ["~"]), ("cd -P src", ["src"]), ("make -C lib", ["lib"]), ("make -Clib", ["lib"]),
    ("npm --prefix=web test", ["web"]), ("make all", []),
])
def test_where_a_line_goes_is_known(line: str, folders: list[str]) -> None:
    assert list(moves(parse_shell(line).commands)) == folders


@every_row(("word", "pattern"), [
    ("a.txt", None), ("*.txt", "/w/*.txt/"), ("~/x?", "/home/ann/x?/"), ("a[bc]/d", "/w/a[bc]/d/"), (ANYTHING, ANYTHING),
])
def test_a_word_with_wildcards_stands_for_paths(word: str, pattern: str | None) -> None:
    assert path_outline(word, "/w", "/home/ann") == pattern


def test_a_star_stands_for_hidden_names_where_the_shell_says_so() -> None:
    assert path_outline("*", "/w") == "/w/*/"
    assert path_outline("*", "/w", hidden=True) == "/w/?*/"


@every_row(("glob", "pattern"), [("src/**/*.py", "/w/src"), ("**/*.py", None), ("**/secret.txt", "/w/secret.txt")])
def test_a_glob_says_what_it_names_and_a_search_of_everything_says_nothing(glob: str, pattern: str | None) -> None:
    assert glob_outline(globs.place(glob, "/w"), "/w") == pattern


@every_row(("word", "found"), [
    ("x", ["x"]), ("--out=x", ["--out=x", "x"]), ("-ox", ["-ox", "x"]), ("a=@x", ["a=@x", "@x", "x"]),
])
def test_a_value_is_found_behind_its_option(word: str, found: list[str]) -> None:
    assert list(values([word])) == found


def test_values_within_values_have_an_end_and_behind_it_may_be_anything() -> None:
    assert ANYTHING not in list(values(["=".join("a" * VALUES)]))
    assert list(values(["=".join("a" * (VALUES + 1))]))[-1] == ANYTHING


def test_a_bundle_of_options_may_end_with_a_name() -> None:
    assert "secrets" in list(bundle_ends(["-czfsecrets"]))
    assert list(bundle_ends(["--file", "plain", "-c"])) == []


@pytest.mark.parametrize(("word", "parts"), [("open('.env')", ["open", ".env"]), (".env:/app/.env", [".env", "/app/.env"]),
                                             ("plain.txt", [])])
def test_paths_are_found_within_code_and_prose(word: str, parts: list[str]) -> None:
    assert list(path_like_parts(word)) == parts


def test_a_line_that_cannot_be_parsed_is_cut_at_every_operator() -> None:
    assert list(pieces("make  all &&  (npm test | cat")) == ["make all", "npm test", "cat"]
