"""Approvals and questions: answered by option, by rule; stored before the agent gets them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.dialects.signals import AskWithdrawn, QuestionAsk
from trunkline.errors import AlreadyResolved, Invalid
from trunkline.session.commands.requests import Answer, Decision


def test_a_permission_waits_and_is_answered_by_option_id(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        asked = next(p for p in await stage.packets("approval_requested") if p["type"] == "approval_requested")
        assert asked["preview"] == {"type": "command", "command": "make", "workingDir": str(tmp_path)}
        assert session.view().status == "waiting_for_approval"
        with pytest.raises(Invalid, match="yes, forever, no"):
            await session.approvals.decide("req-1", Decision(option_id="maybe"), by="ann")
        await session.approvals.decide("req-1", Decision(decision="deny", reason="too risky"), by="ann")
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no")]
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert (resolved["approved"], resolved["resolvedBy"], resolved["reason"]) == (False, "user", "too risky")
        with pytest.raises(AlreadyResolved, match="ann"):
            await session.approvals.decide("req-1", Decision(decision="allow"), by="bob")
        assert session.view().status == "running"

    run(scenario())


@pytest.mark.parametrize("decision", [Decision(decision="allow", scope="always"), Decision(option_id="forever")])
def test_always_answers_allow_once_and_later_asks_by_rule(tmp_path: Path, decision: Decision) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("req-1")
        await stage.packets("approval_requested")
        await session.approvals.decide("req-1", decision, by="ann")
        stage.driver.ask("req-2", toolCallId="call-2")
        stage.driver.ask("req-3", toolCallId="call-3", rawInput={"command": "make install"})
        await stage.until(lambda: len(stage.driver.known_call("permission")) == 2)
        assert stage.driver.known_call("permission") == [("permission", "req-1", "yes"), ("permission", "req-2", "yes")]
        assert [view.request_id for view in session.view().pending_approvals] == ["req-3"]
        resolved = [p for p in await stage.packets("approval_resolved", 2) if p["type"] == "approval_resolved"]
        assert [p["resolvedBy"] for p in resolved] == ["user", "policy"]

    run(scenario())


def test_an_ask_that_the_agent_withdraws_is_resolved_and_not_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask()
        stage.driver.say(AskWithdrawn("req-1"))
        resolved = next(p for p in await stage.packets("approval_resolved") if p["type"] == "approval_resolved")
        assert resolved["resolvedBy"] == "policy" and "withdrew" in resolved["reason"]
        assert session.view().pending_approvals == [] and stage.driver.known_call("permission") == []

    run(scenario())


def test_a_question_is_asked_and_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        schema = msgspec.json.encode({"type": "object", "properties": {"db": {"type": "string", "enum": ["pg", "sqlite"]}}})
        stage.driver.say(QuestionAsk("q-1", "Which database?", schema))
        asked = (await stage.packets("question_requested"))[-1]
        assert (asked["question"], asked["options"]) == ("Which database?", ["pg", "sqlite"])
        assert session.view().status == "waiting_for_input"
        await session.approvals.answer("q-1", Answer(content={"db": "pg"}), by="ann")
        assert stage.driver.known_call("question") == [("question", "q-1", "accept", {"db": "pg"})]
        with pytest.raises(AlreadyResolved):
            await session.approvals.answer("q-1", Answer(action="decline"), by="bob")

    run(scenario())


def test_a_denial_for_good_denies_the_same_again_by_rule(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("req-1")
        await session.approvals.decide("req-1", Decision(decision="deny", scope="always"), by="ann")
        stage.driver.ask("req-2", toolCallId="call-2")
        await stage.until(lambda: len(stage.driver.known_call("permission")) == 2)
        assert stage.driver.known_call("permission") == [("permission", "req-1", "no"), ("permission", "req-2", "no")]
        rules = [event for event in await stage.events() if getattr(event, "event_name", "") == "rule_added"]
        assert len(rules) == 1 and rules[0].meta == {"by": "ann"}, "the rule is in the journal, with who made it"

    run(scenario())


def test_an_ask_behind_the_end_of_its_turn_leaves_the_session_idle(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.end()
        await stage.packets("prompt_response")
        stage.driver.ask("late")
        await stage.until(lambda: bool(stage.driver.known_call("permission")))
        assert session.view().status == "idle" and session.view().pending_approvals == []

    run(scenario())
