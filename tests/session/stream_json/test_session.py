"""Sessions of a hub with a scripted Claude CLI: prompted, restarted, forked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.stream_json.stage import ClaudeStage
from trunkline.agents import catalog
from trunkline.dialects.acp import TextContent
from trunkline.errors import Invalid, Unsupported
from trunkline.hub import Hub, HubOptions, NewSession, Session


@asynccontextmanager
async def claude_hub(folder: Path, **options: Any) -> AsyncIterator[tuple[Hub, ClaudeStage]]:
    """A hub whose Claude is the scripted one; the stage reads its log."""
    stage = ClaudeStage(folder, **options)
    spec = msgspec.structs.replace(stage.spec, env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "CLAUDE_CONFIG_DIR": str(folder)})
    agents = {"claude-code": spec, "demo": catalog.load()["demo"]}
    async with Hub(HubOptions(data_dir=folder / "data", memory=True, agents=agents)) as hub:
        yield hub, stage


async def turn(session: Session, *steps: Any) -> list[dict[str, Any]]:
    """Play steps; returns the events of the turn."""
    accepted = await session.send([TextContent(text=json.dumps(steps))], by="ann")
    while session.fold.turn is not None:
        await session.feed.wait(session.feed.last_seq)
    return [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=accepted.seq)]


def test_a_session_is_played_and_knows_its_agents_modes_models_and_commands(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path), mode="plan"), by="ann")
            events = await turn(session, ["say", "Hello"])
            assert "Hello" in [event["delta"] for event in events if event["type"] == "message:delta"]
            view = session.view()
            assert view.mode == "default", "the CLI says so at the turn's beginning"
            assert [command["name"] for command in await session.commands() or []] == ["compact"]

    run(check(), 30)


def test_a_turn_that_needs_a_login_ends_with_the_error_of_that_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            events = await turn(session, ["result", {"is_error": True, "result": "Not logged in · Please run /login"}])
            (error,) = [event["error"] for event in events if event["type"] == "session:error"]
            assert error["code"] == "agent_auth_required" and "ANTHROPIC_API_KEY" in error["message"]

    run(check(), 30)


def test_a_fork_begins_with_its_sources_conversation_under_an_id_of_its_own(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, stage):
            source = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path), title="The tree"), by="ann")
            with pytest.raises(Invalid, match="nothing was said"):
                await hub.fork(source.id, by="ann")
            await turn(source, ["say", "Hello"])
            branch = await hub.fork(source.id, by="ann")
            assert branch.fold.agent_start == "forked" and branch.fold.title == "The tree"
            assert branch.fold.agent_session_id not in (None, source.fold.agent_session_id)
            assert f"--resume={source.fold.agent_session_id}" in stage.argv(1) and "--fork-session" in stage.argv(1)
            await branch.terminate(by="ann")
            await branch.resume(by="ann")
            assert stage.argv(2)[-1] == f"--resume={branch.fold.agent_session_id}", "it is forked once"

    run(check(), 30)


def test_a_session_of_another_agent_cannot_be_forked(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="demo", cwd=str(tmp_path)), by="ann")
            with pytest.raises(Unsupported, match="cannot be forked"):
                await hub.fork(session.id, by="ann")

    run(check(), 30)


def test_a_cancelled_turn_whose_cli_does_not_react_is_ended_all_the_same(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path, silent=["interrupt"]) as (hub, stage):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            await session.send([TextContent(text=json.dumps([["say", "one"], ["hang"]]))], by="ann")
            await stage.until_sent("user")
            await session.cancel(by="ann")
            assert await session.cancel(by="ann"), "asked again, the CLI is ended"
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            events = await turn(session, ["say", "two"])
            assert "two" in [event["delta"] for event in events if event["type"] == "message:delta"]
            assert any(word.startswith("--resume=") for word in stage.argv(1))
            await asyncio.sleep(0)

    run(check(), 60)
