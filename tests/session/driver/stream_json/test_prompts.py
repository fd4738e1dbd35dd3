"""A prompt that waits until the CLI has done what it does of its own accord."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.session.driver.stream_json.stage import ClaudeStage, played
from trunkline.dialects.signals import TurnEnd


def test_a_prompt_waits_while_the_cli_works_of_its_own_accord(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)
    go = tmp_path / "go"

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["own"], ["say", "by myself "], ["await", str(go)], ["own_end"])
        await stage.ears.until(TurnEnd)
        await stage.ears.until_text("by myself")
        stage.play(["say", "as you asked"])
        await asyncio.sleep(0)
        assert len(stage.sent("user")) == 1, "it would be folded into the other turn"
        go.touch()
        await stage.ears.until(TurnEnd, 2)
        assert stage.ears.text() == "by myself as you asked"

    played(stage, play())


def test_a_prompt_that_waits_ends_at_once_when_it_is_cancelled(tmp_path: Path) -> None:
    stage = ClaudeStage(tmp_path)

    async def play() -> None:
        await stage.driver.start(None)
        stage.play(["own"], ["say", "by myself"], ["wait"], ["own_end"])
        await stage.ears.until(TurnEnd)
        await stage.ears.until_text("by myself")
        stage.play(["say", "never said"])
        stage.driver.cancel()
        assert (await stage.ears.until(TurnEnd, 2)).stop == "cancelled"
        assert (await stage.turn(["say", "!"])).stop == "end_turn"
        assert stage.ears.text() == "by myself!"

    played(stage, play())
