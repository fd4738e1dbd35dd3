"""What bash runs, we have seen: random lines, run by a bash that can only print, against what we say they run.

The lines are made of pieces that parsers read differently: joined lines, backticks, here-docs, quotes. A command that bash ran
must be among ours, unless we said that we cannot read the line or do not know a command's name.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from trunkline.dialects.shell import parse_shell

PIECES = (
    "p1", "p2", "p3", "p1 a", "echo", "echo x", "x=1", ":", "true", "eval", "eval p1", "p\\\n1", '"p1"', "'p2'", 'p""3',
    "$'p1'", "\\p2", "$(", "`", ")", "(", "{ ", "; }", '"', "'", "\\", "\n", "\\\n", ";", " ", "  ", "&&", "||", "|", "&",
    "!", "#", " #", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n\t", "<<< ", ">f", ">&2", "2>&1", "<(", ">(", "$((", "))", "${x:-",
    "${x", "}", "$x", "$x ", "a=(", "[[ ", " ]]", "[ ", " ]", "if ", "; then ", "; fi", "for i in a; do ", "; done",
    "while false; do ", "case a in ", "a) ", ";;", " esac", "f() ", "function g ", "~", "*", "?", "[a]", "{a,b}", "{p1,a}",
    "$IFS", "${IFS}", "coproc ", "time ", "-n ", "=", "a", "b", "1", "E", "$'", '$"', "\t", "|&", "&>", ">|", "<f",
    "declare x=", "export y=", "local z=", "readonly q=", "let ", "trap ", "EXIT", "alias ll=", "test ", "printf ", "read v",
    "command ", "builtin ", "until true; do ", "$(<f)", '"$(', '")', '"`', '`"', "$(p1)", "`p2`", '"$(p3)"', "<(p1)",
    "${x:-$(p2)}", "$((1+$(p3)))", "a[$(p1)]=1", "a[0]=", "((", "x++",
)  # fmt: skip
PRELUDE = """
PATH=/nonexistent
enable -n kill exec enable cd
for name in p1 p2 p3; do eval "$name() { builtin echo CALL:$name >&9; }"; done
"""
SECONDS = 5


def line_of(chance: random.Random) -> str:
    return "".join(chance.choice(PIECES) + chance.choice(("", " ", "")) for _ in range(chance.randint(2, 9)))


def ran_by_bash(line: str, folder: Path) -> set[str]:
    """The names that bash called; everything else it could start is out of its reach."""
    bash = shutil.which("bash")
    assert bash is not None
    # A file of its own: what an earlier line left running in the background may still write to its own.
    descriptor, record = tempfile.mkstemp(dir=folder.parent)
    try:
        script = f"exec 9>&{descriptor}\n{PRELUDE}{line}"
        command = [bash, "--norc", "--noprofile", "-c", script]
        quiet = subprocess.DEVNULL
        subprocess.run(command, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet, timeout=SECONDS, pass_fds=(descriptor,))
    except subprocess.TimeoutExpired:
        return set()
    finally:
        os.close(descriptor)
    return {word.removeprefix("CALL:") for word in Path(record).read_text().split() if word.startswith("CALL:")}


def seen_by_us(line: str) -> set[str | None]:
    """The names we found; None among them where only the run knows."""
    parsed = parse_shell(line)
    names = {command.name for command in parsed.commands}
    hidden = any(command.name in ("eval", "source", ".") and None in command.words for command in parsed.commands)
    return names | ({None} if hidden or not parsed.complete else set())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash to compare with")
@pytest.mark.parametrize("seed", range(4))
def test_no_command_that_bash_runs_is_missed(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "work"
    folder.mkdir()
    compared = 0
    for _ in range(1500):
        line = line_of(chance)
        ran = ran_by_bash(line, folder)
        compared += bool(ran)
        seen = seen_by_us(line)
        assert not (ran - seen) or None in seen, line
    assert compared > 50
