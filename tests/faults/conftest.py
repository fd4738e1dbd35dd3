"""``report`` takes a fault's figures and asserts them; at the end they are printed, and stored with ``--fault-table``.

A row goes with the result of its test, so that it arrives where the run is summed up also from another process (pytest-xdist).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.acceptance.conftest import kept_hubs as kept_hubs
from tests.acceptance.conftest import new_hub as new_hub
from tests.acceptance.conftest import some_hub as some_hub
from tests.faults.table import Row, as_markdown, write_table

Report = Callable[..., None]
ROW = "fault"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the table goes."""
    parser.addoption("--fault-table", type=Path, help="write the table of faults into this document")


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """``report(rule, fault, tried=…, held=…, worst_ms=…, lost=…)``: keeps the row and asserts that all held."""
    def keep(rule: int, fault: str, *, tried: int, held: int, worst_ms: float | None = None, lost: int = 0) -> None:
        request.node.user_properties.append((ROW, tuple(Row(rule, fault, tried, held, worst_ms, lost))))
        assert tried > 0, f"{fault}: nothing was tried"
        assert held == tried, f"{fault}: held {held} of {tried}"
        assert lost == 0, f"{fault}: lost {lost}"

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, and write it where that was asked for and every test passed."""
    rows = rows_of(each for reports in terminalreporter.stats.values() for each in reports)
    if not rows:
        return
    terminalreporter.write_line(as_markdown(rows))
    path = config.getoption("--fault-table", default=None)
    if path is not None and not {"failed", "error"} & terminalreporter.stats.keys():
        write_table(path, rows)


def rows_of(reports: Iterable[object]) -> list[Row]:
    """What the tests kept: a test's rows come once, with the report of its end."""
    ends = [each for each in reports if isinstance(each, pytest.TestReport) and each.when == "teardown"]
    return [Row(*kept) for each in ends for name, kept in each.user_properties if name == ROW and isinstance(kept, list | tuple)]
