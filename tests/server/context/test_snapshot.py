"""A session as a client finds it when it joins: its state, and the seq up to which that state goes."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.hub import Hub, HubOptions
from trunkline.server.context.snapshot import Snapshot, snapshot_of


async def taken(tmp_path: Path, stage: Stage) -> Snapshot:
    async with Hub(HubOptions(data=tmp_path / "data", store="memory:")) as hub:
        return await snapshot_of(hub, stage.session)


def test_what_comes_after_the_seq_of_a_snapshot_is_not_in_its_state(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        before = await taken(tmp_path, stage)
        await session.rename("another", by="ann")
        after = await taken(tmp_path, stage)
        assert (before.session_id, before.state.title, after.state.title) == ("ses-1", "", "another")
        assert before.seq < after.seq == session.feed.last_seq == after.state.last_seq

    run(check())


def test_a_snapshot_has_the_agents_commands(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        offered = [{"name": "plan", "description": "Make one"}]
        stage.driver.say(update(sessionUpdate="available_commands_update", availableCommands=offered))
        state = (await taken(tmp_path, stage)).state
        assert state.commands is not None and [command["name"] for command in state.commands] == ["plan"]

    run(check())


def test_only_an_agent_that_the_catalog_knows_has_capabilities(tmp_path: Path) -> None:
    async def check() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        assert (await taken(tmp_path, stage)).state.capabilities is UNSET, "nobody knows a scripted agent"
        session.fold.agent = "demo"
        known = (await taken(tmp_path, stage)).state.capabilities
        assert known is not UNSET and known.agent.name == "demo"

    run(check())
