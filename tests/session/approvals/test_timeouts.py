"""Approvals and questions that nobody answers in time."""

from __future__ import annotations

from pathlib import Path

from tests.aio import run
from tests.session.script import Stage
from trunkline.dialects.signals import QuestionAsk
from trunkline.session.services import Limits


def test_an_approval_that_nobody_answers_times_out_closed(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(approval_timeout=0.05))
        await stage.open()
        await stage.send()
        stage.driver.ask()
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert (resolved["approved"], resolved["resolvedBy"]) == (False, "timeout")
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]

    run(scenario())


def test_a_question_that_nobody_answers_is_cancelled_in_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path, limits=Limits(approval_timeout=0.05))
        session = await stage.open()
        await stage.send()
        stage.driver.say(QuestionAsk("q-1", "Well?"))
        assert session.view().pending_questions[0].expires_at
        await stage.until(lambda: bool(stage.driver.known_call("question")))
        assert stage.driver.known_call("question") == [("question", "q-1", "cancel", None)]

    run(scenario())
