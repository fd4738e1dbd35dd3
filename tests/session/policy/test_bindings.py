"""A pattern covers programs as they are: a line that first says what they load or what they are called is not covered by it."""

from __future__ import annotations

from tests.session.policy.ask_builders import allow, auto, decided, deny, running
from tests.tooling.rows import every_row

WATCHED = (
    "PATH HOME LD_PRELOAD NODE_OPTIONS PYTHONPATH BASH_ENV GIT_PAGER PAGER IFS CDPATH ENV npm_config_prefix path https_proxy FOO"
    .split())


@every_row("name", WATCHED)
@every_row("line", [
    "for {} in ./evil; do ls; done",
    "for {} in a b c; do ls -l; done",
    "for {}; do ls; done",
    "select {} in ./evil; do ls; done",
    "(({}=1)); ls",
    "(({}++)); ls",
    "for (({}=1; {}<3; {}++)); do ls; done",
    "[[ {}=1 -gt 0 ]]; ls",
    "bash -c 'for {} in ./evil; do ls; done'",
    "if for {} in ./evil; do ls; done; then ls; fi",
])
def test_a_name_that_a_statement_sets_is_an_assignment(line: str, name: str) -> None:
    line = line.replace("{}", name)
    assert decided(running(line), allow(command=["ls", "ls *"])).action == "ask", line


@every_row("line", [
    "printf -v PATH ./evil; ls",
    "printf -v 'BASH_CMDS[ls]' ./evil; ls",
    "read PATH; ls",
    "read -r -a LD_PRELOAD; ls",
    "getopts a PATH; ls",
    "wait -p PATH; ls",
    "mapfile PATH; ls",
    "export PATH=./evil; ls",
    "declare -x GIT_PAGER=./evil; ls",
    "let PATH=1; ls",
    "hash -p ./evil ls; ls",
    "enable -f ./x.so ls; ls",
    "ls {PATH}>/dev/null; ls",
])
def test_a_wildcard_does_not_cover_that_a_builtin_sets_what_programs_load(line: str) -> None:
    builtins = ["printf *", "read *", "getopts *", "wait *", "mapfile *", "export *", "declare *", "let *", "hash *", "enable *"]
    assert decided(running(line), allow(command=["ls", "ls *", *builtins])).action == "ask"


@every_row("line", [
    "for x in 'a[$(touch y)]'; do ((x)); ls; done",
    "for x in 'a[$(touch y)]'; do [[ $x -gt 1 ]]; ls; done",
    "for x in 'a[`touch y`]'; do [[ x -eq 1 ]] && ls; done",
    "(( 'a[$(touch y)]' )); ls",
    "for x in 1 2; do ((x)); ls; done",
])
def test_what_a_shell_computes_is_not_covered_by_a_pattern_for_another_command(line: str) -> None:
    assert decided(running(line), allow(command=["ls", "ls *"])).action == "ask"


@every_row("line", [
    "for f in a b; do ls; done",
    "for i in 1 2 3; do ls -l; done",
    "for V in 1 2; do ls; done",
    "for my_file in *.py; do ls; done",
    "for f in a; do ls; done; ls -l",
])
def test_an_ordinary_loop_stays_covered(line: str) -> None:
    assert decided(running(line), allow(command=["ls", "ls *"])).action == "allow"


@every_row("line", [
    "BASH_CMDS[y]=/bin/touch; y x",
    "BASH_ALIASES[y]=touch; y x",
    "BASH_ALIASES['y']='touch -a'; y x",
    "declare 'BASH_CMDS[y]=/bin/touch'; y x",
    "hash -p /bin/touch y && y x",
    "aliases[y]=touch; y x",
    "(( 'a[$(touch x)]' ))",
    "for x in 'a[$(touch x)]'; do ((x)); done",
    "wait -p 'a[$(touch x)]'",
    "mapfile -C 'touch x; :' -c 1 a < f",
    "read LD_PRELOAD <<< ./x.so; ls",
    "ipython -c '!touch x'",
    "ipython -c 'a = !touch x'",
    "jupyter console <<< '!touch x'",
    "c8 touch x",
    "for LD_PRELOAD in ./x.so; do ls; done",
])
def test_a_denied_command_is_not_run_under_another_name(line: str) -> None:
    assert decided(running(line), deny(command=["touch*"]), session_policy=auto(commands=True)).action != "allow"
