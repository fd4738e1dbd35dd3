"""Whatever names a path outside the session's folders may write there, unless it is known only to read."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk

TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "outside.toml").read_text("utf-8"))
ROWS = [(line, level, group) for group, levels in TABLE.items() for level, lines in levels.items() for line in lines]


@every_row(("line", "level", "group"), ROWS)
def test_a_line_gets_its_level(line: str, level: str, group: str) -> None:
    root = "/home/u" if group == "start" else "/home/u/proj"
    risk = explain_risk("Bash", {"command": line}, cwd=root, roots=[root], home="/home/u")
    assert risk.level == level, risk


ORDINARY: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "ordinary.toml").read_text("utf-8"))


@every_row(("line", "level"), [(line, level) for level, lines in ORDINARY.items() for line in lines])
def test_an_ordinary_line_is_as_loud_as_it_was(line: str, level: str) -> None:
    risk = explain_risk("Bash", {"command": line}, cwd="/home/u/proj", roots=["/home/u/proj"], home="/home/u")
    assert risk.level == level, risk


def test_a_path_that_may_be_written_is_the_reason() -> None:
    risk = explain_risk("Bash", {"command": "pytest --basetemp=/srv/x"}, cwd="/w", roots=["/w"])
    assert risk.reason == "may write outside the session's folders: /srv/x"
