"""``@pytest.mark.shows(ABILITY)`` and ``pytest.mark.program(NAME, VERSION)``: what a test shows of a program in a terminal. At
the end that is printed, and stored with ``--ability-table``.

The version may also be the test's parameter (a text that begins with a digit and has a dot). What a test shows goes with its
reports, so that it arrives where the run is summed up also from another process (pytest-xdist).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.peers.abilities import Shown, as_markdown, check_names, columns_of, write_table

SHOWS = "shows"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the table goes, and what it is about."""
    parser.addoption("--ability-table", type=Path, help="write what was shown of programs in terminals into this document")
    parser.addoption("--program", help="only what is about this program, so that its column is renewed as a whole")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep what it shows with the test."""
    for mark in item.iter_markers("shows"):
        program = item.get_closest_marker("program")
        if program is None:
            raise pytest.UsageError(f"{item.nodeid}: shows something, and no program is named")
        version = program.args[1] if len(program.args) > 1 else _version_of(item)
        for ability in mark.args:
            check_names(program.args[0], ability)
            item.user_properties.append((SHOWS, (program.args[0], version, ability)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--program`` the others are left out."""
    name = config.getoption("--program", default=None)
    if name is not None:
        config.hook.pytest_deselected(items=[item for item in items if not _is_about(item, name)])
        items[:] = [item for item in items if _is_about(item, name)]


def _is_about(item: pytest.Item, name: str) -> bool:
    program = item.get_closest_marker("program")
    return program is not None and program.args[0] == name


def _version_of(item: pytest.Item) -> str:
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    found = [each for each in given if isinstance(each, str) and each[:1].isdigit() and "." in each]
    if len(found) != 1:
        raise pytest.UsageError(f"{item.nodeid}: the version of its program is neither in its mark nor its parameter")
    return found[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, and write it where that was asked for and every test passed."""
    shown = shown_in(each for reports in terminalreporter.stats.values() for each in reports)
    if not shown:
        return
    terminalreporter.write_line(as_markdown(columns_of(shown)))
    path = config.getoption("--ability-table", default=None)
    if path is not None and not {"failed", "error"} & terminalreporter.stats.keys():
        write_table(path, shown)


def shown_in(reports: Iterable[object]) -> list[Shown]:
    """What the tests have shown: each once, by the report of its call, or of what kept it from being called."""
    found = []
    for each in reports:
        if isinstance(each, pytest.TestReport) and (each.when == "call" or each.skipped):
            for name, kept in each.user_properties:
                if name == SHOWS and isinstance(kept, list | tuple):
                    program, version, ability = kept
                    found.append(Shown(program, version, ability, each.outcome, _reason(each)))
    return found


def _reason(report: pytest.TestReport) -> str:
    told = report.longrepr
    return str(told[2]).removeprefix("Skipped: ").partition("\n")[0] if report.skipped and isinstance(told, tuple) else ""
