"""``report`` takes a fault's figures and asserts them; at the end they are printed, and stored with ``--fault-table``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.conftest import new_hub as new_hub
from tests.faults.table import Row, as_markdown, write_table

Report = Callable[..., None]
ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the table goes."""
    parser.addoption("--fault-table", type=Path, help="write the table of faults into this document")


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """``report(rule, fault, tried=…, held=…, worst_ms=…, lost=…)``: keeps the row and asserts that all held."""
    rows = request.config.stash.setdefault(ROWS, [])

    def keep(rule: int, fault: str, *, tried: int, held: int, worst_ms: float | None = None, lost: int = 0) -> None:
        rows.append(Row(rule, fault, tried, held, worst_ms, lost))
        assert tried > 0, f"{fault}: nothing was tried"
        assert held == tried, f"{fault}: held {held} of {tried}"
        assert lost == 0, f"{fault}: lost {lost}"

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, and write it where that was asked for and every test passed."""
    rows = config.stash.get(ROWS, [])
    if not rows:
        return
    terminalreporter.write_line(as_markdown(rows))
    path = config.getoption("--fault-table", default=None)
    if path is not None and "failed" not in terminalreporter.stats:
        write_table(path, rows)
