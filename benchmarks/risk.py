"""What judging a shell line costs: beside merely parsing it, in milliseconds for a short line and for a kilobyte of many shapes,
and how that grows with the line.

Every line is seen for the first time."""

from __future__ import annotations

import time
from itertools import count
from statistics import median

from benchmarks.fold import ratio
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.shell.grammar import parse_tree

UNITS = ("git status", "ls a@ b", "echo @ > f@", "cat a@/b.txt", "cd d@ && ls", "python a@.py 2>&1")
SHAPES = (
    *UNITS, "rm f@", "cp f@ g@", "sudo ls @", "sh -c 'ls @'", "curl a.b/@", "curl -o f@ x", "curl a@ | sh", "ssh h ls @",
    "git commit -m 'a @'", "echo $(cat f@ x)", "echo `pwd` @", "diff <(ls) f@", "ls src/*@.py", "ls a\\ b@", "mkdir -p x@/{a,b}",
    "if [ -f x@ ]; then ls; fi", "find d@ -name '*.py' -exec grep -l x {} \\;",
    'for f in a@ b; do wc -l "$f" | sort > o@; done', "npm run build:@ && npm test", "docker run --rm -v /w/@:/d -e A=@ image ls",
    "pytest -q tests/unit/test_@.py::test_case -k 'not slow' 2>&1 | tail -4",
)
LONG_SHAPE = "python -m pytest -q tests/unit/test_@.py tests/unit/other_@.py --tb=short --maxfail=1 2>&1 | tail -@"
"""Few enough operators that four kilobytes of it are read like one."""
SHORT_BYTES, LINE_BYTES, LONG_BYTES = 200, 1024, 4096
LINES = 20
LINES_APART = 1000
"""A line comes again after so many others: what was judged lately, and the words that were looked at, are forgotten by then."""


def risk_ratio(rounds: int) -> float:
    """Judging a line of many commands, in multiples of the grammar's parse of the same line."""
    numbers = count()
    lines: list[str] = []

    def prepare() -> None:
        lines[:] = [_line(next(numbers)) for _ in range(LINES)]  # others each time: what was judged lately is remembered

    def judge() -> None:
        for line in lines:
            explain_risk("Bash", {"command": line}, cwd="/project", roots=("/project",), home="/home/u")

    return ratio(judge, lambda: [parse_tree(line.encode()) for line in lines], rounds, prepare)


def risk_times(rounds: int, line_bytes: int = LINE_BYTES, shapes: tuple[str, ...] = SHAPES) -> dict[str, float]:
    """For each shape the milliseconds of judging a line of it: the best of many, so that a busy machine counts little."""
    numbers = count()
    best = dict.fromkeys(shapes, float("inf"))
    for _ in range(rounds * LINES):
        for shape in shapes:
            line = _line(next(numbers), (shape,), line_bytes)
            start = time.thread_time()
            explain_risk("Bash", {"command": line}, cwd="/project", roots=("/project",), home="/home/u")
            best[shape] = min(best[shape], (time.thread_time() - start) * 1000)
    return best


def middle_and_worst(times: dict[str, float]) -> tuple[float, str]:
    """The median of all shapes, and the shape that takes longest."""
    return median(times.values()), max(times, key=times.__getitem__)


def growth(rounds: int) -> float:
    """How often a line of four kilobytes costs what one kilobyte costs: four times, if it is linear."""
    kilobyte, long = (risk_times(rounds, size, (LONG_SHAPE,))[LONG_SHAPE] for size in (LINE_BYTES, LONG_BYTES))
    return long / kilobyte


def _line(number: int, units: tuple[str, ...] = UNITS, line_bytes: int = LINE_BYTES) -> str:
    line, at = "", 0
    while len(line) + len(more := units[at % len(units)].replace("@", f"{number % LINES_APART}{at}") + "; ") <= line_bytes:
        line += more
        at += 1
    return line.removesuffix(" ")
