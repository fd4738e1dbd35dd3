"""Turns: one after the other, each to exactly one end, also where it left very much open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, text, update
from tests.virtual_time import MovableTimeLoop, time_passes
from trunkline.dialects.context.events import ToolCallErrorEvent
from trunkline.dialects.signals import AgentFault, Signal, TurnEnd
from trunkline.errors import AgentStartFailed
from trunkline.session.commands.requests import Decision
from trunkline.session.services import Limits
from trunkline.session.turns import ending


def types(packets: list[dict[str, Any]]) -> list[str]:
    return [packet["type"] for packet in packets]


def call(number: int) -> Signal:
    return update(sessionUpdate="tool_call", toolCallId=f"c{number}", title="Look")


async def ends(stage: Stage) -> list[tuple[str, str]]:
    """Each call that did not end by itself, with how it ended."""
    told = [event for event in await stage.events() if isinstance(event, ToolCallErrorEvent)]
    return [(event.tool_call_id, event.error.code) for event in told]


@pytest.mark.parametrize("count", [ending.CALLS_AT_ONCE // 2, 60])
def test_the_calls_that_a_turn_left_open_end_in_pieces_where_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int,
) -> None:
    monkeypatch.setattr(ending, "HOLD_S", 0.0)

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
        assert between == ({True} if count > ending.CALLS_AT_ONCE else set()), "others have their turn, and the agent waits"
        assert await ends(stage) == [(f"c{number}", "abandoned") for number in range(count)]
        assert not stage.driver.paused and (await stage.packets("prompt_response"))[-1]["type"] == "prompt_response"

    run(play())


def test_a_turn_streams_its_text_and_ends_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        accepted = await stage.send()
        stage.driver.say(text("Hel"), text("lo"))
        stage.driver.end()
        packets = await stage.packets("prompt_response", after=accepted.seq)
        assert types(packets) == ["user_message_chunk", "agent_message_chunk", "agent_message_chunk", "prompt_response"]
        assert "".join(p["content"]["text"] for p in packets[1:3]) == "Hello"
        assert stage.outcomes == ["end_turn"]
        assert stage.session.view().status == "idle"
        assert stage.session.view().last_text == "Hello"

    run(scenario())


def test_a_second_answer_to_the_same_prompt_changes_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(TurnEnd(stop="end_turn"), TurnEnd(stop="refusal"), text("late"))
        await stage.packets("prompt_response")
        await stage.send("again")
        stage.driver.end("max_tokens")
        packets = await stage.packets("prompt_response", 2)
        ends = [p["stopReason"] for p in packets if p["type"] == "prompt_response"]
        assert ends == ["end_turn", "max_tokens"]
        assert any(p["type"] == "agent_message_chunk" and p["content"]["text"] == "late" for p in packets)

    run(scenario())


def test_cancel_answers_open_asks_and_ends_as_cancelled_whatever_the_agent_says(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        assert await session.turns.cancel(by="ann")
        assert stage.driver.told[-2:] == [("cancel",), ("permission", "req-1", None)]
        stage.driver.ask("req-2", toolCallId="call-2")
        await stage.until(lambda: len(stage.driver.known_call("permission")) == 2)
        assert stage.driver.known_call("permission")[1] == ("permission", "req-2", None)
        stage.driver.say(TurnEnd(error=AgentFault(-32603, "interrupted")))
        packets = await stage.packets("prompt_response")
        assert packets[-1]["stopReason"] == "cancelled"
        assert not await session.turns.cancel(by="ann")

    run(scenario())


def test_a_second_cancel_stops_an_agent_that_will_not_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        await session.turns.cancel(by="ann")
        assert session.busy
        await session.turns.cancel(by="ann")
        packets = await stage.packets("prompt_response")
        assert packets[-1]["stopReason"] == "cancelled"
        await stage.until(lambda: bool(stage.driver.known_call("stop")))

    run(scenario())


def test_a_dying_agent_ends_its_turn_with_one_error_and_starts_again_for_the_next(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="c", title="T", status="in_progress"))
        stage.driver.die(3, "no space left\n")
        packets = await stage.packets("error")
        error = packets[-1]
        assert (error["code"], error["details"]["code"], error["details"]["exitCode"]) == (None, "agent_exited", 3)
        assert "no space left" in error["message"]
        assert [p["status"] for p in packets if p["type"] == "tool_call_progress"] == ["in_progress", "failed"]
        await stage.send("again")
        await stage.until(lambda: len(stage.drivers) == 2 and bool(stage.driver.known_call("prompt")))
        assert stage.driver.told[0] == ("start", "agent-1")
        assert any(event.meta and event.meta.get("how") == "new" for event in await stage.events()
                   if type(event).__name__ == "SessionResumedEvent")

    run(scenario())


def test_an_agent_that_cannot_start_fails_the_turn_with_its_own_code(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        stage.driver.die()
        make = stage._make_driver

        def broken(opened: Any) -> Any:
            driver = make(opened)
            driver.refuses_to_start = AgentStartFailed("it exited at once")
            return driver

        session.agent._link._make_driver = lambda: broken(session)
        await stage.send()
        packets = await stage.packets("error")
        assert packets[-1]["details"]["code"] == "agent_start_failed"
        assert session.view().status == "error"

    run(scenario())


def test_silence_cancels_then_ends_the_turn_but_not_while_a_person_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(idle_timeout=1))
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        await stage.packets("approval_requested")
        await time_passes(3)
        assert not stage.driver.known_call("cancel"), "the clock stands still while an approval is open"
        await session.approvals.decide("req-1", Decision(decision="allow"), by="ann")
        await time_passes(1)
        await stage.until(lambda: bool(stage.driver.known_call("cancel")))
        stage.driver.end("cancelled")
        packets = await stage.packets("error")
        assert packets[-1]["details"]["code"] == "idle_timeout"

    run(scenario(), loop=MovableTimeLoop)


def test_whatever_goes_wrong_in_the_hub_a_turn_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        stage = Stage(tmp_path)
        session = await stage.open()

        async def broken() -> None:
            raise RuntimeError("a bug")

        stage.driver.die()
        monkeypatch.setattr(session.agent._link, "ensure", broken)
        await stage.send()
        packets = await stage.packets("error")
        assert "a bug" in packets[-1]["message"] and packets[-1]["details"]["code"] == "internal"
        assert session.view().status == "error"

    run(scenario())
