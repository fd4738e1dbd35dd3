"""What is known of agents, what they may see, and which sessions they have."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import run
from tests.hub.stage import DEMO, options, turn, work
from trunkline.agents.catalog import adhoc
from trunkline.dialects.acp.initialize import AgentCapabilities
from trunkline.errors import HubStopping
from trunkline.hub import Hub, HubOptions, NewSession
from trunkline.hub.agents import lend_env


def test_the_callers_variables_reach_the_agent_only_if_allowed_and_are_not_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            env = {"PATH": "/caller/bin:/usr/bin:/bin", "TRUNKLINE_TOKEN": "t0ken", "RANDOM_SECRET": "s3cret"}
            session = await hub.create(NewSession(agent="fast", cwd=work(tmp_path), env=env), by="test")
            assert session.env == {"PATH": "/caller/bin:/usr/bin:/bin"}
            await turn(session, "/echo x")
        stored = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file())
        assert b"s3cret" not in stored and b"/caller/bin" not in stored

    run(scenario())


def test_who_asks_for_an_agents_sessions_while_the_hub_is_stopped_is_told_so(tmp_path: Path) -> None:
    async def check() -> None:
        silent = adhoc("silent", f"{DEMO} --fault silent")
        hub = Hub(HubOptions(data=tmp_path / "data", store="memory:", agents={"silent": silent}))
        async with hub:
            asking = asyncio.create_task(hub.agent_sessions("silent"))
            await asyncio.sleep(0)
        with pytest.raises(HubStopping):
            await asking

    run(check())


def test_what_an_agent_said_of_itself_is_known_to_the_next_hub(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(options(tmp_path)) as hub:
            assert (await hub.capabilities_of("fast")).session.fork is None, "it never ran"
            await hub.create(NewSession(agent="fast", cwd=work(tmp_path)), by="test")
            said = await hub.capabilities_of("fast")
            (info,) = [each for each in await hub.agent_infos() if each.name == "fast"]
            assert said != AgentCapabilities() and bytes(info.capabilities) != b"null"
        async with Hub(options(tmp_path)) as hub:
            assert await hub.capabilities_of("fast") == said
            assert await hub.capabilities_of("nobody") == AgentCapabilities()

    run(scenario())


def test_variables_for_the_next_start_add_to_those_that_a_session_has() -> None:
    spec = adhoc("mine", "my-agent")
    session: Any = SimpleNamespace(env={"PATH": "/bin", "LANG": "C"})
    lend_env(session, {"PATH": "/usr/bin", "RANDOM_SECRET": "s3cret"}, spec)
    assert session.env == {"PATH": "/usr/bin", "LANG": "C"}
