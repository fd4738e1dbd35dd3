"""The table of labelled shell lines: each gets its level, with a reason."""

from __future__ import annotations

import shlex
import tomllib
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from tests.tooling.rows import every_row
from trunkline.dialects.risk import LEVELS, explain_risk

TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "commands.toml").read_text("utf-8"))
ORDER: list[str] = [*LEVELS]
ROWS = [(line, level, group) for group, levels in TABLE.items() for level, lines in levels.items() for line in lines]


@every_row(("line", "level", "group"), ROWS)
def test_a_labelled_line_gets_its_level(line: str, level: str, group: str) -> None:
    risk = explain_risk("Bash", {"command": line}, cwd="/home/u/proj", roots=["/home/u/proj"], home="/home/u")
    assert risk.level == level, risk
    assert risk.reason


def test_the_table_is_large_and_has_no_line_twice() -> None:
    lines = [line for line, _, _ in ROWS]
    assert len(lines) == len(set(lines))
    assert len(lines) >= 300
    assert sum(len(lines) for lines in TABLE["tricks"].values()) >= 60
    assert all(set(levels) == set(LEVELS) for levels in TABLE.values())


@every_row("line", [line for line, level, _ in ROWS if level == "high"])
def test_a_high_line_stays_at_least_high_where_nothing_is_known_of_the_session(line: str) -> None:
    """Without roots, a path elsewhere in the file system is no longer outside of anything; all else must hold."""
    risk = explain_risk("Bash", {"command": line})
    if "outside" not in explain_risk("Bash", {"command": line}, cwd="/home/u/proj", home="/home/u").reason:
        assert risk.level in ("high", "critical"), risk


@every_row("line", [line for line, level, _ in ROWS if level == "critical"])
@every_row("around", ["ls; {}", "{}\nls", "true && {{ {}\n}}", "if true; then {}\nfi", "( {}\n)"])
def test_a_critical_line_stays_critical_among_others(line: str, around: str) -> None:
    assert explain_risk("Bash", {"command": around.format(line)}).level == "critical"


DISGUISES: dict[str, Callable[[str], str]] = {
    "sh -c": lambda line: f"sh -c {shlex.quote(line)}",
    "bash -lc in env": lambda line: f"env A=1 bash -lc {shlex.quote(line)}",
    "eval": lambda line: f"eval {shlex.quote(line)}",
    "here-doc": lambda line: f"bash <<'END'\n{line}\nEND",
    "pipe": lambda line: f"echo {shlex.quote(line)} | sh",
    "base64": lambda line: f"echo {b64encode(line.encode()).decode()} | base64 -d | bash",
    "substitution": lambda line: f"echo \"$({line}\n)\"",
    "function": lambda line: f"f() {{ {line}\n}}; f",
    "trap": lambda line: f"trap {shlex.quote(line)} EXIT",
    "ssh": lambda line: f"ssh host {shlex.quote(line)}",
    "find": lambda line: f"find . -exec sh -c {shlex.quote(line)} \\;",
    "python": lambda line: f"python -c {shlex.quote(f'import os; os.system({line!r})')}",
    "git alias": lambda line: f"git config alias.x {shlex.quote('!' + line)}",
}


@every_row("disguise", DISGUISES)
def test_a_dangerous_line_in_disguise_is_no_less_dangerous(disguise: str) -> None:
    for line, level, group in ROWS:
        if group == "everyday" and level in ("high", "critical"):
            risk = explain_risk("Bash", {"command": DISGUISES[disguise](line)}, cwd="/home/u/proj", home="/home/u")
            assert ORDER.index(risk.level) >= ORDER.index(level), line
