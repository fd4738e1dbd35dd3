"""``scripts/fast_tests.sh``: what fails beside others is run once more, alone; what fails there fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "fast_tests.sh"
TESTS = """
import pathlib

runs = pathlib.Path(__file__).parent / "runs"

def run_of(name):
    with runs.open("a") as file:
        file.write(f"{name}\\n")
    return runs.read_text().split().count(name)

def test_holds():
    run_of("holds")
"""
STARVED = """
def test_starved_{number}():
    assert run_of("starved_{number}") > 1, "starved"
"""
BROKEN = """
def test_broken():
    run_of("broken")
    raise AssertionError("broken")
"""


def run_tests(folder: Path, text: str) -> tuple[int, str, list[str]]:
    """A run of these tests in a process of their own: how it ended, what it said, and which tests ran."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_all.py").write_text(TESTS + text)
    done = subprocess.run([SCRIPT, sys.executable, "1", "-p", "no:schemathesis", "test_all.py"], cwd=folder, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, sorted((folder / "runs").read_text().split())


def test_a_test_that_fails_beside_others_and_holds_alone_is_told_and_fails_nothing(tmp_path: Path) -> None:
    status, said, ran = run_tests(tmp_path, STARVED.format(number=1))
    assert (status, ran) == (0, ["holds", "starved_1", "starved_1"])
    assert "AssertionError: starved" in said and "Held alone: 1" in said


def test_a_test_that_fails_alone_too_fails_the_run(tmp_path: Path) -> None:
    status, said, ran = run_tests(tmp_path, STARVED.format(number=1) + BROKEN)
    assert (status, ran) == (1, ["broken", "broken", "holds", "starved_1", "starved_1"])
    assert "Held alone" not in said


def test_where_more_than_a_few_fail_none_is_tried_again(tmp_path: Path) -> None:
    status, _, ran = run_tests(tmp_path, "".join(STARVED.format(number=number) for number in range(6)))
    assert (status, ran) == (1, ["holds", *(f"starved_{number}" for number in range(6))])


def test_tests_that_cannot_be_read_fail_the_run(tmp_path: Path) -> None:
    status, _, ran = run_tests(tmp_path, "\nrun_of('read')\nraise ImportError\n")
    assert status != 0 and "holds" not in ran
