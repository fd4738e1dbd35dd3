"""Approvals and questions: who may answer, until when, and what the agent is told.

Rule 1: the first answer wins; a later one is told who was first.
Rule 2: commit, then tell the agent. It is answered by option id, never by position.
Rule 3: what nobody answers is denied when its time is up, with that as the reason.
Rule 4: "always" is a rule of the hub, in the journal: the agent is answered with its once-option. Only an ask that names neither
a command nor a path is answered with the agent's own always-option, since there is nothing that a rule could be about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from trunkline.dialects import acp, context
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import AlreadyResolved, Invalid, NotFound, StorageError, TrunklineError
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver import Driver
from trunkline.session.errands import Errands
from trunkline.session.fold import AlwaysRule
from trunkline.session.interpret.asks import subject_of
from trunkline.session.link import AgentLink
from trunkline.session.pen import Pen

_encode = msgspec.json.Encoder().encode


class Decision(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """An answer to an approval: one of the agent's options, or allow or deny."""

    option_id: str | None = None
    decision: Literal["allow", "deny"] | None = None
    scope: Literal["once", "always"] = "once"
    reason: str | None = None


class Answer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An answer to a question."""

    action: Literal["accept", "decline", "cancel"] = "accept"
    content: dict[str, Any] | None = None


class Approvals:
    """The open asks of one session."""

    def __init__(self, pen: Pen, link: AgentLink, alarms: Alarms, errands: Errands, watch: SilenceWatch,
                 timeout_s: float) -> None:
        self._pen = pen
        self._link = link
        self._alarms = alarms
        self._errands = errands
        self._watch = watch
        self._timeout_s = timeout_s

    def asked(self, ask: PermissionAsk) -> None:
        """A permission was just asked for and written down: answer it by rule, or wait for a person."""
        turn = self._pen.fold.turn
        rule = self._standing_rule(ask.request_id)
        option = acp.choose_option(ask.options, allow=rule.allow) if rule is not None else None
        if turn is None or turn.cancelled:
            self._errands.run(self._resolve(ask.request_id, None, approved=False, resolved_by="user",
                                            who=turn.by if turn else "hub", reason="the turn was cancelled"))
        elif rule is not None and (option is not None or not rule.allow):
            self._errands.run(self._resolve(
                ask.request_id, option.option_id if option else None, approved=rule.allow, resolved_by="policy", who="hub",
                reason=f"always {'allowed' if rule.allow else 'denied'} in this session"))
        else:
            self._alarms.set(ask.request_id, self._timeout_s, lambda: self._errands.run(self._time_out(ask)))

    def question_asked(self, ask: QuestionAsk) -> None:
        """A question was just asked and written down: it waits for a person, but not for ever."""
        self._alarms.set(ask.request_id, self._timeout_s, lambda: self._errands.run(self._give_no_answer(ask.request_id)))

    async def decide(self, request_id: str, decision: Decision, *, by: str) -> None:
        """Somebody answers an approval."""
        view = self._pen.fold.approvals.get(request_id)
        if view is None:
            raise self._not_open("approval", request_id)
        option, always = _chosen(view.options, decision)
        approved = option.kind.startswith("allow") if option is not None else False
        if always:
            option = self._decide_for_good(request_id, option, approved, by)
        await self._resolve(request_id, option.option_id if option else None, approved=approved, resolved_by="user", who=by,
                            reason=decision.reason)

    async def answer(self, question_id: str, answer: Answer, *, by: str) -> None:
        """Somebody answers a question."""
        if question_id not in self._pen.fold.questions:
            raise self._not_open("question", question_id)
        self._alarms.clear(question_id)
        content = None if answer.content is None else msgspec.Raw(_encode(answer.content))
        self._pen.at().asks.answered(question_id, action=answer.action, content=content, who=by)
        self._pen.write()
        await self._then(lambda driver: driver.answer_question(question_id, answer.action, content))

    def withdraw_all(self, *, by: str) -> tuple[list[str], list[str]]:
        """The turn is being cancelled: resolve everything that is open; returns what the agent has yet to be told."""
        fold = self._pen.fold
        asks, questions = list(fold.approvals), list(fold.questions)
        interpret = self._pen.at()
        for request_id in asks:
            self._alarms.clear(request_id)
            interpret.asks.resolve(request_id, approved=False, resolved_by="user", who=by, reason="the turn was cancelled")
        for question_id in questions:
            self._alarms.clear(question_id)
            interpret.asks.answered(question_id, action="cancel", content=None, who=by)
        return asks, questions

    def clear_alarms(self) -> None:
        """The turn is over; what is still open ends with it."""
        for request_id in (*self._pen.fold.approvals, *self._pen.fold.questions):
            self._alarms.clear(request_id)

    async def _give_no_answer(self, question_id: str) -> None:
        if question_id in self._pen.fold.questions:
            await self.answer(question_id, Answer(action="cancel"), by="timeout")

    async def _time_out(self, ask: PermissionAsk) -> None:
        option = acp.choose_option(ask.options, allow=False)
        await self._resolve(ask.request_id, option.option_id if option else None, approved=False, resolved_by="timeout",
                            who="hub", reason=f"nobody answered within {self._timeout_s:.0f} s")

    async def _resolve(self, request_id: str, option_id: str | None, *, approved: bool, resolved_by: context.Resolver,
                       who: str, reason: str | None) -> None:
        if request_id not in self._pen.fold.approvals:
            return
        self._alarms.clear(request_id)
        self._pen.at().asks.resolve(request_id, approved=approved, resolved_by=resolved_by, who=who, reason=reason,
                                    option_id=option_id)
        self._pen.write()
        await self._then(lambda driver: driver.answer_permission(request_id, option_id))

    async def _then(self, tell: Callable[[Driver], None]) -> None:
        """Tell the agent once the answer is stored. What cannot be stored now is told later; the caller hears of it."""
        try:
            await self._pen.stored()
        except StorageError:
            self._errands.run(self._tell_later(tell))
            raise
        self._tell(tell)

    async def _tell_later(self, tell: Callable[[Driver], None]) -> None:
        await self._pen.stored_at_last()
        self._tell(tell)

    def _tell(self, tell: Callable[[Driver], None]) -> None:
        self._watch.heard()
        if self._link.running:
            tell(self._link.driver)

    def _decide_for_good(self, request_id: str, option: PermissionOption | None, allow: bool, by: str) -> PermissionOption | None:
        """Write the rule. An ask that names nothing a rule could be about gets the agent's own option for good, if it has one."""
        subject = self._subject(request_id)
        if subject is not None:
            name, about = subject
            self._pen.at().asks.rule(AlwaysRule(name, about, allow), who=by)
            return option
        kind = "allow_always" if allow else "reject_always"
        return next((offered for offered in self._pen.fold.approvals[request_id].options if offered.kind == kind), option)

    def _standing_rule(self, request_id: str) -> AlwaysRule | None:
        """The rule that decides an ask; one that denies wins."""
        subject = self._subject(request_id)
        fitting = [rule for rule in self._pen.fold.always if (rule.tool_name, rule.subject) == subject]
        return min(fitting, key=lambda rule: rule.allow, default=None)

    def _subject(self, request_id: str) -> tuple[str, str] | None:
        view = self._pen.fold.approvals[request_id]
        about = subject_of(self._pen.fold.calls.get(view.tool_call_id), view)
        return (view.tool_name, about) if about else None

    def _not_open(self, what: str, key: str) -> TrunklineError:
        decided = self._pen.fold.decided.get(key)
        if decided is None:
            return NotFound(f"no {what} {key} is open in this session")
        return AlreadyResolved(
            f"{what} {key} was {'approved' if decided.approved else 'not approved'} by {decided.by} at {decided.at}",
            details={"approved": decided.approved, "by": decided.by, "at": decided.at})


def _chosen(options: Sequence[PermissionOption], decision: Decision) -> tuple[PermissionOption | None, bool]:
    """The agent's option that a decision means, and whether it is meant for ever."""
    if decision.option_id is None and decision.decision is None:
        raise Invalid("a decision needs optionId, or decision: allow | deny")
    always = decision.scope == "always"
    if decision.option_id is not None:
        option = next((offered for offered in options if offered.option_id == decision.option_id), None)
        if option is None:
            names = ", ".join(offered.option_id for offered in options)
            raise Invalid(f"optionId {decision.option_id!r} is not offered; the options are: {names}")
        if not option.kind.endswith("_always"):
            return option, always
        return acp.choose_option(options, allow=option.kind.startswith("allow")) or option, True
    allow = decision.decision == "allow"
    option = acp.choose_option(options, allow=allow)
    if option is None and allow:
        raise Invalid("the agent offers no option that allows this")
    return option, always
