"""What people decide: an approval allowed or denied, once or for longer, and a question answered.

Rule 1: nobody approves what a rule denies by now, also not with an edited input.
Rule 2: the disk is looked at again when somebody decides: links may have changed since it was asked.
Rule 3: a decision for longer than once is a rule of ours (``session_rules.py``); the agent is answered with its once-option.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from trunkline.dialects.acp.permission import OTHER, choose_option, quoted_id
from trunkline.dialects.context.types import PASSED_ON
from trunkline.dialects.signals import PermissionOption
from trunkline.errors import Forbidden, Invalid, TooManyRequests, Unsupported
from trunkline.session.approvals.answers import Resolution
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.approvals.forms import check_content
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.approvals.session_rules import SessionRules
from trunkline.session.commands.requests import Answer, Decision, Scope
from trunkline.session.fold import KEPT_RULES, ApprovalView
from trunkline.session.interpret.asks.requested import OPTION_CHARS
from trunkline.session.policy.decide import PolicyAsk
from trunkline.session.recorder import Recorder
from trunkline.session.turns.spending import Spending
from trunkline.session.workspace.look import DiskLook

_encode = msgspec.json.Encoder().encode


class Decisions:
    """Takes people's decisions in one session."""

    def __init__(self, recorder: Recorder, approvals: Approvals, gate: Gatekeeper, rules: SessionRules,
                 spending: Spending) -> None:
        self._recorder = recorder
        self._approvals = approvals
        self._gate = gate
        self._rules = rules
        self._spending = spending

    async def decide(self, request_id: str, decision: Decision, *, by: str) -> bool:
        """Somebody answers an approval; returns whether that approved it."""
        view = self._approvals.open(request_id)
        if view.answer_there:
            raise Unsupported("it can be answered only in the terminal that asks it")
        option, scope = _chosen(view.options, decision)
        approved = option.kind.startswith("allow") if option is not None else False
        edited = _edited_input(view, decision, approved)
        look = await self._gate.look_at_all(self._abouts(view, edited))
        view = self._approvals.open(request_id)  # somebody may have been quicker than the disk
        if approved:
            self._check_rules(view, edited, look)
        if scope != "once":
            await self._decide_for_longer(view, look, approved, scope, decision.reason, by)
        await self._approvals.resolve(request_id, Resolution(
            approved=approved, resolved_by="user", who=by, reason=decision.reason or _told_of(option),
            option_id=option.option_id if option else None, updated_input=edited))
        if scope != "once":
            self._approvals.look_again()
        return approved

    async def answer(self, question_id: str, answer: Answer, *, by: str) -> None:
        """Answer a question."""
        view = self._approvals.open_question(question_id)
        if answer.content is not None:
            check_content(answer.content, bytes(view.schema) if isinstance(view.schema, msgspec.Raw) else None)
        await self._approvals.answer_question(question_id, answer, by=by)
        if view.cap is not None:
            await self._spending.on_answer(view.cap, answer, by)

    def _abouts(self, view: ApprovalView, edited: msgspec.Raw | None) -> tuple[PolicyAsk, ...]:
        return view.abouts if edited is None else (self._recorder.at().policy_asks.of_edited(view, bytes(edited)),)

    def _check_rules(self, view: ApprovalView, edited: msgspec.Raw | None, look: DiskLook) -> None:
        """Forbidden where a rule denies by now what is about to be approved; unless it was edited, it has ended with that."""
        verdicts = self._gate.verdicts(self._abouts(view, edited), look)
        if not verdicts or verdicts[0].action != "deny":
            return
        if edited is not None:
            raise Forbidden(f"the edited input may not be run: {verdicts[0].why}")
        self._approvals.end_by_rule(view, verdicts)
        raise Forbidden(f"it may not be approved any more: {verdicts[0].why}")

    async def _decide_for_longer(self, view: ApprovalView, look: DiskLook, allow: bool, scope: Scope, reason: str | None,
                                 by: str) -> None:
        """Write the rule that the decision stands for. Another may decide meanwhile: then the rule stands all the same."""
        if scope != "always" and len(self._recorder.at().asks.rules_in_force()) >= KEPT_RULES:
            raise TooManyRequests(f"this session has {KEPT_RULES} rules of its own; decide once, or for always")
        rule = self._rules.rule_for(view, look, allow, scope, reason or f"decided by {by}", by)
        if scope == "always":
            with self._approvals.being_decided(view.request_id):
                await asyncio.to_thread(self._gate.write_rule, rule)
        self._recorder.at().asks.rule(rule, kept=scope != "always", who=by)


def _told_of(option: PermissionOption | None) -> str | None:
    """What there is to say of an answer that is neither a yes nor a no."""
    return f"{PASSED_ON}: {option.name[:OPTION_CHARS]}" if option is not None and option.kind == OTHER else None


def _edited_input(view: ApprovalView, decision: Decision, approved: bool) -> msgspec.Raw | None:
    """The input that a person changed before approving, where the agent can be given it."""
    if decision.updated_input is None:
        return None
    if not approved:
        raise Invalid("updatedInput goes with an approval, not with a denial", details={"field": "updatedInput"})
    if not decision.updated_input:
        raise Invalid("updatedInput is empty; leave it out to approve what was asked for", details={"field": "updatedInput"})
    if not view.editable:
        raise Unsupported("this agent cannot be given another input than the one it asked for")
    if decision.scope != "once":
        raise Invalid("an edited input is approved once; a rule would be about the input as it was asked for",
                      details={"field": "scope"})
    return msgspec.Raw(_encode(decision.updated_input))


def _chosen(options: Sequence[PermissionOption], decision: Decision) -> tuple[PermissionOption | None, Scope]:
    """The agent's option that a decision means, and for how long it is meant."""
    if decision.option_id is None and decision.decision is None:
        raise Invalid("a decision needs optionId, or decision: allow | deny")
    if decision.option_id is not None:
        option = next((offered for offered in options if offered.option_id == decision.option_id), None)
        if option is None:
            names = ", ".join(quoted_id(offered.option_id) for offered in options)
            raise Invalid(f"optionId {quoted_id(decision.option_id)} is not offered; the options are: {names}")
        if option.kind == OTHER and decision.scope != "once":
            raise Invalid(f"what option {quoted_id(option.option_id)} means is the agent's own: there is no rule for it; "
                          f"decide once")
        if not option.kind.endswith("_always"):
            return option, decision.scope
        return choose_option(options, allow=option.kind.startswith("allow")) or option, "always"
    allow = decision.decision == "allow"
    option = choose_option(options, allow=allow)
    if option is None and allow:
        raise Invalid("the agent offers no option that allows this")
    if option is not None and option.kind == "allow_always":
        raise Unsupported(f"the agent offers to allow this for good only, in settings of its own; if that is meant, "
                          f"name the option: {quoted_id(option.option_id)}")
    return option, decision.scope
