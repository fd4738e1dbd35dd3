"""What the README tells a newcomer first, in the order in which they need it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from trunkline.agents.catalog import load

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def in_order(*parts: str) -> list[str]:
    """The parts in the order in which they stand in the README; each has to be there."""
    return sorted(parts, key=TEXT.index)


def test_a_picture_and_packages_come_before_sources_and_the_page_before_curl() -> None:
    wanted = ["![A session on the page", "\npip install ./trunkline", "\npipx install ./trunkline", "\nuvx --from ./trunkline",
              "\ntrunkline serve\n", "\nmake run", "**Take the tour**", "\ntrunkline chat demo", "\ncurl "]
    assert in_order(*wanted) == wanted


def test_each_agent_to_begin_with_has_its_line_to_install_and_to_log_in() -> None:
    lines = [line for line in TEXT.splitlines() if re.match(r"\| .* \| `[\w-]+` \|", line)]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    known = load()
    assert len(rows) >= 5
    for _, agent, install, log_in in rows:
        assert known[agent.strip("`")].install_hint == install.strip("`"), agent
        assert log_in.count("`") >= 2, agent


def test_make_run_starts_the_hub_as_serve_does() -> None:
    said = subprocess.run(["make", "--dry-run", "--no-print-directory", "run", "ARGS=--port 0"], cwd=ROOT, capture_output=True,
                          text=True, timeout=60, check=True)
    assert said.stdout.splitlines()[-1] == "exec .venv/bin/trunkline serve --port 0", "it says what serve says"
