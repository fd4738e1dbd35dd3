"""docs/reference/limits.md is true: each row's constant has the value that is shown, and each has a test."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.tooling.rows import every_row

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "reference" / "limits.md"
UNITS = {"": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "%": 0.01}


class Row(NamedTuple):
    bound: str
    value: str
    constant: str
    setting: str
    happens: str
    test: str


def rows() -> list[Row]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [Row(*each) for each in cells if each[0] != "bound"]


ROWS = rows()


@every_row("row", ROWS)
def test_the_constant_has_the_value_that_is_shown(row: Row) -> None:
    path, name = row.constant.strip("`").split(":")
    module = importlib.import_module("trunkline." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    number, unit = re.fullmatch(r"([\d,.]+) ?(\S*)", row.value).groups()  # type: ignore[union-attr]
    assert float(getattr(module, name)) == pytest.approx(float(number.replace(",", "")) * UNITS[unit])
    assert row.happens and row.happens != "–"


@every_row("row", ROWS)
def test_every_bound_has_its_test_and_the_test_exists(row: Row) -> None:
    assert re.fullmatch(r"`tests/[\w/]+\.py::test_\w+`", row.test), "no bound is without a test"
    path, name = row.test.strip("`").split("::")
    assert name in functions_of(path)


@cache
def functions_of(path: str) -> frozenset[str]:
    """The names of all functions of a file; many bounds have their tests in the same one."""
    return frozenset(node.name for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
                     if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_no_bound_is_told_twice() -> None:
    constants = [row.constant for row in ROWS]
    assert len(constants) == len(set(constants))
