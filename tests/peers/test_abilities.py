"""The table itself: what a run has shown, in its program's column, and nothing else of the document touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.peers.abilities import ABILITIES, END, NOT_POSSIBLE, PROGRAMS, START, Shown, check_names, read_table, write_table
from tests.peers.conftest import shown_in

ALLOWED, FOUND = "allowed from the hub", "found, and shown as running"


def written(tmp_path: Path, *shown: Shown, before: str = "") -> str:
    document = tmp_path / "page.md"
    document.write_text(before or f"before\n{START}\n{END}\nafter\n")
    write_table(document, shown)
    return document.read_text()


def test_a_column_says_what_was_shown_on_which_versions_and_why_not(tmp_path: Path) -> None:
    text = written(
        tmp_path, Shown("Claude Code", "2.1.112", ALLOWED, "passed"), Shown("Claude Code", "2.1.325", ALLOWED, "passed"),
        Shown("Claude Code", "2.1.325", FOUND, "passed"), Shown("Qwen Code", "0.24.4", ALLOWED, "skipped", "no tmux|here"))
    assert text.startswith(f"before\n{START}\n") and text.endswith(f"{END}\nafter\n")
    table = read_table(text)
    assert table["Claude Code"] | {"seen on": "2.1.325, 2.1.112", ALLOWED: "yes", FOUND: "yes (2.1.325)"} == table["Claude Code"]
    assert table["Qwen Code"][ALLOWED] == "skipped: no tmux/here" and table["Qwen Code"]["seen on"] == "–"
    failed = written(tmp_path, Shown("Codex", "1.0", FOUND, "passed"), Shown("Codex", "1.0", FOUND, "failed"))
    assert read_table(failed)["Codex"][FOUND] == "failed"
    assert table["Gemini CLI"][ALLOWED].startswith("no (") and NOT_POSSIBLE["Gemini CLI", ALLOWED] in text


def test_a_run_of_one_program_leaves_the_columns_of_the_others(tmp_path: Path) -> None:
    first = written(tmp_path, Shown("Claude Code", "2.1.325", ALLOWED, "passed"))
    table = read_table(written(tmp_path, Shown("Codex", "0.166.0", FOUND, "passed"), before=first))
    assert (table["Claude Code"][ALLOWED], table["Codex"][FOUND], table["Codex"][ALLOWED]) == ("yes", "yes", "–")


def test_names_that_are_in_no_table_and_what_cannot_be_are_refused() -> None:
    check_names("Claude Code", ALLOWED)
    for program, ability in (("claude", ALLOWED), ("Claude Code", "allowed"), ("Gemini CLI", ALLOWED)):
        with pytest.raises(ValueError):
            check_names(program, ability)
    assert all(program in PROGRAMS and ability in ABILITIES for program, ability in NOT_POSSIBLE)


MARKED = f"""
import pytest
pytestmark = pytest.mark.program("Claude Code")
@pytest.fixture(params=["2.1.325", "2.1.112"])
def version(request):
    if request.param == "2.1.112":
        pytest.skip("not to be had")
@pytest.mark.shows({ALLOWED!r})
def test_shows(version): pass
"""


def test_tests_tell_by_their_marks_what_they_have_shown(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    program\n    shows\n")
    (tmp_path / "test_it.py").write_text(MARKED)
    (tmp_path / "test_other.py").write_text(MARKED.replace("Claude Code", "Qwen Code"))
    (tmp_path / "page.md").write_text(f"{START}\n{END}\n")
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": os.defpath, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", "pytest", "--ability-table", "page.md", "--program", "Claude Code"]
    run = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0 and "1 passed, 1 skipped" in run.stdout, run.stdout
    table = read_table((tmp_path / "page.md").read_text())
    assert (table["Claude Code"][ALLOWED], table["Claude Code"]["seen on"]) == ("yes", "2.1.325")
    assert table["Qwen Code"][ALLOWED] == "–", "it was not run"


def test_only_what_was_called_or_skipped_counts() -> None:
    kept = [("shows", ("Codex", "1", FOUND)), ("other", 1)]
    common: dict[str, Any] = {"nodeid": "a", "location": ("a", 0, "a"), "keywords": {}, "user_properties": kept}
    reports = [pytest.TestReport(outcome="passed", longrepr=None, when=when, **common) for when in ("setup", "call", "teardown")]
    reports.append(pytest.TestReport(outcome="skipped", longrepr=("a", 1, "Skipped: no tmux\nmore"), when="setup", **common))
    assert [(each.outcome, each.reason) for each in shown_in(reports)] == [("passed", ""), ("skipped", "no tmux")]
