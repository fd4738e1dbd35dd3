"""Every recorded run of the CLI, through the translator and through the fold."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.dialects.acp.schema import faults
from tests.session.golden import played_run
from tests.tooling.claude_runs import output, runs, story
from tests.tooling.rows import every_row
from tests.tooling.story import check
from tests.tooling.transcripts import Prompt
from trunkline.dialects.acp.reading.decode import decode_tool_call_update
from trunkline.dialects.notes import NOTES, CustomNote
from trunkline.dialects.signals import Malformed, PermissionAsk, QuestionAsk, TurnEnd, Update

RUNS = sorted(runs())
UNENDED = {"signal_SIGTERM": 1, "errors": 4}
"""Runs whose last prompts the CLI never ended: it was killed, or its input was closed."""


@every_row("run", RUNS)
def test_a_recorded_run_keeps_the_rules_of_every_journal(run: str) -> None:
    check(played_run(run))


@every_row("run", RUNS)
def test_every_update_of_a_recorded_run_is_one_of_the_protocol(run: str) -> None:
    for step in story(run):
        if isinstance(step, Update):
            assert not faults("SessionUpdate", step.raw), step.raw[:500]
        elif isinstance(step, PermissionAsk):
            asked = decode_tool_call_update(step.tool_call)
            assert not faults("ToolCallUpdate", step.tool_call) and asked.title
        elif isinstance(step, QuestionAsk):
            assert step.schema is not None and not faults("ElicitationSchema", step.schema)


@every_row("run", RUNS)
def test_notes_of_known_kinds_have_their_body(run: str) -> None:
    for step in story(run):
        assert not (isinstance(step, CustomNote) and step.kind in NOTES), step
        assert not isinstance(step, Malformed)


@every_row("run", RUNS)
def test_every_prompt_of_a_recorded_run_ends_once(run: str) -> None:
    prompts = sum(isinstance(step, Prompt) for step in story(run))
    ends = sum(isinstance(step, TurnEnd) for step in story(run))
    merged = 1 if run == "misc" else 0  # two prompts that were sent during a turn became one
    assert prompts - merged - ends == UNENDED.get(run, 0)


@every_row("run", RUNS)
def test_what_the_model_said_is_told_once(run: str) -> None:
    """The whole blocks are what was said; whatever way it came, it is told once."""
    said: dict[str, str] = {}
    seen: set[str] = set()
    for line in output(run):
        frame = json.loads(line)
        if frame["type"] == "assistant" and frame["uuid"] not in seen:  # a compaction writes again what it keeps
            seen.add(frame["uuid"])
            for block in frame["message"]["content"]:
                if block["type"] in ("text", "thinking"):
                    said[frame["message"]["id"]] = said.get(frame["message"]["id"], "") + block[block["type"]]
    told: dict[str, str] = {}
    for step in story(run):
        update = json.loads(step.raw) if isinstance(step, Update) else {}
        if update.get("sessionUpdate") in ("agent_message_chunk", "agent_thought_chunk"):
            told[update["messageId"]] = told.get(update["messageId"], "") + update["content"]["text"]
    # An answer that was asked for again goes on under the id of the attempt that broke off.
    counted = Counter(told.values())
    assert {text: counted[text] for text in said.values()} == Counter(said.values())


@every_row("run", RUNS)
def test_every_call_is_announced_once_and_told_whole(run: str) -> None:
    calls: dict[str, list[dict[str, Any]]] = {}
    for step in story(run):
        update = json.loads(step.raw) if isinstance(step, Update) else {}
        if update.get("sessionUpdate", "").startswith("tool_call"):
            calls.setdefault(update["toolCallId"], []).append(update)
    for told in calls.values():
        assert [update["sessionUpdate"] for update in told].count("tool_call") == 1 and told[0]["sessionUpdate"] == "tool_call"
        assert any("rawInput" in update for update in told)
        assert sum(update["status"] in ("completed", "failed") for update in told) <= 1
