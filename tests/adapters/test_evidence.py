"""Capabilities are true: a flag is set exactly where a recorded or live run of the agent gave the thing."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.evidence import RECORDED, SHOWN, shown_by, shown_by_file, shown_by_recording, shown_by_stream
from tests.session.golden import STREAM_AGENT
from tests.session.test_coverage import visited
from tests.tooling.rows import every_row
from trunkline import discovery
from trunkline.agents import catalog
from trunkline.agents.catalog.features import BY_PROTOCOL, FLAGS

UNRECORDED = sorted(catalog.load().keys() - set(RECORDED) - {"demo", STREAM_AGENT})
BY_THE_HUB = {"sessionControl.pause", "sessionControl.resume"}
"""What the hub does itself, for any agent."""


@every_row("agent", RECORDED)
def test_a_recorded_agent_has_the_flags_that_its_recording_shows_and_no_other(agent: str) -> None:
    shown = shown_by_recording(agent)
    assert {*BY_PROTOCOL} - BY_THE_HUB <= shown, "what every agent has by protocol, this one was seen to have"
    assert sorted(catalog.load()[agent].features) == sorted(shown - {*BY_PROTOCOL}), "python -m tests.adapters.evidence"


def test_the_agent_with_a_stream_of_its_own_has_the_flags_that_its_runs_show_and_no_other() -> None:
    shown = shown_by_stream()
    assert {*BY_PROTOCOL} - BY_THE_HUB <= shown
    assert sorted(catalog.load()[STREAM_AGENT].features) == sorted(shown - {*BY_PROTOCOL}), "python -m tests.adapters.evidence"


@every_row("agent", UNRECORDED)
def test_an_agent_that_was_never_recorded_claims_nothing_of_its_own(agent: str) -> None:
    assert catalog.load()[agent].features == ()


def test_the_demo_has_the_flags_that_a_live_run_shows(tmp_path: Path) -> None:
    events, _ = visited(tmp_path, "Show me around", "/question", "/limit 0", "/plan")
    claimed = {*catalog.load()["demo"].features, *BY_PROTOCOL} - BY_THE_HUB
    assert claimed - shown_by(events) == {"sessionControl.cancel", "multimodal"}, "neither is a matter of these prompts"
    assert shown_by(events) <= claimed


def test_a_store_has_the_flags_that_following_its_recorded_file_shows() -> None:
    store = discovery.store_of("claude", "/nowhere")
    assert store is not None and sorted(store.features) == sorted(shown_by_file())


def test_every_flag_has_its_evidence() -> None:
    assert {*SHOWN} | BY_THE_HUB | {"multimodal"} == {*FLAGS}


def test_agents_that_were_not_seen_to_ask_do_not_promise_to() -> None:
    asking = {name for name, spec in catalog.load().items() if "approval.toolCalls" in spec.features}
    assert asking == {*RECORDED, "demo", STREAM_AGENT}
