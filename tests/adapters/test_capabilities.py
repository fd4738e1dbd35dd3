"""What an agent, or one session with it, can do: nothing is promised that no run has shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tests.adapters.agents import library
from tests.aio import run
from tests.session.golden import STREAM_AGENT
from trunkline.adapters.capabilities import ACTS, agent_capabilities, session_capabilities
from trunkline.agents import catalog
from trunkline.agents.catalog.features import BY_PROTOCOL, flags_of
from trunkline.dialects.context.types import StartSessionOptions
from trunkline.session.fold import Fold


def test_what_a_running_agent_says_of_itself_counts_for_its_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            adapter = line.adapter("demo-fast")
            assert "multimodal" not in flags_of(adapter.get_capabilities().features), "of this command nothing is known yet"
            session = await adapter.start_session(StartSessionOptions(project_path=str(tmp_path), prompt="/silent"))
            assert "multimodal" in flags_of(session.capabilities.features)

    run(scenario())


def test_only_an_agent_that_can_be_told_says_that_a_tools_input_can_be_changed() -> None:
    told = {name: agent_capabilities(spec).meta for name, spec in catalog.load().items()}
    assert told.pop(STREAM_AGENT) == {"approval": {"updatedInput": True}}
    assert set(told.values()) == {msgspec.UNSET}


def fold(**fields: Any) -> Fold:
    return Fold(session_id="s", agent="demo", cwd="/w", created_at=0, updated_at=0, **fields)


def test_a_session_has_the_flags_that_it_has_shown_itself() -> None:
    spec = catalog.adhoc("quiet", "quiet")
    assert flags_of(session_capabilities(spec, fold()).features) == set(BY_PROTOCOL)
    assert flags_of(session_capabilities(spec, fold(shown=["git"])).features) == {*BY_PROTOCOL, "git"}
    images = fold(agent_capabilities=msgspec.Raw(b'{"promptCapabilities":{"image":true}}'))
    assert "multimodal" in flags_of(session_capabilities(spec, images).features)


def test_a_session_that_is_only_followed_offers_no_way_to_act() -> None:
    followed = session_capabilities(catalog.adhoc("quiet", "quiet"), fold(watches="/x.jsonl", shown=["git", *ACTS]))
    assert followed.agent.integration_method == "file-watch"
    assert "git" in flags_of(followed.features) and not flags_of(followed.features) & {*ACTS, "sessionControl.cancel"}


def test_the_version_is_the_one_that_the_agent_gave_where_it_can_be_read() -> None:
    spec = catalog.adhoc("quiet", "quiet")
    known = session_capabilities(spec, fold(agent_info=msgspec.Raw(b'{"name":"quiet","version":"1.2"}')))
    assert (known.agent.version, session_capabilities(spec, fold()).agent.version) == ("1.2", None)
