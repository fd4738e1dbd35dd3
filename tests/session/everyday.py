"""Ordinary lines in the shapes in which agents ask for them, through the interpreter, and what a policy says to them.

Run as a program, it prints how many lines are asked about, by shape: that is how the counts in ``everyday.toml`` were made, in a
checkout of the commit that they are held against (this module and the table copied into it). It only uses what both have.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.tooling.story import Player
from tests.tooling.transcripts import Prompt
from trunkline.agents import catalog
from trunkline.dialects.calls import ToolNames
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.session.policy.text import parse_policy

TABLE: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "everyday.toml").read_text("utf-8"))
LINES: Final[list[str]] = [line for lines in TABLE["lines"].values() for line in lines]
SHAPES: Final[dict[str, Any]] = TABLE["shapes"]
_TURN: Final = 10
_OPTIONS: Final = (PermissionOption("once", "Yes", "allow_once"), PermissionOption("no", "No", "reject_once"))


def asked(shape: str) -> Iterator[tuple[str, str]]:
    """The lines that a person is asked about where they come in this shape, each with why."""
    policy = parse_policy(TABLE["policy"])
    for number, line in enumerate(LINES):
        if number % _TURN == 0:  # a session of its own for a few lines: one with hundreds of open calls takes its time
            player = Player(_names(shape))
            player.play(Prompt([msgspec.Raw(b'{"type":"text","text":"go on"}')]))
        for update in SHAPES[shape]["updates"]:
            player.play(Update(_filled(update, number, line)))
        request_id = f"req_{number}"
        player.play(PermissionAsk(request_id, _filled(SHAPES[shape]["ask"], number, line), _OPTIONS))
        about = player.fold.approvals[request_id].about
        assert about is not None
        verdict = policy.decide(about, now_us=0)
        if verdict.action != "allow":
            yield line, verdict.why
        player.act(lambda now, asked=request_id: now.asks.resolve(  # type: ignore[misc]
            asked, approved=True, resolved_by="user", who="tester", option_id="once"))


def _filled(template: str, number: int, line: str) -> bytes:
    return template.replace("@LINE@", json.dumps(line)[1:-1]).replace("@ID@", f"call_{number}").encode()


def _names(shape: str) -> ToolNames:
    specs = catalog.load()
    name = {"claude-cli": "claude-code"}.get(shape, shape)
    return specs[name].tool_names if name in specs else ToolNames()


if __name__ == "__main__":
    for name in SHAPES:
        found = list(asked(name))
        print(f"{name} = {len(found)}")
        for text, why in found:
            print(f"    {text}: {why}")
