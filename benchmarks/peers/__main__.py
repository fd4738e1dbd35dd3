"""``python -m benchmarks.peers [--rounds N] [--quick]``: run, print, and renew the tables of docs/performance.md."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from benchmarks.__main__ import RESULTS
from benchmarks.peers.run import run
from benchmarks.peers.table import goals, render, write
from benchmarks.scenarios import Scale

ROUNDS = 5
"""With fewer, medians are not told in the documentation."""


def main() -> int:
    """Run everything; the exit code says whether every goal was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round of a tenth of the load, to see that all of them run")
    asked = parser.parse_args()
    scale = Scale(1, 0.1) if asked.quick else Scale(asked.rounds, 1.0)
    found = run(scale)
    text = render(found, scale.rounds)
    print(text)
    figures = {"relays": {name: asdict(measured) for name, measured in found.relays.items()}, "flatOut": found.flat_out._asdict()}
    RESULTS.with_name("peers.json").write_text(json.dumps(figures) + "\n")
    if not asked.quick and scale.rounds >= ROUNDS:
        write(text)
    return 0 if all(goal.met for goal in goals(found)) else 1


if __name__ == "__main__":
    sys.exit(main())
