from __future__ import annotations

from pathlib import Path

import msgspec

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.dialects.signals import TurnEnd
from trunkline.session.approvals import Answer
from trunkline.session.caps import Caps
from trunkline.session.spending import DOUBLE, LIFT, STAY


def spent(amount: float) -> object:
    return update(sessionUpdate="usage_update", used=10, size=100, cost={"amount": amount, "currency": "USD"})


async def titles(stage: Stage) -> list[str]:
    events = [msgspec.json.decode(entry.event) for entry in await stage.session.feed.read(after=0)]
    return [event["title"] for event in events if event["type"] == "interaction:notification"]


def test_four_fifths_are_told_and_the_whole_holds_the_session_and_asks(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.set_limits(Caps(cost=1.0), None, by="ann")
        await stage.send()
        stage.driver.say(spent(0.5))  # type: ignore[arg-type]
        stage.driver.say(spent(0.85))  # type: ignore[arg-type]
        await session.snapshot()
        assert await titles(stage) == ["A cap is near"]
        stage.driver.say(spent(1.2))  # type: ignore[arg-type]
        await stage.until(lambda: bool(stage.driver.told_of("cancel")))
        await session.snapshot()
        assert await titles(stage) == ["A cap is near", "A cap is reached"]
        assert session.view().status == "paused"
        stage.driver.end("cancelled")
        await stage.packets("prompt_response")
        (question,) = session.view().pending_questions
        assert question.options == [LIFT, DOUBLE, STAY]
        await session.answer(question.question_id, Answer(content={"choice": DOUBLE}), by="ann")
        assert session.view().caps == Caps(cost=2.0)
        assert session.view().status == "idle"
        assert stage.driver.told_of("question") == [], "the agent did not ask"

    run(scenario())


def test_who_stays_paused_stays_paused(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await session.set_limits(Caps(turns=1), None, by="ann")
        await stage.send()
        stage.driver.say(TurnEnd(stop="end_turn"))
        await stage.packets("prompt_response")
        await stage.until(lambda: bool(session.view().pending_questions))
        (question,) = session.view().pending_questions
        await session.answer(question.question_id, Answer(content={"choice": STAY}), by="ann")
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
        await session.set_limits(Caps(tokens=1000), None, by="ann")
        assert session.view().status == "paused", "what was spent before the cap counts"

    run(scenario())
