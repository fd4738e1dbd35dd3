"""What ten real agents sent really becomes files, commands and their exit codes."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from tests.tooling.rows import every_row
from tests.tooling.story import check, played
from tests.tooling.transcripts import AGENTS, stories
from trunkline.agents import catalog

WITH_TOOLS = [agent for agent in AGENTS if not agent.startswith("acp-")]
TELLS_NO_EXIT_CODE = {"gemini", "claude-agent-acp"}
"""The one shows neither what a command printed nor how it ended, the other only what it printed."""

NEVER_ASKED = {"qwen"}
"""It wrote the file that it would have been refused without asking."""


@functools.cache
def events_of(agent: str) -> list[dict[str, Any]]:
    """All events of an agent's recording."""
    spec = catalog.load().get(agent)
    found: list[dict[str, Any]] = []
    for steps in stories(agent).values():
        player = played(steps, spec.tool_names if spec else None)
        check(player)
        found += [msgspec.json.decode(entry.event) for entry in player.entries]
    return found


@every_row("agent", WITH_TOOLS)
def test_a_recorded_write_is_a_new_file_of_one_line(agent: str) -> None:
    changes = [event for event in events_of(agent) if event["type"] == "file:change"]
    first = next(change for change in changes if change["path"] == "/home/dev/project/a.txt")
    assert (first["changeType"], first["linesAdded"], first["linesRemoved"], first["language"]) == ("created", 1, 0, "text")
    assert first["diff"].startswith("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hello")


@every_row("agent", WITH_TOOLS)
def test_a_rejected_write_changes_no_file(agent: str) -> None:
    changed = [event["path"] for event in events_of(agent) if event["type"] == "file:change" and "r.txtw" in event["path"]]
    assert changed == ([] if agent not in NEVER_ASKED else ["/home/dev/project-2/r.txtw"])


@every_row("agent", [agent for agent in WITH_TOOLS if agent not in TELLS_NO_EXIT_CODE])
def test_a_recorded_command_has_its_exit_code_and_what_it_printed(agent: str) -> None:
    outputs = [event["structured"] for event in events_of(agent)
               if event["type"] == "tool:result" and event.get("structured", {}).get("type") == "command_output"]
    printed = {output["stdout"].strip() for output in outputs}
    assert {"hi", "one", "two"} <= printed
    assert {output["exitCode"] for output in outputs} == {0}


@every_row("agent", WITH_TOOLS)
def test_the_tools_of_every_agent_go_by_the_same_names(agent: str) -> None:
    found = {event["name"] for event in events_of(agent) if event["type"] == "tool:start"}
    assert found <= {"bash", "read", "write", "edit"}, found


@every_row("agent", WITH_TOOLS)
def test_every_recorded_command_is_judged(agent: str) -> None:
    judged = [event for event in events_of(agent) if event["type"] == "tool:executing"]
    assert judged and all(event["_meta"]["risk"]["reason"] for event in judged)
    assert {event["riskLevel"] for event in judged} <= {"low", "medium", "high"}, "nothing in them is critical"
