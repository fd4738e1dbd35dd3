"""What a rule would answer before it is saved: which of all asks that wait, in which session, and how.

Rule: nothing is decided or written here. It shows what the sessions would do with the rule in force at this moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from trunkline.errors import NotFound
from trunkline.session.commands.requests import Scope
from trunkline.session.policy.rules import Rule

if TYPE_CHECKING:
    from trunkline.session.fold import ApprovalView
    from trunkline.session.policy.decide import Policy
    from trunkline.session.session import Session


class RuleAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """One ask that a rule would answer, and how."""

    request_id: str
    session_id: str
    description: str
    decision: Literal["allow", "deny"]


class RulePreview(msgspec.Struct, kw_only=True):
    """The rule that a decision for longer than once would save, and every ask that it would answer: its own, and others."""

    rule: Rule
    answers: list[RuleAnswer]


class PolicyPreview(msgspec.Struct, kw_only=True):
    """Every ask that waits and that another policy would answer."""

    answers: list[RuleAnswer]


async def preview_policy(sessions: Sequence[Session], policy: Policy) -> PolicyPreview:
    """What a policy would answer if it took the place of the one in force."""
    found = [(session, await session.rules.answered_under(policy)) for session in sessions]
    return PolicyPreview(answers=[_answer(session, view, approved) for session, answered in found for view, approved in answered])


async def preview_rule(sessions: Sequence[Session], request_id: str, *, allow: bool, scope: Scope, by: str) -> RulePreview:
    """What deciding an ask so would save and answer; Invalid where no rule could be about it."""
    holder = next((each for each in sessions if request_id in each.fold.approvals), None) or next(
        (each for each in sessions if request_id in each.fold.decided), None)
    if holder is None:
        raise NotFound(f"no approval {request_id} is open in any session")
    rule = await holder.rules.rule_of(request_id, allow=allow, scope=scope, by=by)
    answers = [
        _answer(session, view, approved)
        for session in sessions for view, approved in await session.rules.answered_by(rule)]
    return RulePreview(rule=rule, answers=answers)


def _answer(session: Session, view: ApprovalView, approved: bool) -> RuleAnswer:
    return RuleAnswer(request_id=view.request_id, session_id=session.id, description=view.description,
                      decision="allow" if approved else "deny")
