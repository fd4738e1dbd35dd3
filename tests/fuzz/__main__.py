"""``python -m tests.fuzz [TARGET …] [--minutes M] [--seed N] [--keep]``: a long run, one target after the other."""

from __future__ import annotations

import argparse
import logging
import sys

from tests.fuzz.run import Finding, keep, run
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Run, tell what came of each, and return 1 where one did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="all, where none is named")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="store new small inputs in the corpus")
    asked = parser.parse_args()
    logging.disable()  # a library that warns of each broken form
    failed = 0
    for name in asked.targets or TARGETS:
        try:
            done = run(name, seed=asked.seed, seconds=asked.minutes * 60)
        except Finding as finding:
            failed = 1
            print(finding, flush=True)
            continue
        kept = keep(name, done.fresh) if asked.keep else 0
        print(f"{name}: {done.inputs:,} inputs in {asked.minutes:g} min, slowest {done.worst_s * 1000:.0f} ms, "
              f"{len(done.fresh)} new ends, {kept} kept", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
