"""How two trees are compared: by paired ratios, in the direction that is good for the row."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.against import BESIDE, HERE, OWN, judge, more_is_better, number_in, put_benchmarks

Round = dict[str, dict[str, str]]


def rounds(what: str, pairs: list[tuple[str, str]]) -> list[Round]:
    return [{"old": {what: old}, "new": {what: new}} for old, new in pairs]


def test_a_machine_that_slows_both_sides_makes_no_row_worse() -> None:
    [row] = judge(rounds("c  added round trip, p50", [("1.00 ms", "1.02 ms"), ("2.00 ms", "2.04 ms"), ("4.00 ms", "4.08 ms")]))
    assert row.worse == pytest.approx(1.02)


def test_a_slower_row_is_worse_whether_it_is_a_time_or_a_rate() -> None:
    [time_row] = judge(rounds("g  start to first answer", [("200 ms", "260 ms")]))
    [rate_row] = judge(rounds("a  chunks/s, agent to SSE reader", [("130,000", "100,000")]))
    assert time_row.worse == pytest.approx(1.3) and rate_row.worse == pytest.approx(1.3)


def test_a_row_that_only_one_side_has_is_shown_and_not_judged() -> None:
    [row] = judge([{"old": {}, "new": {"p  new row": "3 ms"}}])
    assert row.worse is None and row.new == "3" and row.old == "–"


def test_a_row_that_failed_in_one_round_is_not_judged_by_the_others() -> None:
    [row] = judge([*rounds("h", [("3 MB", "3 MB")]), {"old": {"h": "3 MB"}, "new": {}}])
    assert row.worse is None


@pytest.mark.parametrize(("value", "number"), [("10.6 us = 4.0 x json.loads", 10.6), ("97,688", 97688.0), ("True", None)])
def test_a_figure_is_read_without_its_unit(value: str, number: float | None) -> None:
    assert number_in(value) == number


def test_shares_of_a_bare_pipe_are_good_when_they_are_high() -> None:
    assert more_is_better("a  ratio", "0.59") and not more_is_better("g  idle memory", "38.3 MB")


def commit_of(repository: Path, **files: str) -> str:
    """A repository with one commit of these files below ``benchmarks``."""
    (repository / "benchmarks").mkdir(parents=True)
    for name, text in files.items():
        (repository / "benchmarks" / f"{name}.py").write_text(text)
    for words in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--no-gpg-sign", "-m", "old"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def test_an_old_tree_runs_our_benchmarks_and_its_own_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = commit_of(tmp_path / "repository", memoryhub="options of then", fold="measured as then")
    monkeypatch.chdir(tmp_path / "repository")
    put_benchmarks(commit, tmp_path / "tree")
    assert (tmp_path / "tree" / OWN).read_text() == "options of then"
    assert (tmp_path / "tree" / "benchmarks" / "fold.py").read_bytes() == (HERE / "fold.py").read_bytes()


def test_a_tree_from_before_the_control_gets_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = commit_of(tmp_path / "repository", fold="measured as then")
    monkeypatch.chdir(tmp_path / "repository")
    put_benchmarks(commit, tmp_path / "tree")
    assert (tmp_path / "tree" / OWN).read_bytes() == (HERE / "memoryhub.py").read_bytes()
    assert (tmp_path / "tree" / BESIDE).exists(), "what the benchmarks need from beside them"
