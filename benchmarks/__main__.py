"""``python -m benchmarks [LETTERS …] [--rounds N] [--quick]``: run, print, store."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

from benchmarks.creation import creation
from benchmarks.everyday import SCENARIOS as EVERYDAY_SCENARIOS
from benchmarks.page import a_long_reply, the_page
from benchmarks.scenarios import SCENARIOS as HUB_SCENARIOS
from benchmarks.scenarios import Figure, Scale


def _keepers(scale: Scale) -> list[Figure]:
    from benchmarks.keepers import keepers  # an older tree, in benchmarks.against, has none

    return keepers(scale)


def _chat(scale: Scale) -> list[Figure]:
    from benchmarks.chat import chat  # needs a terminal, which not every system has

    return chat(scale)


def _hooks(scale: Scale) -> list[Figure]:
    from benchmarks.hooks import hooks  # an older tree has none

    return hooks(scale)


def _tunnel(scale: Scale) -> list[Figure]:
    from benchmarks.tunnel import tunnel  # needs nats-server; an older tree has none

    return tunnel(scale)


def _commits(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.commits import commits  # as above, with all that follow

    return commits(scale)


def _delivery(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.delivery import delivery

    return delivery(scale)


def _shipping(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.shipping import shipping

    return shipping(scale)


def _everywhere(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.commits import everywhere

    return everywhere(scale)


def _crowd(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.crowd import crowd

    return crowd(scale)


def _directory(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.directory import directory

    return directory(scale)


def _batches(scale: Scale) -> list[Figure]:
    from benchmarks.cluster.batches import batches

    return batches(scale)


SCENARIOS = {**HUB_SCENARIOS, "klmn": the_page, "z": a_long_reply, "r": _keepers, "s": _chat, **EVERYDAY_SCENARIOS, "x": creation,
             "y": _hooks, "A": _tunnel,
             "B": _commits, "C": _delivery, "D": _shipping, "E": _everywhere, "F": _crowd, "G": _directory, "H": _batches}
RESULTS = Path(".bench") / "results.json"


def main() -> int:
    """Run the chosen scenarios; the exit code says whether every target was met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("letters", nargs="*", help=f"which of {', '.join(SCENARIOS)}; all if none is named")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds per comparison")
    parser.add_argument("--quick", action="store_true", help="a tenth of the load, to see that it runs")
    asked = parser.parse_args()
    scale = Scale(asked.rounds, 0.1 if asked.quick else 1.0)
    figures: list[Figure] = []
    for name, scenario in SCENARIOS.items():
        if asked.letters and not any(letter in name for letter in asked.letters):
            continue
        for figure in scenario(scale):
            figures.append(figure)
            print(_line(figure), flush=True)
    _store(figures, scale)
    return 1 if any(figure.met is False for figure in figures) else 0


def _line(figure: Figure) -> str:
    verdict = {True: "ok", False: "MISSED", None: ""}[figure.met]
    return f"{figure.what:<48} {figure.value:>32}   {figure.target:<10} {verdict}"


def _store(figures: list[Figure], scale: Scale) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    record = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "python": platform.python_version(), "cores": os.cpu_count(),
        "rounds": scale.rounds, "scale": scale.factor, "figures": [figure._asdict() for figure in figures],
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
