"""What is done when a turn ends: calls that it left open end, and its end is written down."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.script import OPTIONS, Stage, update
from trunkline.dialects.context.events import ToolCallErrorEvent
from trunkline.dialects.signals import AgentFault, PermissionAsk, Signal, TurnEnd
from trunkline.session.turns import ending


def call(number: int) -> Signal:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look")


async def ends(stage: Stage) -> list[tuple[str, str]]:
    """Each call that did not end by itself, with how it ended."""
    told = [event for event in await stage.events() if isinstance(event, ToolCallErrorEvent)]
    return [(event.tool_call_id, event.error.code) for event in told]


def test_a_call_that_was_asked_about_still_says_why_it_did_not_run(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        about = msgspec.json.encode({"toolCallId": "asked", "title": "Run it", "rawInput": {"command": "make"}})
        stage.driver.say(PermissionAsk("req-1", about, OPTIONS), *(call(number) for number in range(ending.CALLS_AT_ONCE + 1)))
        await stage.until(lambda: not session.agent._intake.waits)
        stage.driver.end()
        await stage.packets("prompt_response")
        assert ("asked", "denied") in await ends(stage)

    run(play())


def test_a_few_open_calls_are_left_to_the_end_itself(tmp_path: Path) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(call(1), call(2))
        turn = session.fold.turn
        assert turn is not None
        await session.agent._player._ending.end_calls(turn, TurnEnd(stop="end_turn"))
        assert not any(each.finished for each in session.fold.calls.values())
        stage.driver.end()
        await stage.packets("prompt_response")
        assert await ends(stage) == [("c1", "abandoned"), ("c2", "abandoned")]

    run(play())


@pytest.mark.parametrize(("code", "name"), [(-32000, "agent_auth_required"), (-32603, "agent_error")])
def test_an_error_of_the_agents_ends_the_turn_under_its_own_code(tmp_path: Path, code: int, name: str) -> None:
    async def play() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(TurnEnd(error=AgentFault(code, "no", b'{"why":"log in"}')))
        error = (await stage.packets("error"))[-1]
        assert (error["message"], error["details"]["code"]) == ("no", name)
        assert stage.outcomes == [name]

    run(play())


def test_what_cannot_be_looked_for_keeps_no_turn_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        faults: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["message"]))

        async def broken() -> None:
            raise OSError("no such disk")

        stage = Stage(tmp_path)
        session = await stage.open()
        monkeypatch.setattr(session._finder, "look", broken)
        await stage.send()
        stage.driver.end()
        assert (await stage.packets("prompt_response"))[-1]["stopReason"] == "end_turn"
        assert faults == ["artifacts could not be looked for"]

    run(play())
