"""The checklist: `trunkline acp` passes it, and every fault that it is about is found in an agent that has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.cli.check import Outcome, examine, summary
from trunkline.cli.check.cases import CASES
from trunkline.cli.check.examinee import Prompts

BAD = [sys.executable, str(Path(__file__).with_name("bad_agent.py"))]
PROMPTS = Prompts(say="hi", long="long", ask="ask", burst="hi", question="hi", read="read {path}", terminal="hi")


def outcomes(tmp_path: Path, *faults: str, only: set[str] | None = None) -> dict[str, Outcome]:
    """How the cases went with an agent that has these faults."""
    found = run(examine([*BAD, *faults], dict(os.environ), tmp_path, PROMPTS, only=only, case_s=3.0), 120)
    return {each.id: each for each in found}


def test_every_case_has_an_id_of_its_own_and_says_what_it_is_about() -> None:
    assert len({case.id for case in CASES}) == len(CASES) > 50
    assert all(case.what for case in CASES)


BASICS = {"TRANSPORT-001", "JSONRPC-001", "JSONRPC-002", "JSONRPC-003", "INIT-003", "SESSION-002", "PROMPT-002", "CANCEL-001",
          "PERMISSION-001", "CLIENTCAP-001", "SHUTDOWN-001", "LOAD-001"}


def test_an_agent_that_does_little_but_right_passes_what_it_offers(tmp_path: Path) -> None:
    found = outcomes(tmp_path, only=BASICS)
    assert {each.id: each.why for each in found.values() if each.result == "failed"} == {}
    assert [each.id for each in found.values() if each.result == "skipped"] == ["LOAD-001"]


@pytest.mark.parametrize(("fault", "case"), [
    ("echo", "INIT-003"), ("noise", "TRANSPORT-001"), ("both", "JSONRPC-002"), ("replies", "JSONRPC-003"), ("ids", "JSONRPC-001"),
    ("deaf", "CANCEL-001"), ("late", "PROMPT-002"), ("notify", "PERMISSION-001"), ("type", "PROMPT-002"),
    ("mixed", "SESSION-002"), ("unasked", "CLIENTCAP-001"),
])
def test_a_fault_is_found_by_the_case_that_is_about_it(tmp_path: Path, fault: str, case: str) -> None:
    found = outcomes(tmp_path, fault, only={case})
    assert found[case].result == "failed", found[case]
    assert found[case].why


@pytest.mark.slow
def test_an_agent_that_outlives_its_stdin_is_found(tmp_path: Path) -> None:
    assert run(examine([*BAD, "stays"], dict(os.environ), tmp_path, PROMPTS, only={"SHUTDOWN-001"}), 60)[0].result == "failed"


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
