"""Old and new code in one run: ``python -m benchmarks.against REV[,REV …] [LETTERS …] [--rounds N] [--quick]``.

Rule 1: all trees run the benchmarks of this tree, each with its own sources and environment, in turns: old, new, new, old …
        What is made of a tree's own parts (OWN) stays the tree's: it knows their names.
Rule 2: a row is judged by the median of its paired ratios, each of two runs of one round, since a machine whose
        speed changes from minute to minute slows both. Over one means that the new code is worse.
Rule 3: rows that one side lacks or that are no numbers are shown and not judged.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.__main__ import RESULTS, SCENARIOS

HERE = Path(__file__).parent
TREES = Path(".bench") / "trees"

OWN = "benchmarks/memoryhub.py"
"""The control without SQLite: a hub put together by hand, by the names that its parts and options had at that commit."""

BESIDE = "scripts/traffic.py"
"""What the benchmarks take from beside them, and an older tree may lack."""

WORSE = 1.10
"""A row may be slower by a tenth: what is left of the machine's own scatter after pairing."""

RUN_S = 600.0
"""A scenario that takes longer than this is broken on that side, and told as missing."""

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


class Judged(NamedTuple):
    """One row: the medians of both sides and how much worse the new one is, where that can be said."""

    what: str
    old: str
    new: str
    worse: float | None


def main() -> int:
    """Run all trees in turns; the exit code says whether any row got worse by more than a tenth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against")
    parser.add_argument("revisions", help="the commit to compare with; several, with commas, share the runs of the new one")
    parser.add_argument("letters", nargs="*", help=f"which of {', '.join(SCENARIOS)}; all if none is named")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="one round of a tenth of the load, to see that both sides run")
    asked = parser.parse_args()
    revisions = asked.revisions.split(",")
    trees = {**{revision: _tree(revision) for revision in revisions}, "new": HERE.parent.resolve()}
    names = [name for name in SCENARIOS if not asked.letters or any(letter in name for letter in asked.letters)]
    rows: list[Judged] = []
    for name in names:
        rounds = [_round(trees, name, number, asked.quick) for number in range(1 if asked.quick else asked.rounds)]
        for revision in revisions:
            print(f"{name} against {revision}", flush=True)
            judged = judge([{"old": found[revision], "new": found["new"]} for found in rounds])
            print(*map(_line, judged), sep="\n", flush=True)
            rows += judged
    return 1 if any(row.worse is not None and row.worse > WORSE for row in rows) else 0


def judge(rounds: list[dict[str, dict[str, str]]]) -> list[Judged]:
    """The rows of a scenario from its rounds, each ``{"old": {what: value}, "new": …}``."""
    order = [what for side in ("new", "old") for found in rounds for what in found[side]]
    return [_judge_row(what, rounds) for what in dict.fromkeys(order)]


def _judge_row(what: str, rounds: list[dict[str, dict[str, str]]]) -> Judged:
    sides = {side: [number_in(found[side][what]) for found in rounds if what in found[side]] for side in ("old", "new")}
    pairs = [(number_in(found["old"][what]), number_in(found["new"][what])) for found in rounds
             if what in found["old"] and what in found["new"]]
    ratios = [new / old for old, new in pairs if old and new and old > 0 and new > 0]
    worse = statistics.median(ratios) if ratios and len(ratios) == len(rounds) else None
    if worse is not None and more_is_better(what, rounds[-1]["new"][what]):
        worse = statistics.median(1 / ratio for ratio in ratios)
    return Judged(what, _median(sides["old"]), _median(sides["new"]), worse)


def number_in(value: str) -> float | None:
    """The first number of a figure, without its unit."""
    found = NUMBER.search(value)
    return float(found[0].replace(",", "")) if found else None


def more_is_better(what: str, value: str) -> bool:
    """Rates, shares of a bare pipe and counts of sessions are good when high; times, sizes and costs when low."""
    return "/s" in what or "/s" in value or what.endswith("ratio") or "sessions until" in what


def _median(values: list[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    return f"{statistics.median(numbers):,.4g}" if numbers else "–"


def _round(trees: dict[str, Path], name: str, number: int, quick: bool) -> dict[str, dict[str, str]]:
    order = list(trees) if number % 2 == 0 else [*reversed(trees)]
    return {side: _run(trees[side], name, quick) for side in order}


def _run(tree: Path, name: str, quick: bool) -> dict[str, str]:
    """One round of one scenario in one tree; nothing where it cannot run there."""
    results = tree / RESULTS
    results.unlink(missing_ok=True)
    python = tree / ".venv" / "bin" / "python"
    try:
        subprocess.run([python, "-m", "benchmarks", name, "--rounds", "1", *["--quick"] * quick], cwd=tree,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=RUN_S, check=False)
        figures = json.loads(results.read_text())["figures"]
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}
    return {figure["what"]: figure["value"] for figure in figures}


def _tree(revision: str) -> Path:
    """The old code with an environment of its own and this tree's benchmarks; made once per commit."""
    commit = subprocess.run(["git", "rev-parse", "--verify", f"{revision}^{{commit}}"], check=True, capture_output=True,
                            text=True).stdout.strip()
    tree = (TREES / commit).resolve()
    if not (tree / ".venv" / ".installed-browser").exists():
        tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
        subprocess.run(["make", "--no-print-directory", ".venv/.installed-browser", "page"], cwd=tree, check=True)
    put_benchmarks(commit, tree)
    return tree


def put_benchmarks(commit: str, tree: Path) -> None:
    """This tree's benchmarks into an old one, but for what has to be the old one's own."""
    shutil.rmtree(tree / "benchmarks", ignore_errors=True)
    shutil.copytree(HERE, tree / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    (tree / BESIDE).parent.mkdir(exist_ok=True)
    shutil.copy(HERE.parent / BESIDE, tree / BESIDE)
    own = subprocess.run(["git", "show", f"{commit}:{OWN}"], check=False, capture_output=True)
    if own.returncode == 0:  # else the commit is older than the control
        (tree / OWN).write_bytes(own.stdout)


def _line(row: Judged) -> str:
    verdict = "" if row.worse is None else f"{row.worse:.2f}" + ("  WORSE" if row.worse > WORSE else "")
    return f"{row.what:<56} {row.old:>12} {row.new:>12}   {verdict}"


if __name__ == "__main__":
    sys.exit(main())
