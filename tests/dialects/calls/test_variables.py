"""What stands in front of a command and changes nothing of it."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.dialects.calls.variables import (
    PLAIN_CHARS,
    bare_line,
    is_harmless,
    is_harmless_assignment,
    is_never_harmless,
    is_same,
    loads,
    plain_words,
    script_of,
)

HARMLESS = [
    ("CI", "true"), ("CI", ""), ("NO_COLOR", "1"), ("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "1"), ("COLORTERM", "truecolor"),
    ("TERM", "xterm-256color"), ("TERM", "dumb"), ("COLUMNS", "120"), ("LINES", "40"), ("LANG", "C.UTF-8"), ("LANG", "de@euro"),
    ("LC_ALL", "C"), ("LC_MESSAGES", "en_US.UTF-8"), ("TZ", "UTC"), ("TZ", "America/Argentina/Ushuaia"), ("PAGER", "cat"),
    ("SHELL", "/usr/bin/zsh"), ("DEBIAN_FRONTEND", "noninteractive"), ("RUST_BACKTRACE", "full"), ("CARGO_TERM_COLOR", "never"),
]
NOT_HARMLESS = [
    ("CI", "$(touch x)"), ("CI", "true; touch x"), ("TERM", "../x"), ("TERM", "/tmp/x"), ("TERM", ""), ("COLUMNS", "x"),
    ("LANG", "/tmp/x"), ("LC_ALL", "../x"), ("LC_", "C"), ("LOCPATH", "C"), ("TZ", ":/etc/x"), ("TZ", "/etc/x"),
    ("TZ", "../../x"), ("PAGER", "less"), ("SHELL", "/tmp/sh"), ("SHELL", "sh"),
    ("PAGER", "cat x"), ("MANPAGER", "cat"), ("GIT_PAGER", "cat"), ("ci", "true"),
    ("DEBIAN_FRONTEND", "x"), ("PYTHONUNBUFFERED", "1"), ("NODE_ENV", "test"), ("HOME", "/x"), ("WHATEVER", "1"), ("", ""),
]
NEVERS = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "MY_PRELOAD", "GIT_SSH", "GIT_PAGER", "NODE_OPTIONS",
          "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "ENV", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS",
          "PROMPT_COMMAND", "IFS", "SHELLOPTS", "EDITOR", "VISUAL", "npm_config_prefix", "HTTPS_PROXY", "https_proxy",
          "RUSTC_WRAPPER", "CARGO_HOME", "GOFLAGS", "MAKEFLAGS", "CC", "HOME", "SSH_ASKPASS", "XDG_CONFIG_HOME", "LESSOPEN"]


@every_row(("name", "value"), HARMLESS)
def test_a_variable_that_is_listed_with_such_a_value_is_harmless(name: str, value: str) -> None:
    assert is_harmless(name, value) and is_harmless_assignment(f"{name}={value}")
    assert not is_never_harmless(name) and loads(name, value) is None


@every_row(("name", "value"), NOT_HARMLESS)
def test_any_other_variable_or_value_is_not(name: str, value: str) -> None:
    assert not is_harmless(name, value)


@every_row("name", NEVERS)
def test_what_says_which_code_is_loaded_or_run_is_never_harmless(name: str) -> None:
    assert is_never_harmless(name)
    assert not any(is_harmless(name, value) for value in ("", "1", "true", "cat", "C", "x"))


@given(st.from_regex(r"[A-Z_]{1,12}", fullmatch=True), st.text(max_size=20))
def test_no_value_with_a_sign_of_the_shell_in_it_is_harmless(name: str, value: str) -> None:
    assert not (is_harmless(name, value) and set(value) & set("$`;&|<>()\\'\" \n*?~"))


@every_row(("words", "script"), [
    (["bash", "-c", "x y"], "x y"), (["/bin/bash", "-lc", "x"], "x"), (["/usr/bin/zsh", "-l", "-c", "x"], "x"),
    (["sh", "--login", "-c", "x"], "x"), (["bash", "x"], None), (["bash", "-c"], None), (["./bash", "-c", "x"], None),
    (["bash", "-ic", "x"], None), (["bash", "-c", "x", "y"], None), (["/tmp/bash", "-c", "x"], None),
    (["bash", "-c", "-c", "x"], None), (["python3", "-c", "x"], None), (["bash", "--rcfile", "f", "-c", "x"], None),
])
def test_a_shell_that_only_reads_a_line_is_that_line(words: list[str], script: str | None) -> None:
    assert script_of(words) == script == script_of(tuple(words))


@every_row(("line", "words"), [
    ("make all", ("make", "all")), ("  make\tall \n", ("make", "all")), ("echo 'a  b' \"c d\"", ("echo", "a  b", "c d")),
    ("gr''ep a\\ b", ("grep", "a b")), ('echo "a \\"b\\" \\\\"', ("echo", 'a "b" \\')), ("echo ''", ("echo", "")),
    ("a=b", None), ("A=b make", None), ("make $X", None), ("ls *.py", None), ("ls ~", None), ("a | b", None), ("a; b", None),
    ("a\nb", None), ('echo "$X"', None), ("echo `x`", None), ("echo 'x", None), ("a > b", None), ("time make", None),
    ("! make", None), ("a # b", None), ("a {b,c}", None), ("", None), ("x" * (PLAIN_CHARS + 1), None),
    ("--x=y a=b", ("--x=y", "a=b")),
])
def test_the_words_of_a_line_are_known_where_a_shell_only_splits_it(line: str, words: tuple[str, ...] | None) -> None:
    assert plain_words(line) == words


@given(st.lists(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4))
def test_words_that_are_joined_are_found_again(words: list[str]) -> None:
    found = plain_words(shlex.join(words))
    assert found is None or list(found) == words
    assert is_same(bare_line([shlex.join(words)]), bare_line(["sh", "-c", shlex.join(words)]))


@given(st.text(st.sampled_from("ab='\"\\ \t$;|-c"), max_size=24))
def test_a_line_is_taken_apart_as_a_shell_does_it_or_not_at_all(line: str) -> None:
    found = plain_words(line)
    assert found is None or list(found) == shlex.split(line)


@every_row(("words", "env", "line", "variables"), [
    (["make", "all"], {"CI": "1", "X": "1"}, "make all", {"X=1"}),
    (["CI=1 make all"], {}, "make all", set()),
    (["CI='1' TERM=dumb X=1 make all"], {}, "make all", {"X=1"}),
    (["X=1 CI=1 make && make x"], {}, "X=1 CI=1 make && make x", set()),
    (["CI=1 X=1 make && make x"], {}, "X=1 make && make x", set()),
    (["CI=$X make"], {}, "CI=$X make", set()),
    (["CI=1"], {}, "CI=1", set()),
    (["bash -lc 'CI=1 bash -c \"make all\"'"], {"X": "2"}, "make all", {"X=2"}),
    (["bash -c 'make'; make x"], {}, "bash -c 'make'; make x", set()),
])
def test_a_command_is_bared_of_what_changes_nothing_and_of_nothing_else(
        words: list[str], env: dict[str, str], line: str, variables: set[str]) -> None:
    bare = bare_line(words, env)
    assert (bare.line, set(bare.variables)) == (line, variables)
