"""What judging a shell line costs beside merely parsing it: a kilobyte of tiny commands, each line seen for the first time."""

from __future__ import annotations

from itertools import count

from benchmarks.fold import ratio
from trunkline.dialects.risk import explain_risk
from trunkline.dialects.shell.grammar import parse_tree

UNITS = ("git status", "ls a@ b", "echo @ > f@", "cat a@/b.txt", "cd d@ && ls", "python a@.py 2>&1")
LINE_BYTES = 1024
LINES = 20


def risk_ratio(rounds: int) -> float:
    """Judging a line of many commands, in multiples of the grammar's parse of the same line."""
    numbers = count()
    lines = [_line(next(numbers)) for _ in range(LINES)]

    def judge() -> None:
        for _ in lines:  # other lines each time: what was judged lately is remembered
            explain_risk("Bash", {"command": _line(next(numbers))}, cwd="/project", roots=("/project",), home="/home/u")

    return ratio(judge, lambda: [parse_tree(line.encode()) for line in lines], rounds)


def _line(number: int) -> str:
    line, at = "", 0
    while len(line) < LINE_BYTES - 20:
        line += UNITS[at % len(UNITS)].replace("@", f"{number}{at}") + "; "
        at += 1
    return line
