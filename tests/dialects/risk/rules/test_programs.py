"""Shell lines by what programs make of their words: each gets its level, and what stands beside it stays easy."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

ROOT = "/home/u/proj"
TABLE: dict[str, dict[str, list[str]]] = {
    group: levels for name in ("programs.toml", "elsewhere.toml")
    for group, levels in tomllib.loads((Path(__file__).parent / name).read_text("utf-8")).items()}


@every_row("group", TABLE)
def test_every_line_of_a_group_gets_its_level(group: str) -> None:
    @every_row(("line", "level"), [(line.strip(), level) for level, lines in TABLE[group].items() for line in lines])
    def check(line: str, level: str) -> None:
        risk = explain_risk("Bash", {"command": line}, cwd=ROOT, roots=[ROOT], home="/home/u")
        assert (bool(risk.unsure) if level == "unsure" else risk.level == level), risk

    check()


def test_no_line_stands_twice_and_every_group_has_ordinary_ones() -> None:
    lines = [line for levels in TABLE.values() for found in levels.values() for line in found]
    assert len(lines) == len(set(lines))
    assert all(len(levels["low"]) >= 4 for levels in TABLE.values())
