"""The table of lines by the part of the reading that they try: each gets its level."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.tooling.rows import every_row
from trunkline.dialects.risk import LEVELS, explain_risk

TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "readings.toml").read_text("utf-8"))
ROWS = [(line, level, part) for part, levels in TABLE.items() for level, lines in levels.items() for line in lines]


@every_row(("line", "level", "part"), ROWS)
def test_a_line_gets_its_level_by_that_part_of_the_reading(line: str, level: str, part: str) -> None:
    risk = explain_risk("Bash", {"command": line}, cwd="/home/u/proj", roots=["/home/u/proj"], home="/home/u")
    assert risk.level == level, risk


def test_every_part_has_what_must_be_noticed_and_what_is_ordinary() -> None:
    for part, levels in TABLE.items():
        assert set(levels) == set(LEVELS), part
        assert sum(map(len, levels.values())) >= 8 and len(levels["low"]) + len(levels["medium"]) >= 2, part
    lines = [line for line, _, _ in ROWS]
    assert len(lines) == len(set(lines))
