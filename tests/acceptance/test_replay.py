"""Ten real agents, replayed line by line into a real hub: what they said comes out over HTTP, in exactly the packets' shapes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dialects.packets.shapes_check import validate_packet
from tests.tooling.hub_process import PYTHON, HubProcess, Session
from tests.tooling.replay_agent import moved
from tests.tooling.transcripts import AGENTS, FOLDER, Cancel, Decision, Prompt, Step, stories
from tests.tooling.wire import Stream
from trunkline.dialects.signals import PermissionAsk, TurnEnd, Update

RUNS = ("allow", "reject", "bare")
REPLAY = f"{PYTHON} {shlex.quote(str(FOLDER.parents[1] / 'tooling' / 'replay_agent.py'))}"
AGENT_COMMANDS = {f"{agent}-{run}": f"{REPLAY} {shlex.quote(str(FOLDER / f'{agent}.jsonl'))} {run}"
                  for agent in AGENTS for run in RUNS}


UNASKED_WRITES = """
[[rules]]
agent = ["qwen-*"]
category = ["file_write", "file_edit"]
action = "allow"
"""
"""This agent has its client write a file without asking first; nobody was there to be asked when it was recorded."""


@pytest.fixture(scope="module")
def replaying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with HubProcess(tmp_path_factory.mktemp("hub"), agents=AGENT_COMMANDS, policy=UNASKED_WRITES) as hub:
        yield hub


def first_story(agent: str, run: str) -> list[Step]:
    """What happened in the first session that the agent made in this run."""
    told = [steps for (name, _), steps in stories(agent).items() if name == run]
    return next(steps for steps in told if any(isinstance(step, Prompt) for step in steps))


def turns_of(steps: list[Step]) -> list[tuple[Prompt, list[Step], TurnEnd]]:
    """Each prompt with what followed and how it ended."""
    turns: list[tuple[Prompt, list[Step], TurnEnd]] = []
    prompt: Prompt | None = None
    between: list[Step] = []
    for step in steps:
        if isinstance(step, Prompt):
            prompt, between = step, []
        elif isinstance(step, TurnEnd) and prompt is not None:
            turns.append((prompt, between, step))
            prompt, between = None, []
        else:
            between.append(step)
    return turns


def texts_of(steps: list[Step], folder: str) -> list[str]:
    """The text chunks in a list of steps, as they read in a session in this folder."""
    updates = [json.loads(moved(step.raw.decode(), folder)) for step in steps if isinstance(step, Update)]
    return [update["content"]["text"] for update in updates
            if update["sessionUpdate"] in ("agent_message_chunk", "agent_thought_chunk") and update["content"]["type"] == "text"]


def play(session: Session, stream: Stream, prompt: Prompt, between: list[Step]) -> list[dict[str, Any]]:
    """One turn: prompt, decide and cancel as the recorded client did; returns the packets up to its end."""
    start = len(stream.seen)
    session.post("send-message", {"content": [json.loads(bytes(block)) for block in prompt.blocks]}, 202)
    open_asks: dict[str, str] = {}
    for step in between:
        if isinstance(step, PermissionAsk):
            open_asks[step.request_id] = stream.until("approval_requested").value["requestId"]
        elif isinstance(step, Decision) and step.option_id is not None:
            session.post(f"permissions/{open_asks[step.request_id]}", {"optionId": step.option_id})
        elif isinstance(step, Cancel):
            session.post("cancel")
    stream.until("prompt_response", "error")
    packets = [packet.value for packet in stream.seen[start:]]
    for packet in packets:
        validate_packet(packet)
    return packets


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_recorded_agent_is_understood_over_http(replaying: HubProcess, agent: str, run: str) -> None:
    session = replaying.new_session(f"{agent}-{run}")
    turns = turns_of(first_story(agent, run))
    assert turns
    with session.attach(wait_s=60) as stream:
        for prompt, between, end in turns:
            packets = play(session, stream, prompt, between)
            told = packets[-1]
            if any(isinstance(step, Cancel) for step in between):
                assert told["stopReason"] == "cancelled"
            elif end.error is not None:
                assert (told["type"], told["code"], told["details"]["code"]) == ("error", end.error.code, "agent_error")
            else:
                assert told["stopReason"] == end.stop
            said = [packet["content"]["text"] for packet in packets
                    if packet["type"] in ("agent_message_chunk", "agent_thought_chunk")]
            sent = texts_of(between, str(session.folder))
            assert [text for text in said if text in sent] == sent, "every chunk came, in order"
            asked = [packet["requestId"] for packet in packets if packet["type"] == "approval_requested"]
            resolved = [packet["requestId"] for packet in packets if packet["type"] == "approval_resolved"]
            assert sorted(asked) == sorted(resolved)
            started = {packet["toolCallId"] for packet in packets if packet["type"] == "tool_call_start"}
            last = {packet["toolCallId"]: packet["status"] for packet in packets if packet["type"] == "tool_call_progress"}
            assert all(last[call] in ("completed", "failed") for call in started), "every call that starts ends with its turn"
    assert session.view()["status"] == "idle"
    session.delete()
