"""The end of a turn that left very much open."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects.context.events import ToolCallErrorEvent
from trunkline.dialects.signals import PermissionAsk, Signal
from trunkline.session.turns import turn


def call(number: int) -> Signal:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look")


async def ends(stage: Stage) -> list[tuple[str, str]]:
    """Each call that did not end by itself, with how it ended."""
    told = [event for event in await stage.events() if isinstance(event, ToolCallErrorEvent)]
    return [(event.tool_call_id, event.error.code) for event in told]


@pytest.mark.parametrize("count", [turn.CALLS_AT_ONCE // 2, 60])
def test_the_calls_that_a_turn_left_open_end_in_pieces_where_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int,
) -> None:
    monkeypatch.setattr(turn, "HOLD_S", 0.0)

    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(*(call(number) for number in range(count)))
        calls = session.fold.calls
        seen: set[tuple[int, bool]] = set()

        def is_over() -> bool:
            seen.add((sum(each.finished for each in calls.values()), stage.driver.paused))
            return session.fold.turn is None

        stage.driver.end()
        await stage.until(is_over)
        between = {paused for finished, paused in seen if 0 < finished < count}
        assert between == ({True} if count > turn.CALLS_AT_ONCE else set()), "others have their turn, and the agent waits"
        assert await ends(stage) == [(f"c{number}", "abandoned") for number in range(count)]
        assert not stage.driver.paused and (await stage.packets("prompt_response"))[-1]["type"] == "prompt_response"

    run(play(), timeout_s=30)


def test_a_call_that_was_asked_about_still_says_why_it_did_not_run(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        about = msgspec.json.encode({"toolCallId": "asked", "title": "Run it", "rawInput": {"command": "make"}})
        stage.driver.say(PermissionAsk("req-1", about, OPTIONS), *(call(number) for number in range(turn.CALLS_AT_ONCE + 1)))
        await stage.until(lambda: not session._intake.waits)
        stage.driver.end()
        await stage.packets("prompt_response")
        assert ("asked", "denied") in await ends(stage)

    run(play(), timeout_s=30)
