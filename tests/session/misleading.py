"""The table of calls that mislead, and the generous policy that it is held against."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from tests.tooling import misleading_names, misleading_order

TABLE = Path(__file__).with_name("misleading.toml")

POLICY = """
[[rules]]
category = ["file_read", "search"]
action = "allow"

[[rules]]
tool = ["read", "grep", "glob", "edit", "write"]
action = "allow"

[[rules]]
tool = ["mcp__docs__search", "mcp__docs__read"]
action = "allow"

[[rules]]
command = ["npm test*", "npm run *", "git status*", "git diff*", "git log*", "ls*", "cat *", "pytest*", "make*", "go test*"]
action = "allow"

[auto_approve]
reads = true
searches = true
writes = ["src/**/*.py", "tests/**"]
commands = ["npm test*", "git status*", "git diff*", "ls*", "cat *", "pytest*", "cargo test*"]
"""
"""What somebody writes who wants to be asked as little as can be."""


class Case(NamedTuple):
    """One play of one of the two agents."""

    agent: str
    number: int
    about: str
    play: list[dict[str, Any]]
    harmless: bool

    @property
    def asks(self) -> list[bool]:
        """Which of its asks a rule may answer with yes."""
        return [self.harmless or step.get("harmless", False) for step in self.play if step["do"] == "ask"]


def cases(path: Path = TABLE) -> list[Case]:
    """Every play of both agents, as they number them."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    groups = [(group, kind == "harmless") for kind in ("names", "harmless") for group in table[kind]]
    calls = [(group["about"], harmless) for group, harmless in groups for _ in group["calls"]]
    found = [Case("names", number, about, play, harmless)
             for number, ((about, harmless), play) in enumerate(zip(calls, misleading_names.plays_of(table), strict=True))]
    plays = [group["about"] for group in table["order"] for _ in group["plays"]]
    return found + [Case("order", number, about, play, False)
                    for number, (about, play) in enumerate(zip(plays, misleading_order.plays_of(table), strict=True))]
