"""The rules of risk: each row's example gets that row's level and reason. No example is ever run."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from tests.tooling.rows import every_row
from trunkline.dialects.risk import explain_risk, rules
from trunkline.dialects.risk.levels import rank
from trunkline.dialects.risk.line import line_findings
from trunkline.dialects.risk.places import Places
from trunkline.dialects.risk.row_matching import Row

HERE = Places.of("/home/u/proj", ["/home/u/proj"], "/home/u")


def rows() -> Iterator[Row]:
    for found in pkgutil.iter_modules(rules.__path__):
        module = importlib.import_module(f"{rules.__name__}.{found.name}")
        for value in vars(module).values():
            yield from (one for one in (value if isinstance(value, tuple) else ()) if isinstance(one, Row))
            if isinstance(value, Row):
                yield value


ROWS = [*rows()]


@every_row("row", ROWS)
def test_a_rows_example_gets_its_level_and_its_reason(row: Row) -> None:
    found = line_findings(row.example, HERE)
    if row.level == "low":
        assert found == []
        return
    assert any(one.level == row.level and one.reason.startswith(row.reason) for one in found)
    judged = explain_risk("Bash", {"command": row.example}, cwd="/home/u/proj", roots=["/home/u/proj"], home="/home/u")
    assert rank(judged.level) == rank(row.level)


def test_there_are_rows_for_what_people_look_for() -> None:
    assert len(ROWS) > 70
    assert {row.example.partition(" ")[0] for row in ROWS} >= {"git", "docker", "gh", "terraform", "dropdb", "reboot"}


@every_row(("line", "level"), [
    ("/usr/lib/git-core/git-push --force origin", "high"),
    ("git config alias.p 'push --force' && git p origin", "high"),
    ("cp /bin/rm r && ./r -rf x", "high"),
    ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", "high"),
    ("valgrind git reset --hard", "high"),
])
def test_a_command_behind_a_command_is_judged_too(line: str, level: str) -> None:
    assert explain_risk("Bash", {"command": line}, cwd="/w", roots=["/w"]).level == level
