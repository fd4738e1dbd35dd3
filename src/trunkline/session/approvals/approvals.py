"""Approvals and questions: who may answer, until when, and what the agent is told.

Rule 1: rules first, then people, then the clock. The first answer wins; a later one is told who was first. A rule that comes into
force while somebody is waited for decides at once, and nobody approves what one denies by then.
Rule 2: commit, then tell. The agent is answered by option id, never by position.
Rule 3: what nobody answers is denied when its time is up, with that as the reason.
Rule 4: a decision for longer than once is a rule of ours: the agent is answered with its once-option.
Rule 5: the hub asks like an agent does, for what an agent has it do without asking; such an answer goes to whoever waits here.
Rule 6: what waits is bounded: an ask beyond that is refused at once, with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from trunkline.dialects.acp.permission import OTHER, choose_option
from trunkline.dialects.context.types import Resolver
from trunkline.dialects.signals import PermissionAsk, PermissionOption, QuestionAsk
from trunkline.errors import (
    AlreadyResolved,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    StorageError,
    TooManyRequests,
    TrunklineError,
    Unsupported,
)
from trunkline.session.approvals.forms import check_content
from trunkline.session.approvals.gatekeeper import Gatekeeper, told_rule
from trunkline.session.background import Errands
from trunkline.session.commands.requests import Answer, Decision, Scope
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import KEPT_RULES, ApprovalView
from trunkline.session.interpret.asks.subjects import NOT_KNOWN
from trunkline.session.policy.decide import PolicyAsk, Rule, Verdict
from trunkline.session.recorder import Pen
from trunkline.session.workspace.look import Look

WARN_AT = 0.75
"""The share of its time after which an open approval is called to mind."""
LOOK_AT_RULES_S = 2.0
"""How far apart it is looked whether the policy was edited on the disk while an approval waits: one look at a time stamp."""

_encode = msgspec.json.Encoder().encode


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """How an approval ends."""

    approved: bool
    resolved_by: Resolver
    who: str
    reason: str | None = None
    option_id: str | None = None
    updated_input: msgspec.Raw | None = None
    rules: tuple[dict[str, str], ...] = ()
    """The rules that decided it, as its end tells them."""


class Approvals:
    """The open asks of one session."""

    def __init__(self, pen: Pen, link: AgentLink, alarms: Alarms, errands: Errands, watch: SilenceWatch, gate: Gatekeeper,
                 timeout_s: float) -> None:
        self._pen = pen
        self._link = link
        self._alarms = alarms
        self._errands = errands
        self._watch = watch
        self._gate = gate
        self._timeout_s = timeout_s
        self._our_asks: dict[str, asyncio.Future[Resolution]] = {}
        self._deciding: set[str] = set()
        """Those that a person is deciding for good just now: the rule of that is being written, and must not be quicker."""
        self.asked_for: Callable[[ApprovalView, Look], None] = lambda view, look: None
        """Set by whoever has to know exactly what was asked."""
        self.allowed: Callable[[str, bool], None] = lambda request_id, approved: None
        """Set by the same: how it was decided."""
        self.cap_answered: Callable[[str, Answer, str], Awaitable[None]] = _nobody_asked
        """Set by the session: hears what somebody answered when a cap was reached."""

    @property
    def timeout_s(self) -> float:
        """How long an approval of this session waits."""
        return self._pen.fold.waits.approval_s or self._timeout_s

    def has_room(self, ask: PermissionAsk | QuestionAsk) -> bool:
        """Whether the agent's ask can wait for a person; where it cannot, it is refused, and that is written down."""
        why = self._pen.at().asks.room_for(ask)
        if why is None:
            return True
        self.turn_away(ask, why)
        return False

    def turn_away(self, ask: PermissionAsk | QuestionAsk, why: str) -> None:
        """Refuse an ask that nobody is asked about, and write that down."""
        self._pen.at().asks.refused(ask, why)
        self._link.refuse(ask.request_id, why)

    def asked(self, ask: PermissionAsk, look: Look) -> None:
        """A permission was just asked for and written down: answer it by rule, or wait for a person."""
        turn = self._pen.fold.turn
        for each in _each_call(self._pen.fold.approvals[ask.request_id]):
            self.asked_for(each, look)
        if turn is None and not ask.beyond_turn:
            self._end(ask.request_id, Resolution(approved=False, resolved_by="policy", who="hub", reason="no turn is running"))
        elif turn is not None and turn.cancelled and not ask.beyond_turn:
            self._end(ask.request_id, Resolution(approved=False, resolved_by="user", who=turn.by,
                                                  reason="the turn was cancelled"))
        elif not self._decided_by_rule(ask.request_id):
            self._wait_for_person(ask.request_id)

    def question_asked(self, ask: QuestionAsk) -> None:
        """A question was just asked and written down: it waits for a person, but not for ever."""
        self._alarms.set(ask.request_id, self.timeout_s, lambda: self._errands.run(self._give_no_answer(ask.request_id)))

    def look_again(self) -> None:
        """The rules changed, or the session is no longer held: some of what waits may be decided now."""
        for request_id in list(self._pen.fold.approvals):
            if request_id not in self._deciding:
                self._decided_by_rule(request_id)

    def ask_people(self, ask: PermissionAsk, look: Look) -> asyncio.Future[Resolution]:
        """The hub asks, for something that an agent has it do: written down here and now. The answer says whether it may be
        done, and why not; whoever no longer waits for it cancels it."""
        why = self._pen.at().asks.room_for(ask)
        if why is not None:
            self._pen.at().asks.refused(ask, why)
            self._pen.write()
            raise TooManyRequests(why)
        answer: asyncio.Future[Resolution] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._our_asks.pop(ask.request_id, None))
        self._our_asks[ask.request_id] = answer
        asks = self._pen.at().asks
        announced = asks.announce(ask)
        asks.request(announced, look.texts.get, look.to_keep(announced.abouts))
        self._pen.write()
        self.asked(ask, look)
        return answer

    def ask_about_cap(self, ask: QuestionAsk, cap: str) -> None:
        """The hub asks how to go on after a cap was reached; it waits until somebody answers."""
        self._pen.at().asks.question(ask, cap=cap)

    def forget_caps(self, *, by: str) -> None:
        """How to go on after a cap was decided otherwise: take the question about it back."""
        for question_id, view in list(self._pen.fold.questions.items()):
            if view.cap is not None:
                self._pen.at().asks.answered(question_id, action="cancel", content=None, who=by)

    async def decide(self, request_id: str, decision: Decision, *, by: str) -> bool:
        """Somebody answers an approval; returns whether that approved it."""
        view = self._open(request_id)
        option, scope = _chosen(view.options, decision)
        approved = option.kind.startswith("allow") if option is not None else False
        edited = self._edited(view, decision, approved)
        look = await self._look_again_at(view, edited)
        view = self._open(request_id)  # somebody may have been quicker than the disk
        if approved:
            self._check_rules(view, edited, look)
        if scope != "once":
            await self._decide_for_longer(view, look, approved, scope, decision.reason, by)
        await self._resolve(request_id, Resolution(
            approved=approved, resolved_by="user", who=by, reason=decision.reason,
            option_id=option.option_id if option else None, updated_input=edited))
        if scope != "once":
            self.look_again()
        return approved

    async def answer(self, question_id: str, answer: Answer, *, by: str) -> None:
        """Somebody answers a question."""
        view = self._pen.fold.questions.get(question_id)
        if view is None:
            raise self._not_open("question", question_id)
        if answer.content is not None:
            check_content(answer.content, bytes(view.schema) if isinstance(view.schema, msgspec.Raw) else None)
        self._alarms.clear(question_id)
        content = None if answer.content is None else msgspec.Raw(_encode(answer.content))
        self._pen.at().asks.answered(question_id, action=answer.action, content=content, who=by)
        self._pen.write()
        if view.cap is not None:
            await self._pen.stored()
            await self.cap_answered(view.cap, answer, by)
        else:
            await self._then(lambda: self._answer_question(question_id, answer.action, content))

    def withdraw_all(self, *, by: str, reason: str = "the turn was cancelled",
                     but: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """The turn is being ended: resolve everything that is open (``but`` these); returns what the agent has yet to be told."""
        fold = self._pen.fold
        asks = [request_id for request_id in fold.approvals if request_id not in but]
        questions = [question_id for question_id in fold.agent_questions() if question_id not in but]
        interpret = self._pen.at()
        for request_id in asks:
            self._silence(request_id)
            self._tell_allowed(fold.approvals[request_id], allowed=False)
            resolver: Resolver = "policy" if by in ("hub", "agent") else "user"
            interpret.asks.resolve(request_id, approved=False, resolved_by=resolver, who=by, reason=reason)
        for question_id in questions:
            self._alarms.clear(question_id)
            interpret.asks.answered(question_id, action="cancel", content=None, who=by)
        return asks, questions

    def dismiss(self, asks: Sequence[str], questions: Sequence[str]) -> None:
        """Tell whoever asked that there will be no answer. What was resolved is stored by now."""
        for request_id in asks:
            self._answer(request_id, Resolution(approved=False, resolved_by="policy", who="hub"))
        for question_id in questions:
            self._answer_question(question_id, "cancel", None)

    def clear_alarms(self) -> None:
        """The turn is over; what it left open ends with it."""
        asks, questions = self._pen.fold.asks_of_turn()
        for request_id in (*asks, *questions):
            self._silence(request_id)

    def _open(self, request_id: str) -> ApprovalView:
        view = self._pen.fold.approvals.get(request_id)
        if view is None:
            raise self._not_open("approval", request_id)
        return view

    async def _look_again_at(self, view: ApprovalView, edited: msgspec.Raw | None) -> Look:
        """What the disk says of an approval at the moment of its decision; links may have changed since it was asked for."""
        return await self._gate.look_at_all(self._abouts(view, edited))

    def _abouts(self, view: ApprovalView, edited: msgspec.Raw | None) -> tuple[PolicyAsk, ...]:
        return view.abouts if edited is None else (self._pen.at().asks.about_edited(view, bytes(edited)),)

    def _decided_by_rule(self, request_id: str) -> bool:
        view = self._pen.fold.approvals[request_id]
        verdicts = self._gate.verdicts(view.abouts, Look.kept(view.disk, view.abouts))
        return bool(verdicts) and self._ended_by_rule(view, verdicts)

    def _check_rules(self, view: ApprovalView, edited: msgspec.Raw | None, look: Look) -> None:
        """Forbidden where a rule denies by now what is about to be approved; unless it was edited, it has ended with that."""
        verdicts = self._gate.verdicts(self._abouts(view, edited), look)
        if not verdicts or verdicts[0].action != "deny":
            return
        if edited is not None:
            raise Forbidden(f"the edited input may not be run: {verdicts[0].why}")
        self._ended_by_rule(view, verdicts)
        raise Forbidden(f"it may not be approved any more: {verdicts[0].why}")

    def _ended_by_rule(self, view: ApprovalView, verdicts: Sequence[Verdict]) -> bool:
        """``verdicts`` all do the same; whether that ends it."""
        action = verdicts[0].action
        if action == "ask":
            return False
        allow = action == "allow"
        option = choose_option(view.options, allow=allow)
        if allow and (option is None or option.kind == "allow_always"):
            return False  # the agent would remember it in settings of its own: that is for a person to choose
        why = "; ".join(dict.fromkeys(verdict.why for verdict in verdicts))
        told = [told_rule(verdict) for verdict in verdicts]
        self._end(view.request_id, Resolution(
            approved=allow, resolved_by="policy", who="policy", reason=why, option_id=option.option_id if option else None,
            rules=tuple(rule for at, rule in enumerate(told) if rule not in told[:at])))
        return True

    def _wait_for_person(self, request_id: str) -> None:
        limit = self.timeout_s
        self._alarms.set(request_id, limit, lambda: self._time_out(request_id, limit))
        self._alarms.set(f"{request_id}/warning", limit * WARN_AT, lambda: self._warn(request_id, limit))
        self._look_at_rules_later(request_id)

    def _look_at_rules_later(self, request_id: str) -> None:
        self._alarms.set(f"{request_id}/rules", LOOK_AT_RULES_S, lambda: self._look_at_rules(request_id))

    def _look_at_rules(self, request_id: str) -> None:
        """Whoever hears of changed rules has all sessions look again: it is enough to notice."""
        if request_id in self._pen.fold.approvals:
            self._gate.notice()
            self._look_at_rules_later(request_id)

    def _warn(self, request_id: str, limit: float) -> None:
        view = self._pen.fold.approvals.get(request_id)
        if view is not None:
            left = limit * (1 - WARN_AT)
            self._pen.at().asks.called_to_mind(view, f"{view.title} waits for a decision and is denied in {_spoken(left)}.")
            self._pen.write()

    def _time_out(self, request_id: str, limit: float) -> None:
        view = self._pen.fold.approvals.get(request_id)
        if view is None:
            return
        cancels = self._pen.fold.waits.on_timeout == "cancel"
        option = None if cancels else choose_option(view.options, allow=False)
        self._end(request_id, Resolution(approved=False, resolved_by="timeout", who="hub",
                                          reason=f"nobody answered within {_spoken(limit)}",
                                          option_id=option.option_id if option else None))

    async def _give_no_answer(self, question_id: str) -> None:
        if question_id in self._pen.fold.questions:
            await self.answer(question_id, Answer(action="cancel"), by="timeout")

    def _end(self, request_id: str, resolution: Resolution) -> None:
        """Resolve it here and now, so that nobody is asked what is decided; the agent hears of it once that is stored."""
        if self._settle(request_id, resolution):
            self._errands.run(self._then(lambda: self._answer(request_id, resolution)))

    async def _resolve(self, request_id: str, resolution: Resolution) -> None:
        if self._settle(request_id, resolution):
            await self._then(lambda: self._answer(request_id, resolution))

    def _settle(self, request_id: str, resolution: Resolution) -> bool:
        """Write down how it ends; False where somebody was first."""
        if request_id not in self._pen.fold.approvals:
            return False
        self._silence(request_id)
        self._tell_allowed(self._pen.fold.approvals[request_id], allowed=resolution.approved and resolution.updated_input is None)
        self._pen.at().asks.resolve(
            request_id, approved=resolution.approved, resolved_by=resolution.resolved_by, who=resolution.who,
            reason=resolution.reason, option_id=resolution.option_id, updated_input=resolution.updated_input,
            rules=resolution.rules)
        self._pen.write()
        return True

    def _answer(self, request_id: str, resolution: Resolution) -> None:
        ours = self._our_asks.get(request_id)
        if ours is not None:
            if not ours.done():
                ours.set_result(resolution)
        elif self._link.running:
            self._link.driver.answer_permission(
                request_id, resolution.option_id, reason=resolution.reason, updated_input=resolution.updated_input)

    def _answer_question(self, question_id: str, action: str, content: msgspec.Raw | None) -> None:
        if self._link.running:
            self._link.driver.answer_question(question_id, action, content)

    async def _then(self, tell: Callable[[], None]) -> None:
        """Tell once the answer is stored. What cannot be stored now is told later; the caller hears of it."""
        try:
            await self._pen.stored()
        except StorageError:
            self._errands.run(self._tell_later(tell))
            raise
        self._tell(tell)

    async def _tell_later(self, tell: Callable[[], None]) -> None:
        await self._pen.stored_at_last()
        self._tell(tell)

    def _tell(self, tell: Callable[[], None]) -> None:
        self._watch.heard()
        tell()

    def _tell_allowed(self, view: ApprovalView, *, allowed: bool) -> None:
        for each in _each_call(view):
            self.allowed(each.request_id, allowed)

    def _silence(self, request_id: str) -> None:
        self._alarms.clear(request_id)
        self._alarms.clear(f"{request_id}/warning")
        self._alarms.clear(f"{request_id}/rules")

    def _edited(self, view: ApprovalView, decision: Decision, approved: bool) -> msgspec.Raw | None:
        """The input that a person changed before approving, where the agent can be told of it."""
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

    async def _decide_for_longer(self, view: ApprovalView, look: Look, allow: bool, scope: Scope, reason: str | None,
                                 by: str) -> None:
        """Write the rule that the decision stands for. Another may decide meanwhile: then the rule stands all the same."""
        if scope != "always" and len(self._pen.at().asks.rules_in_force()) >= KEPT_RULES:
            raise TooManyRequests(f"this session has {KEPT_RULES} rules of its own; decide once, or for always")
        rule = self._rule_for(view, look, allow, scope, reason or f"decided by {by}", by)
        if scope == "always":
            await self._write_rule(view.request_id, rule)
        self._pen.at().asks.rule(rule, kept=scope != "always", who=by)

    def _rule_for(self, view: ApprovalView, look: Look, allow: bool, scope: Scope, reason: str | None, by: str) -> Rule:
        """The rule that a decision for longer than once stands for; Invalid where no rule could be about it."""
        if len(view.calls) > 1:
            raise Invalid(f"this is about {len(view.calls)} calls, and a rule is about one; decide once")
        if view.about is None:
            raise Unsupported("there is nothing that a rule could be about in this request; decide once")
        if NOT_KNOWN in view.about.doubts:
            raise Invalid("it is not known what this does, so there is nothing that a rule could be about; decide once")
        return self._gate.rule_for(view.about, look, allow=allow, scope=scope, reason=reason, by=by)

    async def rule_of(self, request_id: str, *, allow: bool, scope: Scope, by: str) -> Rule:
        """The rule that somebody would write by deciding this so, which is not written."""
        view = self._open(request_id)
        return self._rule_for(view, await self._look_again_at(view, None), allow, scope, f"decided by {by}", by)

    async def answered_by(self, rule: Rule) -> list[tuple[ApprovalView, bool]]:
        """The approvals that wait and that this rule would answer if it were in force, and whether with yes."""
        found: list[tuple[ApprovalView, bool]] = []
        for view in list(self._pen.fold.approvals.values()):
            if view.abouts and (rule.session is None or rule.session == self._pen.fold.session_id):
                action = await self._gate.answer_with(rule, view.abouts, Look.kept(view.disk, view.abouts))
                if action != "ask":
                    found.append((view, action == "allow"))
        return found

    async def _write_rule(self, request_id: str, rule: Rule) -> None:
        if request_id in self._deciding:
            raise Conflict("somebody is deciding this just now")
        self._deciding.add(request_id)
        try:
            await asyncio.to_thread(self._gate.write_rule, rule)
        finally:
            self._deciding.discard(request_id)
        self._open(request_id)

    def _not_open(self, what: str, key: str) -> TrunklineError:
        decided = self._pen.fold.decided.get(key)
        if decided is None:
            return NotFound(f"no {what} {key} is open in this session")
        details = {"approved": decided.approved, "by": decided.by, "at": decided.at, "resolvedBy": decided.resolved_by}
        if decided.resolved_by == "timeout":
            return Expired(f"{what} {key} expired at {decided.at}: nobody had answered", details=details)
        outcome = "approved" if decided.approved else "not approved"
        return AlreadyResolved(f"{what} {key} was {outcome} by {decided.by} at {decided.at}", details=details)


def _each_call(view: ApprovalView) -> list[ApprovalView]:
    """The approval once for each call of which it shows all that will be done, each by an id of its own. Of several it shows the
    commands, not the texts that they write: whoever allows them all has seen none of these."""
    if len(view.calls) <= 1:
        return [view]
    shown = [call for call in view.calls if call.about is not None and call.command and call.command == call.about.command]
    return [msgspec.structs.replace(view, request_id=f"{view.request_id}/{call.tool_call_id}", tool_call_id=call.tool_call_id,
                                    about=call.about, calls=[]) for call in shown]


def _chosen(options: Sequence[PermissionOption], decision: Decision) -> tuple[PermissionOption | None, Scope]:
    """The agent's option that a decision means, and for how long it is meant."""
    if decision.option_id is None and decision.decision is None:
        raise Invalid("a decision needs optionId, or decision: allow | deny")
    if decision.option_id is not None:
        option = next((offered for offered in options if offered.option_id == decision.option_id), None)
        if option is None:
            names = ", ".join(offered.option_id for offered in options)
            raise Invalid(f"optionId {decision.option_id!r} is not offered; the options are: {names}")
        if option.kind == OTHER and decision.scope != "once":
            raise Invalid(f"what option {option.option_id} means is the agent's own: there is no rule for it; decide once")
        if not option.kind.endswith("_always"):
            return option, decision.scope
        return choose_option(options, allow=option.kind.startswith("allow")) or option, "always"
    allow = decision.decision == "allow"
    option = choose_option(options, allow=allow)
    if option is None and allow:
        raise Invalid("the agent offers no option that allows this")
    if option is not None and option.kind == "allow_always":
        raise Unsupported(f"the agent offers to allow this for good only, in settings of its own; if that is meant, "
                          f"name the option: {option.option_id}")
    return option, decision.scope


async def _nobody_asked(cap: str, answer: Answer, by: str) -> None:
    raise AssertionError("a question about a cap was answered before the session was put together")


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
