"""What the page on security promises is shown by tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.tooling.rows import every_row

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@every_row(("file", "name"), NAMED.findall(PAGE))
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    assert name in names_in(ROOT / file)


def test_every_promise_names_its_test() -> None:
    section = PAGE.partition("## What holds")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| against")]
    assert len(rows) > 20
    assert [row for row in rows if NAMED.search(row) is None] == []


def test_every_stranger_of_the_list_has_a_promise() -> None:
    for who in ("a hostile page", "a neighbour", "another user", "a stolen phone", "a repository", "an agent",
                "an agent in a sandbox"):
        assert f"\n| {who} |" in PAGE
