"""A session as a whole: what is set in it, what comes of its folder, its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.errors import Invalid


def types(packets: list[dict[str, Any]]) -> list[str]:
    return [packet["type"] for packet in packets]


def test_mode_options_and_title_are_journaled(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_mode("plan", by="ann")
        await session.settings.set_config("model", "large", by="ann")
        await session.rename("  A title ", by="ann")
        assert (session.view().mode, session.view().title) == ("plan", "A title")
        assert stage.driver.told[-2:] == [("mode", "plan"), ("config", "model", "large")]
        with pytest.raises(Invalid):
            await session.rename("  ", by="ann")
        stage.driver.say(update(sessionUpdate="session_info_update", title="the agent's title"))
        assert session.view().title == "A title", "a person's title wins over the agent's"

    run(scenario())


def test_what_an_agent_makes_through_its_client_is_found_and_what_people_upload_is_not_its_work(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send("talk")
        stage.driver.end()
        await stage.packets("prompt_response")
        (tmp_path / "mine.txt").write_text("a person's")
        await session.uploaded(str(tmp_path / "mine.txt"))
        await stage.send("write")
        session.agent.acted(["make"])
        (tmp_path / "made.txt").write_text("the agent's")
        (tmp_path / b"\xff".decode("utf-8", "surrogateescape")).write_text("no name at all")
        stage.driver.end()
        packets = await stage.packets("prompt_response", 2)
        assert types(packets)[-2:] == ["artifact_created", "prompt_response"]
        assert [artifact.name for artifact in session.artifacts()] == ["made.txt"]

    run(scenario())
