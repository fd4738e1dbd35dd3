"""Recorded traffic of ten real agents, and traffic no agent ever sent: whatever comes in, what comes out keeps the rules."""

from __future__ import annotations

import json
from collections import Counter

import msgspec
from hypothesis import HealthCheck, given, settings

from tests.tooling.examples import examples
from tests.tooling.nonsense import ACTS, UPDATES, Act
from tests.tooling.rows import every_row
from tests.tooling.story import Player, check, packets_of, played
from tests.tooling.transcripts import AGENTS, Prompt, Step, prompts_of, stories
from trunkline.dialects.signals import PermissionAsk, TurnEnd, Update

GO = Prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])

CHUNKS = ("agent_message_chunk", "agent_thought_chunk")
STORIES = [(agent, run, session_id) for agent in AGENTS for run, session_id in stories(agent)]


def story(agent: str, run: str, session_id: str) -> list[Step]:
    return stories(agent)[run, session_id]


def chunks_sent(steps: list[Step]) -> Counter[str]:
    """Chunks by kind, as the agent sent them; echoes of the prompt are not the agent's."""
    kinds = (json.loads(step.raw)["sessionUpdate"] for step in steps if isinstance(step, Update))
    return Counter(kind for kind in kinds if kind in CHUNKS)


def test_the_transcripts_of_ten_agents_are_here() -> None:
    assert len(AGENTS) == 10


@every_row(("agent", "run", "session_id"), STORIES)
def test_a_recorded_session_folds_to_entries_that_keep_every_rule(agent: str, run: str, session_id: str) -> None:
    check(played(story(agent, run, session_id)))


@every_row(("agent", "run", "session_id"), STORIES)
def test_each_recorded_turn_becomes_one_end_with_the_reason_the_agent_gave(agent: str, run: str, session_id: str) -> None:
    steps = story(agent, run, session_id)
    ends = [packet for packet in packets_of(played(steps).entries) if packet["type"] in ("prompt_response", "error")]
    assert len(ends) == len(list(prompts_of(steps)))
    told = [step for step in steps if isinstance(step, TurnEnd)]
    for end, packet in zip(told, ends, strict=False):
        if packet["type"] == "error":
            assert end.error is not None and packet["code"] == end.error.code
        else:
            assert packet["stopReason"] in (end.stop, "cancelled")


@every_row(("agent", "run", "session_id"), STORIES)
def test_no_recorded_chunk_is_merged_or_lost(agent: str, run: str, session_id: str) -> None:
    steps = story(agent, run, session_id)
    packets = packets_of(played(steps).entries)
    sent = Counter(packet["type"] for packet in packets if packet["type"] in CHUNKS)
    assert sent == chunks_sent(steps)


@every_row(("agent", "run", "session_id"), STORIES)
def test_every_recorded_permission_is_asked_and_resolved(agent: str, run: str, session_id: str) -> None:
    steps = story(agent, run, session_id)
    kinds = Counter(packet["type"] for packet in packets_of(played(steps).entries))
    asked = sum(isinstance(step, PermissionAsk) for step in steps)
    assert kinds["approval_requested"] == kinds["approval_resolved"] == asked


def test_the_agents_that_can_do_something_really_did_something() -> None:
    """Were the transcripts read wrongly, the other tests would pass on nothing."""
    for agent in set(AGENTS) - {"acp-echo-py", "acp-sdk-py"}:
        kinds: Counter[str] = Counter()
        for steps in stories(agent).values():
            kinds += Counter(packet["type"] for packet in packets_of(played(steps).entries))
        assert kinds["agent_message_chunk"] > 100, agent
        assert kinds["tool_call_start"] >= 8, agent
        assert kinds["approval_requested"] >= 3, agent
        assert kinds["prompt_response"] >= 10, agent


def test_a_prompt_is_written_before_anything_it_causes() -> None:
    player = Player()
    player.play(GO)
    assert packets_of(player.entries)[0]["type"] == "user_message_chunk"
    assert json.loads(player.entries[0].event)["eventName"] == "turn_started"


@settings(max_examples=examples(60, 500), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(ACTS)
def test_no_sequence_of_signals_and_acts_breaks_the_fold(acts: list[Act]) -> None:
    player = Player()
    player.play(GO)
    for act in acts:
        act(player)
    player.stop()
    check(player)


@given(UPDATES)
def test_every_update_leaves_a_trace(update: Step) -> None:
    """Nothing is dropped silently: whatever an agent sends, an entry tells of it."""
    player = Player()
    player.play(GO)
    before = len(player.entries)
    player.play(update)
    assert len(player.entries) > before
