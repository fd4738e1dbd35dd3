"""What a front end written to the documents sees of every recorded agent: the same shapes, whichever agent sent them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tests.session.golden import FILE_AGENT, FILES, _steps_of_file, played_run
from tests.tooling.claude_runs import runs
from tests.tooling.rows import every_row
from tests.tooling.story import Player
from tests.tooling.transcripts import AGENTS, openings, stories
from trunkline.agents import catalog
from trunkline.server.packets.frames import packet_of
from trunkline.session.interpret import Interpreter

PLAYED = [*AGENTS, "claude-code", "claude-session-file"]
TOOLLESS = {"acp-echo-py", "acp-sdk-py"}
"""Agents of which no tool call was recorded."""

Packet = dict[str, Any]


def tool_packets(player: Player) -> list[Packet]:
    stored = [json.loads(packet) for entry in player.entries if (packet := packet_of(entry)) is not None]
    return [packet for packet in stored if packet["type"] == "tool_call_progress"]


def players(agent: str, *, as_sent: bool = False) -> list[Player]:
    if agent == "claude-code":
        return [played_run(run) for run in runs()]
    spec = catalog.load().get(FILE_AGENT if agent == "claude-session-file" else agent)
    names = spec.tool_names if spec is not None else None
    told = {"": _steps_of_file(next(FILES.rglob("*.jsonl")))} if agent == "claude-session-file" else stories(agent)
    found = []
    for key, steps in told.items():
        player = Player(names)
        if isinstance(key, tuple):
            player.fold.cwd = openings(agent).get(key, (player.fold.cwd, b""))[0]
        player.interpreter = Interpreter(player.fold, tools=names, raw_as_sent=as_sent)
        for step in steps:
            player.play(step)
        player.stop()
        found.append(player)
    return found


@cache
def packets_of(agent: str) -> list[Packet]:
    return [packet for player in players(agent) for packet in tool_packets(player)]


def completed(agent: str, **has: type) -> list[Packet]:
    """Completed calls whose input has these members."""
    return [packet for packet in packets_of(agent) if packet["status"] == "completed"
            and all(isinstance(packet["rawInput"].get(name), kind) for name, kind in has.items())]


WITH_TOOLS = [agent for agent in PLAYED if agent not in TOOLLESS and agent != "claude-session-file"]


@every_row("agent", WITH_TOOLS)
def test_a_command_is_shown_alike(agent: str) -> None:
    ran = [packet for packet in completed(agent, command=str) if packet["rawInput"]["command"].endswith("echo hi")]
    assert ran
    for packet in ran:
        assert isinstance(packet["rawInput"]["description"], str)
        output, metadata = packet["rawOutput"]["output"], packet["rawOutput"]["metadata"]
        assert metadata["output"] == output and metadata["truncated"] is False
        assert metadata["exit"] is None or isinstance(metadata["exit"], int)
        assert agent == "gemini" or output.strip() in ("hi", "")
    if agent != "gemini":  # it never says what a command printed, and an ask under an id of its own prints nothing
        assert "hi" in [packet["rawOutput"]["output"].strip() for packet in ran]


@every_row("agent", [agent for agent in WITH_TOOLS if agent != "hermes"])
def test_a_written_file_is_shown_alike(agent: str) -> None:
    wrote = completed(agent, filePath=str, content=str)
    assert wrote
    for packet in wrote:
        metadata = packet["rawOutput"]["metadata"]
        assert packet["rawOutput"]["output"]
        assert metadata["filepath"] == packet["rawInput"]["filePath"]
        assert metadata["diagnostics"] == {} and metadata["truncated"] is False


@pytest.mark.parametrize("agent", ["claude-agent-acp", "deepagents-acp", "opencode", "qwen"])
def test_a_read_file_is_shown_alike(agent: str) -> None:
    read = [packet for packet in completed(agent, filePath=str) if packet["kind"] == "read"]
    assert read
    for packet in read:
        assert packet["rawOutput"]["output"] == "<file>\n00001| hello\n</file>"
        assert packet["rawOutput"]["metadata"] == {"preview": "hello", "truncated": False}


@every_row("agent", PLAYED)
def test_no_spelling_of_an_agents_own_is_left_of_a_known_member(agent: str) -> None:
    for packet in packets_of(agent):
        assert not {"file_path", "cmd", "oldString", "active_form"} & packet["rawInput"].keys(), packet


@every_row("agent", PLAYED)
def test_a_failed_call_says_why_in_one_member(agent: str) -> None:
    failed = [packet for packet in packets_of(agent) if packet["status"] == "failed" and packet["rawOutput"] is not None]
    assert all(list(packet["rawOutput"]) == ["error"] for packet in failed)


@pytest.mark.parametrize("agent", ["claude-agent-acp", "codex-acp-zed", "qwen"])
def test_the_agents_own_values_are_passed_on_where_that_is_wanted(agent: str) -> None:
    sent = [packet for player in players(agent, as_sent=True) for packet in tool_packets(player)]
    spelled = {key for packet in sent for key in packet["rawInput"]}
    assert {"file_path", "parsed_cmd"} & spelled and "filePath" not in spelled
    outputs = [packet["rawOutput"] for packet in sent if packet["rawOutput"] is not None]
    assert outputs and not any(isinstance(output, dict) and "metadata" in output for output in outputs)


@pytest.mark.parametrize("agent", PLAYED)
def test_titles_and_kinds_are_the_same_either_way(agent: str) -> None:
    if agent == "claude-code":
        pytest.skip("its runs are played by the golden files, in one way")
    sent = [packet for player in players(agent, as_sent=True) for packet in tool_packets(player)]
    assert [(packet["title"], packet["kind"]) for packet in sent] == [
        (packet["title"], packet["kind"]) for packet in packets_of(agent)]
