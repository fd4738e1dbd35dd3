"""The checklist: `trunkline acp` passes it, and every fault that it is about is found in an agent that has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.cli.commands.check import Outcome, examine, summary
from trunkline.cli.commands.check.cases import CASES
from trunkline.cli.commands.check.examinee import CheckPrompts

BAD = [sys.executable, str(Path(__file__).with_name("bad_agent.py"))]
PROMPTS = CheckPrompts(say="say", says="grüß dich", long="long", ask="ask", burst="burst", burst_chars=100, question="question",
                  read="read {path}", terminal="terminal")


def outcomes(tmp_path: Path, *faults: str, only: set[str] | None = None, case_s: float = 10.0) -> dict[str, Outcome]:
    """How the cases went with an agent that breaks these."""
    found = run(examine([*BAD, *faults], dict(os.environ), tmp_path, PROMPTS, only=only, case_s=case_s), 120)
    return {each.id: each for each in found}


def test_every_case_has_an_id_of_its_own_and_says_what_it_is_about() -> None:
    assert len({case.id for case in CASES}) == len(CASES) > 50
    assert all(case.what for case in CASES)


def test_an_agent_that_keeps_to_the_protocol_passes_every_case(tmp_path: Path) -> None:
    assert {each.id: (each.result, each.why) for each in outcomes(tmp_path).values() if each.result != "passed"} == {}


@pytest.mark.parametrize("case", [case.id for case in CASES if case.id != "SHUTDOWN-001"])
def test_a_case_finds_the_agent_that_breaks_it(tmp_path: Path, case: str) -> None:
    found = outcomes(tmp_path, case, only={case}, case_s=1.0)[case]
    assert found.result == "failed" and found.why


def test_what_an_agent_does_not_offer_is_skipped(tmp_path: Path) -> None:
    found = run(examine([*BAD], dict(os.environ), tmp_path, CheckPrompts(say="say"), only={"CANCEL-001", "PROMPT-001"}), 60)
    assert {each.id: each.result for each in found} == {"CANCEL-001": "skipped", "PROMPT-001": "passed"}


@pytest.mark.slow
def test_an_agent_that_outlives_its_stdin_is_found(tmp_path: Path) -> None:
    found = run(examine([*BAD, "SHUTDOWN-001"], dict(os.environ), tmp_path, PROMPTS, only={"SHUTDOWN-001"}), 60)
    assert found[0].result == "failed"


def test_the_summary_counts() -> None:
    made = [Outcome("A", "must", "a", "passed"), Outcome("B", "must", "b", "failed"), Outcome("C", "must", "c", "skipped")]
    assert summary(made) == "1 passed, 1 failed, 1 skipped"


def check_self(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``trunkline check``."""
    env = {**os.environ, "HOME": str(tmp_path), "TRUNKLINE_DATA": str(tmp_path / "not-used")}
    return subprocess.run([sys.executable, "-P", "-m", "trunkline", "check", *words], env=env, capture_output=True, text=True,
                          timeout=240, check=False)


@pytest.mark.slow
def test_trunkline_itself_passes_every_case(tmp_path: Path) -> None:
    done = check_self(tmp_path, "--self", "--json")
    found = json.loads(done.stdout)
    assert [each for each in found if each["result"] != "passed"] == []
    assert len(found) == len(CASES) and done.returncode == 0
    assert not (tmp_path / "not-used").exists(), "the person's own hub is left alone"


def test_what_to_check_has_to_be_said(tmp_path: Path) -> None:
    done = check_self(tmp_path)
    assert done.returncode == 2 and "--self" in done.stderr
