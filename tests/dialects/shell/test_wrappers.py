"""Commands that run commands: the inner one is found, and the outer one stays."""

from __future__ import annotations

import pytest

from tests.tooling.rows import every_row
from trunkline.dialects.shell import parse_shell


@every_row(
    ("line", "inner", "inside"),
    [
        ("sudo rm x", "rm x", "sudo"),
        ("sudo -u root -E rm x", "rm x", "sudo"),
        ("sudo --user=root A=1 rm x", "rm x", "sudo"),
        ("doas rm x", "rm x", "doas"),
        ("env rm x", "rm x", "env"),
        ("env -i -u B A=1 rm x", "rm x", "env"),
        ("env -S 'rm x'", "rm x", "env"),
        ("nohup rm x", "rm x", "nohup"),
        ("timeout -s KILL 5 rm x", "rm x", "timeout"),
        ("nice -n 5 rm x", "rm x", "nice"),
        ("time rm x", "rm x", "time"),
        ("command rm x", "rm x", "command"),
        ("exec rm x", "rm x", "exec"),
        ("busybox rm x", "rm x", "busybox"),
        ("/usr/bin/env rm x", "rm x", "env"),
        ("xargs rm -f", "rm -f {}", "xargs"),
        ("xargs -0 -n 1 -I {} rm {}", "rm {} {}", "xargs"),
        ("parallel rm ::: a", "rm a {}", "parallel"),
        ("find . -name x -exec rm {} ;", "rm {}", "find -exec"),
        (r"find . -execdir rm {} \;", "rm {}", "find -exec"),
        ("find . -exec rm {} +", "rm {}", "find -exec"),
        ("fd -x rm", "rm {}", "fd -exec"),
        ("sh -c 'rm x'", "rm x", "sh -c"),
        ("bash -lc 'rm x'", "rm x", "bash -c"),
        ("bash -euo pipefail -c 'rm x' _ y", "rm x", "bash -c"),
        ("zsh -i -c -- 'rm x'", "rm x", "zsh -c"),
        ("sh <<'E'\nrm x\nE", "rm x", "here-doc"),
        ("sh <<< 'rm x'", "rm x", "here-doc"),
        ("eval rm x", "rm x", "eval"),
        ("eval 'rm' \"x\"", "rm x", "eval"),
        ("su -c 'rm x' bob", "rm x", "su"),
        ("ssh -p 22 host rm x", "rm x", "ssh"),
        ("ssh host 'rm x'", "rm x", "ssh"),
        ("watch -n 1 rm x", "rm x", "watch"),
        ("trap 'rm x' EXIT", "rm x", "trap"),
        ("alias ll='rm x'", "rm x", "alias"),
        ("flock f rm x", "rm x", "flock"),
        ("script -c 'rm x'", "rm x", "script -c"),
        ("tmux new -d 'rm x'", "rm x", "tmux"),
        ("docker run --rm -v a:b image rm x", "rm x", "docker run"),
        ("docker compose exec -T web rm x", "rm x", "docker exec"),
        ("kubectl exec pod -c y -- rm x", "rm x", "kubectl exec"),
        ("uv run --with y rm x", "rm x", "uv run"),
        ("npx rm x", "rm x", "npx"),
        ("poetry run rm x", "rm x", "poetry run"),
    ],
)
def test_what_a_wrapper_runs_is_a_command_of_the_line(line: str, inner: str, inside: str) -> None:
    parsed = parse_shell(line)
    assert parsed.complete
    assert (parsed.commands[-1].text, parsed.commands[-1].inside) == (inner, inside)
    assert parsed.commands[-1].parent == 0
    assert len(parsed.commands) == 2


def test_wrappers_in_wrappers_are_all_there() -> None:
    line = parse_shell("sudo env A=1 timeout 5 sh -c 'nohup rm x'")
    assert [command.name for command in line.commands] == ["sudo", "env", "timeout", "sh", "nohup", "rm"]
    assert [command.inside for command in line.commands] == ["", "sudo", "env", "timeout", "sh -c", "nohup"]


@every_row(
    "line", ["command -v rm", "sudo -l", "env", "env A=1", "xargs", "sh x.sh rm", "bash --version", "trap - EXIT"]
)
def test_a_wrapper_that_runs_nothing_has_no_inner_command(line: str) -> None:
    assert len(parse_shell(line).commands) == 1


@pytest.mark.parametrize("line", ['sh -c "$X"', 'eval "$X"', 'ssh host "$X"'])
def test_a_text_that_only_the_run_knows_gives_nothing(line: str) -> None:
    assert len(parse_shell(line).commands) == 1


def test_words_that_xargs_and_find_fill_in_are_dynamic() -> None:
    assert parse_shell("xargs rm").commands[1].words == ("rm", None)
    assert parse_shell("find . -exec rm {} +").commands[1].words == ("rm", None)


def test_only_wrappers_that_add_nothing_are_transparent() -> None:
    assert [parse_shell(line).commands[0].transparent for line in ("env a", "timeout 5 a", "nohup a")] == [True] * 3
    assert [parse_shell(line).commands[0].transparent for line in ("sudo a", "ssh h a", "sh -c a", "a")] == [False] * 4


def test_a_here_doc_goes_to_the_command_inside() -> None:
    assert [command.name for command in parse_shell("sudo bash <<E\nrm x\nE").commands] == ["sudo", "bash", "rm"]


def test_assignments_of_env_belong_to_what_it_runs() -> None:
    assert parse_shell("env A=1 B=2 c").commands[1].assignments == ("A=1", "B=2")
