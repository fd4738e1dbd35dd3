"""The table of faults: what each test measured, as text for people and as the generated part of ``docs/reliability.md``."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

START = "<!-- faults: written by `make test-faults` -->"
END = "<!-- end of faults -->"


class Row(NamedTuple):
    """One fault: how often it was tried, how often the hub held, the worst time that somebody else waited, what was lost."""

    rule: int
    fault: str
    tried: int
    held: int
    worst_ms: float | None
    lost: int


def as_markdown(rows: Sequence[Row]) -> str:
    """The rows in the order of their rules."""
    lines = ["| rule | fault | tried | held | worst time | lost |", "|---|---|---|---|---|---|"]
    for row in sorted(rows):
        worst = "–" if row.worst_ms is None else f"{row.worst_ms:,.0f} ms"
        lines.append(f"| {row.rule} | {row.fault} | {row.tried:,} | {row.held:,} | {worst} | {row.lost:,} |")
    return "\n".join(lines) + "\n"


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Put the rows between the two markers of a document."""
    text = path.read_text()
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    when = f"Run of {time.strftime('%Y-%m-%d', time.gmtime())} on {os.cpu_count()} cores.\n\n"
    path.write_text(f"{before}{START}\n\n{when}{as_markdown(rows)}\n{END}{after}")
