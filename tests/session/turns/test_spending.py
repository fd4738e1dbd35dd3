from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.dialects.signals import TurnEnd
from trunkline.errors import HubRestarted, Invalid
from trunkline.session.commands.requests import Answer
from trunkline.session.fold import checkpoint, restore
from trunkline.session.fold.caps import Caps
from trunkline.session.session import Session
from trunkline.session.turns.spending import DOUBLE, LIFT, STAY


def spent(amount: float) -> object:
    return update(sessionUpdate="usage_update", used=10, size=100, cost={"amount": amount, "currency": "USD"})


async def titles(stage: Stage) -> list[str]:
    events = [msgspec.json.decode(entry.event) for entry in await stage.session.feed.read(after=0)]
    return [event["title"] for event in events if event["type"] == "interaction:notification"]


def test_four_fifths_are_told_and_the_whole_holds_the_session_and_asks(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_limits(Caps(cost=1.0), None, by="ann")
        await stage.send()
        stage.driver.say(spent(0.5))  # type: ignore[arg-type]
        stage.driver.say(spent(0.85))  # type: ignore[arg-type]
        await session.snapshot()
        assert await titles(stage) == ["A limit is near"]
        stage.driver.say(spent(1.2))  # type: ignore[arg-type]
        await stage.until(lambda: bool(stage.driver.known_call("cancel")))
        await session.snapshot()
        assert await titles(stage) == ["A limit is near", "A limit is reached"]
        assert session.view().status == "paused"
        stage.driver.end("cancelled")
        await stage.packets("prompt_response")
        (question,) = session.view().pending_questions
        assert question.options == [LIFT, DOUBLE, STAY]
        await session.approvals.answer(question.question_id, Answer(content={"choice": DOUBLE}), by="ann")
        assert session.view().caps == Caps(cost=2.0)
        assert session.view().status == "idle"
        assert stage.driver.known_call("question") == [], "the agent did not ask"

    run(scenario())


def test_who_stays_paused_stays_paused(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_limits(Caps(turns=1), None, by="ann")
        await stage.send()
        stage.driver.say(TurnEnd(stop="end_turn"))
        await stage.packets("prompt_response")
        await stage.until(lambda: bool(session.view().pending_questions))
        (question,) = session.view().pending_questions
        await session.approvals.answer(question.question_id, Answer(content={"choice": STAY}), by="ann")
        assert (session.view().status, session.view().caps) == ("paused", Caps(turns=1))

    run(scenario())


def test_without_caps_nothing_is_watched_and_tokens_count_both_ways(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        usage = msgspec.json.encode({"inputTokens": 900, "outputTokens": 200})
        stage.driver.say(TurnEnd(stop="end_turn", usage=usage))
        await stage.packets("prompt_response")
        assert await titles(stage) == []
        await session.settings.set_limits(Caps(tokens=1000), None, by="ann")
        assert session.view().status == "paused", "what was spent before the cap counts"

    run(scenario())


async def over_two_caps(stage: Stage) -> None:
    session = await stage.open()
    await session.settings.set_limits(Caps(tokens=100, cost=1.0), None, by="ann")
    await stage.send()
    usage = msgspec.json.encode({"inputTokens": 90, "outputTokens": 20})
    stage.driver.say(spent(2), TurnEnd(stop="end_turn", usage=usage))  # type: ignore[arg-type]
    await stage.packets("prompt_response")


def test_two_caps_reached_at_once_hold_once_and_cancel_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_limits(Caps(minutes=0.001, cost=1.0), None, by="ann")
        await stage.send()
        for _ in range(100):
            stage.services.clock()
        stage.driver.say(spent(2))  # type: ignore[arg-type]
        await stage.until(lambda: bool(stage.driver.known_call("cancel")))
        await session.snapshot()
        assert {view.cap for view in session.view().pending_questions} == {"minutes", "cost"}
        assert (stage.driver.known_call("cancel"), stage.driver.known_call("stop")) == ([("cancel",)], [])
        assert (await stage.types()).count("session:paused") == 1
        events = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
        assert len([event for event in events if event.get("eventName") == "cancel_requested"]) == 1

    run(scenario())


def test_an_answer_about_one_cap_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await over_two_caps(stage)
        session = stage.session
        asked = {view.cap: view.question_id for view in session.view().pending_questions}
        told = await titles(stage)
        await session.approvals.answer(asked["cost"], Answer(content={"choice": LIFT}), by="ann")
        assert [view.question_id for view in session.view().pending_questions] == [asked["tokens"]]
        assert (session.view().status, await titles(stage)) == ("paused", told)
        await session.approvals.answer(asked["tokens"], Answer(content={"choice": LIFT}), by="ann")
        assert (session.view().status, session.view().caps) == ("idle", None)

    run(scenario())


def test_another_limit_takes_the_question_about_the_old_one_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await over_two_caps(stage)
        session = stage.session
        first = {view.question_id for view in session.view().pending_questions if view.cap == "cost"}
        await session.settings.set_limits(Caps(tokens=100, cost=1.5), None, by="ann")
        asked = [view for view in session.view().pending_questions if view.cap == "cost"]
        assert len(asked) == 1 and asked[0].question_id not in first, "it is used up as well"
        await session.settings.set_limits(Caps(tokens=1000, cost=15), None, by="ann")
        assert (session.view().pending_questions, session.view().status) == ([], "paused")
        assert await session.turns.resume(by="ann") and session.view().status == "idle"

    run(scenario())


def test_a_cap_is_told_of_in_plain_english(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await over_two_caps(stage)
        asked = {view.cap: view.question for view in stage.session.view().pending_questions}
        assert asked == {"cost": "The session has spent 2 USD (the limit is 1) and is paused. How shall it go on?",
                         "tokens": "The session has used 110 tokens (the limit is 100) and is paused. How shall it go on?"}

    run(scenario())


def test_a_cap_outlives_the_end_of_the_session_and_its_question_does_not(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await over_two_caps(stage)
        session = stage.session
        question = session.view().pending_questions[0].question_id
        await session.turns.terminate(by="ann")
        view = session.view()
        assert (view.status, view.pending_questions, view.paused) == ("completed", [], None)
        with pytest.raises(Invalid, match="limit on tokens is used up"):
            await stage.send("again")
        with pytest.raises(Invalid, match="limit on tokens is used up"):
            await session.turns.resume(by="ann")
        with pytest.raises(Exception, match=question):
            await session.approvals.answer(question, Answer(content={"choice": LIFT}), by="ann")
        assert (session.view().status, len(stage.drivers)) == ("completed", 1)
        await session.settings.set_limits(Caps(tokens=105), None, by="ann")
        assert (session.view().status, session.view().pending_questions) == ("completed", []), "what is over is not held"
        await session.settings.set_limits(Caps(), None, by="ann")
        await stage.send("again")
        assert session.view().status == "running"

    run(scenario())


def test_a_cap_that_is_reached_by_the_last_turn_of_a_session_holds_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_limits(Caps(turns=1), None, by="ann")
        await stage.send()
        await session.turns.terminate(by="ann")
        view = session.view()
        assert (view.status, view.pending_questions, view.paused, view.turn) == ("completed", [], None, None)
        with pytest.raises(Invalid, match="limit on turns"):
            await stage.send("again")

    run(scenario())


def test_an_answer_that_comes_with_the_end_does_not_bring_the_session_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await over_two_caps(stage)
        session = stage.session
        await session.settings.set_limits(Caps(cost=1.0), None, by="ann")
        (question,) = session.view().pending_questions
        answer = asyncio.create_task(session.approvals.answer(question.question_id, Answer(content={"choice": LIFT}), by="ann"))
        await asyncio.sleep(0)
        await asyncio.gather(session.turns.terminate(by="bob"), answer)
        assert (session.view().status, session.view().caps, session.agent.running) == ("completed", None, False)

    run(scenario())


def test_a_turn_that_a_crash_ended_counts_against_the_cap(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.settings.set_limits(Caps(turns=1), None, by="ann")
        await stage.send()
        again = Session(restore(checkpoint(session.fold)), stage.services, lambda _: stage.driver)
        again.lifecycle.recover(HubRestarted("the hub was restarted"))
        assert again.view().status == "paused" and [view.cap for view in again.view().pending_questions] == ["turns"]

    run(scenario())


def test_a_question_about_a_cap_waits_without_an_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(spent(2.0))  # type: ignore[arg-type]
        await session.settings.set_limits(Caps(cost=1.0), None, by="ann")
        (view,) = session.view().pending_questions
        (packet,) = [p for p in await stage.packets("question_requested") if p["type"] == "question_requested"]
        events = [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=0)]
        (event,) = [event for event in events if event["type"] == "interaction:question"]
        assert b"expiresAt" not in msgspec.json.encode(view)
        assert "expiresAt" not in event and "expiresAt" not in packet

    run(scenario())
