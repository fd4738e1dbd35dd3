"""Rules, seen from one session: which rule a decision stands for, and what a rule would answer. Nothing is saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.aio import run
from tests.session.script import Stage
from trunkline.errors import Invalid
from trunkline.session.policy.decide import Rule


async def asking(tmp_path: Path) -> Stage:
    """Somebody is asked about ``make``."""
    stage = Stage(tmp_path)
    await stage.open()
    await stage.send()
    stage.driver.ask()
    await stage.packets("approval_requested")
    return stage


def test_the_rule_of_a_decision_is_shown_and_not_saved(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = (await asking(tmp_path)).session
        rule = await session.rules.rule_of("req-1", allow=True, scope="session", by="ann")
        assert (rule.action, rule.command, rule.saved_by) == ("allow", ["make"], "ann")
        assert session.fold.rules == [] and "req-1" in session.fold.approvals

    run(scenario())


def test_what_a_rule_would_answer_is_known_with_how(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = (await asking(tmp_path)).session

        async def answers(rule: Rule) -> list[tuple[str, bool]]:
            return [(view.request_id, yes) for view, yes in await session.rules.answered_by(rule)]

        assert await answers(Rule(action="allow", command=["make"])) == [("req-1", True)]
        assert await answers(Rule(action="deny", command=["make"])) == [("req-1", False)]
        assert await answers(Rule(action="allow", command=["npm *"])) == []
        assert await answers(Rule(action="allow", command=["make"], session="another")) == []
        assert "req-1" in session.fold.approvals, "nothing was decided"

    run(scenario())


def test_a_call_of_which_nothing_is_known_has_no_rule(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask(title="Do something", kind="other", rawInput=None)
        await stage.packets("approval_requested")
        with pytest.raises(Invalid, match="decide once"):
            await session.rules.rule_of("req-1", allow=True, scope="always", by="ann")

    run(scenario())
