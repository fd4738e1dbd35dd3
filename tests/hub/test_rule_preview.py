"""What a rule would answer before it is saved."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import run
from trunkline.errors import NotFound
from trunkline.hub.rule_preview import RuleAnswer, preview_rule
from trunkline.session.policy.rules import Rule

RULE = Rule(action="allow", command=["ls *"])


class Asked:
    """A session in which something waits, or was decided."""

    def __init__(self, session_id: str, approvals: dict[str, bool], decided: tuple[str, ...] = ()) -> None:
        self.id = session_id
        self.fold = SimpleNamespace(approvals=approvals, decided=decided)
        self.rules = self

    async def rule_of(self, request_id: str, **how: Any) -> Rule:
        return RULE

    async def answered_by(self, rule: Rule) -> list[Any]:
        return [(SimpleNamespace(request_id=name, description=f"run {name}"), approved)
                for name, approved in self.fold.approvals.items()]


def preview(request_id: str, *sessions: Asked) -> Any:
    return run(preview_rule(list(sessions), request_id, allow=True, scope="always", by="me"))  # type: ignore[arg-type]


def test_every_ask_that_the_rule_answers_is_listed_with_its_session_and_the_answer() -> None:
    found = preview("r1", Asked("a", {"r1": True}), Asked("b", {"r2": False}))
    assert found.rule == RULE
    assert found.answers == [
        RuleAnswer(request_id="r1", session_id="a", description="run r1", decision="allow"),
        RuleAnswer(request_id="r2", session_id="b", description="run r2", decision="deny")]


def test_one_that_was_decided_a_moment_ago_can_still_be_previewed() -> None:
    assert preview("gone", Asked("a", {}, decided=("gone",))).answers == []


def test_an_ask_that_nobody_knows_is_not_found() -> None:
    with pytest.raises(NotFound, match="no approval r9"):
        preview("r9", Asked("a", {"r1": True}))
