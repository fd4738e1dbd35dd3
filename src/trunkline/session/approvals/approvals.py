"""Approvals and questions that are open: who may answer, until when, and what the agent gets.

Rule 1: rules first, then people, then the clock. The first answer wins; a later one is refused with who was first. A rule that
comes into force while somebody is waited for decides at once, and nobody approves what one denies by then.
Rule 2: commit, then answer. The agent is answered by option id, never by position.
Rule 3: what nobody answers is denied when its time is up, with that as the reason. What another program asks its own person,
too, is left to that one instead: nobody is denied by our clock.
Rule 4: a decision for longer than once is a rule of ours: the agent is answered with its once-option.
Rule 5: the hub asks like an agent does, for what an agent has it do without asking; such an answer goes to whoever waits here.
Rule 6: what waits is bounded: an ask beyond that is refused at once, with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

import msgspec

from trunkline.dialects.acp.permission import choose_option
from trunkline.dialects.context.types import Resolver
from trunkline.dialects.signals import PermissionAsk, QuestionAsk
from trunkline.errors import AlreadyResolved, Conflict, Expired, NotFound, TooManyRequests, TrunklineError
from trunkline.session.approvals.answers import Answers, Resolution
from trunkline.session.approvals.gatekeeper import Gatekeeper, rule_summary
from trunkline.session.approvals.grants import Grants
from trunkline.session.approvals.timeouts import AskTimeouts, in_minutes
from trunkline.session.background import BackgroundTasks
from trunkline.session.commands.requests import Answer
from trunkline.session.deadlines import Alarms, SilenceWatch
from trunkline.session.driver.link import AgentLink
from trunkline.session.fold import ApprovalView, QuestionView
from trunkline.session.interpret.asks.asks import Announced
from trunkline.session.policy.decide import Verdict
from trunkline.session.recorder import Recorder
from trunkline.session.workspace.look import DiskLook

LEFT: Final = "it is left to its terminal"

_encode = msgspec.json.Encoder().encode


class Approvals:
    """The open asks of one session."""

    def __init__(self, recorder: Recorder, link: AgentLink, alarms: Alarms, background: BackgroundTasks,
                 watch: SilenceWatch, gate: Gatekeeper, grants: Grants, timeout_s: float) -> None:
        self._recorder = recorder
        self._background = background
        self._gate = gate
        self._grants = grants
        self.answers = Answers(recorder, link, background, watch)
        self.timeouts = AskTimeouts(recorder, alarms, gate, timeout_s)
        self._deciding: set[str] = set()
        """Those that a person is deciding for good just now (``being_decided``)."""

    def has_room(self, ask: PermissionAsk | QuestionAsk) -> bool:
        """Whether the agent's ask can wait for a person; where it cannot, it is refused, and that is written down."""
        why = self._recorder.at().waiting.room_for(ask)
        if why is None:
            return True
        self.turn_away(ask, why)
        return False

    def turn_away(self, ask: PermissionAsk | QuestionAsk, why: str) -> None:
        """Refuse an ask that nobody is asked about, and write that down."""
        self._recorder.at().asks.refused(ask, why)
        self.answers.refuse(ask.request_id, why)

    def is_put(self, announced: Announced, look: DiskLook) -> bool:
        """Whether an ask is written down; one that no person is asked about only where a rule decides it. Else nobody does."""
        ask = announced.ask
        if not ask.only_rules:
            return True
        action = self._gate.verdicts(announced.abouts, look)[0].action
        if action == "deny" or (action == "allow" and ask.rules_allow):
            return True
        self.answers.refuse(ask.request_id, LEFT)
        return False

    def on_ask(self, ask: PermissionAsk, look: DiskLook) -> None:
        """A permission was just asked for and written down: answer it by rule, or wait for a person."""
        turn = self._recorder.fold.turn
        if not self.answers.is_ours(ask.request_id):
            for each in _each_call(self._recorder.fold.approvals[ask.request_id]):
                self._grants.on_ask(each, look)
        if turn is None and not ask.beyond_turn:
            self._end(ask.request_id, Resolution(approved=False, resolved_by="policy", who="hub",
                                                 reason="the agent is not at work"))
        elif turn is not None and turn.cancelled and not ask.beyond_turn:
            self._end(ask.request_id, Resolution(approved=False, resolved_by="user", who=turn.by,
                                                  reason="the work was cancelled"))
        elif self._decided_by_rule(ask.request_id):
            return
        elif ask.only_rules:
            self._end(ask.request_id, Resolution(approved=False, resolved_by="policy", who="hub", reason=LEFT, decides=False))
        else:
            self.timeouts.start(ask.request_id, partial(self._time_out, ask.request_id))

    def changed(self) -> list[PermissionAsk]:
        """Calls may have changed since they were asked about. What was shown is taken back, and what they are now is to be asked
        instead, under an id of its own: so no answer to the one approves the other."""
        again: list[PermissionAsk] = []
        asks = self._recorder.at().asks
        for request_id in asks.changed():
            view = self._recorder.fold.approvals[request_id]
            ask = asks.asked_anew(request_id)
            if ask is None:
                elsewhere = self._recorder.fold.watches is not None  # its terminal asks, too: nobody is denied there by us
                option = None if elsewhere else choose_option(view.options, allow=False)
                self._end(request_id, Resolution(
                    approved=False, resolved_by="policy", who="hub", option_id=option.option_id if option else None,
                    reason="what it would do changed again and again while it waited", decides=not elsewhere))
                continue
            self.timeouts.stop(request_id)
            self._settle_grants(view, allowed=False)
            again.append(ask)
        return again

    def on_question(self, ask: QuestionAsk) -> None:
        """A question was just asked and written down: it waits for a person, but not for ever."""
        self.timeouts.start_question(
            ask.request_id, lambda: self._background.run(self._give_no_answer(ask.request_id)))

    def look_again(self) -> None:
        """The rules changed, or the session is no longer held: some of what waits may be decided now."""
        for request_id in list(self._recorder.fold.approvals):
            if request_id not in self._deciding:
                self._decided_by_rule(request_id)

    def ask_people(self, ask: PermissionAsk, look: DiskLook) -> asyncio.Future[Resolution]:
        """The hub asks, for something that an agent has it do: written down here and now. The answer says whether it may be
        done, and why not; whoever no longer waits for it cancels it."""
        why = self._recorder.at().waiting.room_for(ask)
        if why is not None:
            self._recorder.at().asks.refused(ask, why)
            self._recorder.write()
            raise TooManyRequests(why)
        answer = self.answers.expect(ask.request_id)
        asks = self._recorder.at().asks
        announced = asks.announce(ask)
        asks.request(announced, look.texts, look.to_keep(announced.abouts))
        self._recorder.write()
        self.on_ask(ask, look)
        return answer

    def ask_about_cap(self, ask: QuestionAsk, cap: str) -> None:
        """The hub asks how to go on after a cap was reached; it waits until somebody answers."""
        self._recorder.at().questions.request(ask, cap=cap)

    def forget_caps(self, *, by: str) -> None:
        """How to go on after a cap was decided otherwise: take the question about it back."""
        for question_id, view in list(self._recorder.fold.questions.items()):
            if view.cap is not None:
                self._recorder.at().questions.answered(question_id, action="cancel", content=None, who=by)

    def withdraw_all(self, *, by: str, reason: str = "the work was cancelled",
                     but: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """The turn is being ended: resolve everything that is open (``but`` these); returns what is to be dismissed yet."""
        fold = self._recorder.fold
        asks = [request_id for request_id in fold.approvals if request_id not in but]
        questions = [question_id for question_id in fold.agent_questions() if question_id not in but]
        interpret = self._recorder.at()
        for request_id in asks:
            self.timeouts.stop(request_id)
            self._settle_grants(fold.approvals[request_id], allowed=False)
            resolver: Resolver = "policy" if by in ("hub", "agent") else "user"
            interpret.asks.resolve(request_id, approved=False, resolved_by=resolver, who=by, reason=reason)
        for question_id in questions:
            self.timeouts.stop(question_id)
            interpret.questions.answered(question_id, action="cancel", content=None, who=by)
        return asks, questions

    def leave_to_terminal(self, reason: str) -> None:
        """Nobody answers here any more what another program asks its own person, too: that one still can."""
        asks, questions = list(self._recorder.fold.approvals), self._recorder.fold.agent_questions()
        for request_id in asks:
            self._settle(request_id, Resolution(approved=False, resolved_by="policy", who="hub", reason=reason, decides=False))
        for question_id in questions:
            self.timeouts.stop(question_id)
            self._recorder.at().questions.answered(question_id, action="cancel", content=None, who="hub")
        self._recorder.write()
        self.answers.dismiss(asks, list(questions))

    def open(self, request_id: str) -> ApprovalView:
        """The approval of that id; an error that says what became of it where it is not open."""
        view = self._recorder.fold.approvals.get(request_id)
        if view is None:
            raise self._not_open("approval", request_id)
        return view

    def open_question(self, question_id: str) -> QuestionView:
        """The same for a question."""
        view = self._recorder.fold.questions.get(question_id)
        if view is None:
            raise self._not_open("question", question_id)
        return view

    async def answer_question(self, question_id: str, answer: Answer, *, by: str) -> None:
        """Write down how a question ends, and send it to whoever asked; the hub itself asks about caps."""
        cap = self.open_question(question_id).cap
        self.timeouts.stop(question_id)
        content = None if answer.content is None else msgspec.Raw(_encode(answer.content))
        self._recorder.at().questions.answered(question_id, action=answer.action, content=content, who=by)
        self._recorder.write()
        if cap is not None:
            await self._recorder.stored()
        else:
            await self.answers.send_to_question(question_id, answer.action, content)

    @contextmanager
    def being_decided(self, request_id: str) -> Iterator[None]:
        """While a person decides it for good, and the rule of that is being written: the rule must not be quicker."""
        if request_id in self._deciding:
            raise Conflict("somebody is deciding this just now")
        self._deciding.add(request_id)
        try:
            yield
        finally:
            self._deciding.discard(request_id)
        self.open(request_id)

    def _decided_by_rule(self, request_id: str) -> bool:
        view = self._recorder.fold.approvals[request_id]
        verdicts = self._gate.verdicts(view.abouts, DiskLook.kept(view.disk, view.abouts), self.look_again)
        return bool(verdicts) and self.end_by_rule(view, verdicts)

    def end_by_rule(self, view: ApprovalView, verdicts: Sequence[Verdict]) -> bool:
        """``verdicts`` all do the same; whether that ends it."""
        action = verdicts[0].action
        if action == "ask" or view.answer_there:
            return False
        allow = action == "allow"
        option = choose_option(view.options, allow=allow)
        if allow and (option is None or option.kind == "allow_always" or not view.rules_allow):
            return False  # the agent would remember it in settings of its own: that is for a person to choose
        why = "; ".join(dict.fromkeys(verdict.why for verdict in verdicts))
        rules = [rule_summary(verdict) for verdict in verdicts]
        self._end(view.request_id, Resolution(
            approved=allow, resolved_by="policy", who="policy", reason=why, option_id=option.option_id if option else None,
            rules=tuple(rule for at, rule in enumerate(rules) if rule not in rules[:at])))
        return True

    def _time_out(self, request_id: str, limit: float) -> None:
        view = self._recorder.fold.approvals.get(request_id)
        if view is None:
            return
        elsewhere = self._recorder.fold.watches is not None
        cancels = elsewhere or self._recorder.fold.waits.on_timeout == "cancel"
        option = None if cancels else choose_option(view.options, allow=False)
        left = "; it waits in its terminal" if elsewhere else ""
        self._end(request_id, Resolution(approved=False, resolved_by="timeout", who="hub",
                                          reason=f"nobody answered within {in_minutes(limit)}{left}",
                                          option_id=option.option_id if option else None, decides=not elsewhere))

    async def _give_no_answer(self, question_id: str) -> None:
        if question_id in self._recorder.fold.questions:
            await self.answer_question(question_id, Answer(action="cancel"), by="timeout")

    def _end(self, request_id: str, resolution: Resolution) -> None:
        """Resolve it here and now, so that nobody is asked what is decided; the agent is answered once that is stored."""
        if self._settle(request_id, resolution):
            self.answers.send_soon(request_id, resolution)

    async def resolve(self, request_id: str, resolution: Resolution) -> None:
        """Resolve it; whoever waits for this knows that it is stored, and that the agent has its answer."""
        if self._settle(request_id, resolution):
            await self.answers.send(request_id, resolution)

    def _settle(self, request_id: str, resolution: Resolution) -> bool:
        """Write down how it ends; False where somebody was first."""
        if request_id not in self._recorder.fold.approvals:
            return False
        self.timeouts.stop(request_id)
        view = self._recorder.fold.approvals[request_id]
        self._settle_grants(view, allowed=resolution.approved and resolution.updated_input is None)
        self._recorder.at().asks.resolve(
            request_id, approved=resolution.approved, resolved_by=resolution.resolved_by, who=resolution.who,
            reason=resolution.reason, option_id=resolution.option_id, updated_input=resolution.updated_input,
            rules=resolution.rules, decides=resolution.decides)
        self._recorder.write()
        return True

    def _settle_grants(self, view: ApprovalView, *, allowed: bool) -> None:
        for each in _each_call(view):
            self._grants.on_decision(each.request_id, allowed=allowed)

    def _not_open(self, what: str, key: str) -> TrunklineError:
        decided = self._recorder.fold.decided.get(key)
        if decided is None:
            return NotFound(f"no {what} {key} is open in this session")
        details = {"approved": decided.approved, "by": decided.by, "at": decided.at, "resolvedBy": decided.resolved_by}
        if decided.resolved_by == "timeout":
            return Expired(f"{what} {key} expired at {decided.at}: nobody had answered", details=details)
        if (now := self._asked_instead(key)) is not None:
            why = f"what it would do changed, and {now} is asked instead"
            return AlreadyResolved(f"{what} {key} was taken back: {why}", details=details)
        outcome = "approved" if decided.approved else "not approved"
        return AlreadyResolved(f"{what} {key} was {outcome} by {decided.by} at {decided.at}", details=details)

    def _asked_instead(self, key: str) -> str | None:
        """The ask that waits in place of one that was taken back."""
        asks = self._recorder.at().asks
        standing = (asks.standing_for(origin) for origin in (key, key.rpartition("-")[0]))
        return next((now for now in standing if now != key and now in self._recorder.fold.approvals), None)


def _each_call(view: ApprovalView) -> list[ApprovalView]:
    """The approval once for each call of which it shows all that will be done, each by an id of its own. Of several it shows the
    commands, not the texts that they write: whoever allows them all has seen none of these."""
    if len(view.calls) <= 1:
        return [view]
    shown = [call for call in view.calls if call.about is not None and call.command and call.command == call.about.command]
    return [msgspec.structs.replace(view, request_id=f"{view.request_id}/{call.tool_call_id}", tool_call_id=call.tool_call_id,
                                    about=call.about, calls=[]) for call in shown]
