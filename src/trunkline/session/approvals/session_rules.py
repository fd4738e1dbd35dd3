"""The rules that decisions of a session stand for, and what rules would answer in it. Nothing is saved or decided here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from trunkline.errors import Invalid, Unsupported
from trunkline.session.admission import Admission
from trunkline.session.approvals.approvals import Approvals
from trunkline.session.approvals.gatekeeper import Gatekeeper
from trunkline.session.commands.requests import Scope
from trunkline.session.fold import ApprovalView, Fold
from trunkline.session.interpret.asks.subjects import NOT_KNOWN
from trunkline.session.policy.decide import Action, Policy, PolicyAsk, Rule
from trunkline.session.workspace.look import DiskLook


class SessionRules:
    """Rules, seen from one session."""

    def __init__(self, fold: Fold, approvals: Approvals, gate: Gatekeeper, admission: Admission) -> None:
        self._fold = fold
        self._approvals = approvals
        self._gate = gate
        self._admission = admission

    def on_change(self) -> None:
        """The policy of all sessions was changed: some of what waits here may be decided now."""
        if self._admission.is_driven:
            self._approvals.look_again()

    async def rule_of(self, request_id: str, *, allow: bool, scope: Scope, by: str) -> Rule:
        """The rule that somebody would save by deciding an approval so; nothing is saved."""
        view = self._approvals.open(request_id)
        return self.rule_for(view, await self._gate.look_at_all(view.abouts), allow, scope, f"decided by {by}", by)

    async def answered_by(self, rule: Rule) -> list[tuple[ApprovalView, bool]]:
        """The approvals that wait and that this rule would answer if it were in force, and whether with yes."""
        if rule.session is not None and rule.session != self._fold.session_id:
            return []
        return await self._answered(lambda asks, look: self._gate.answer_with(rule, asks, look))

    async def answered_under(self, policy: Policy) -> list[tuple[ApprovalView, bool]]:
        """The same, if this policy took the place of the one in force."""
        return await self._answered(lambda asks, look: self._gate.answer_under(policy, asks, look))

    async def _answered(self, decide: Callable[[Sequence[PolicyAsk], DiskLook], Awaitable[Action]]
                        ) -> list[tuple[ApprovalView, bool]]:
        found: list[tuple[ApprovalView, bool]] = []
        for view in list(self._fold.approvals.values()):
            action = await decide(view.abouts, DiskLook.kept(view.disk, view.abouts)) if view.abouts else "ask"
            if action != "ask":
                found.append((view, action == "allow"))
        return found

    def rule_for(self, view: ApprovalView, look: DiskLook, allow: bool, scope: Scope, reason: str | None, by: str) -> Rule:
        """The rule that a decision for longer than once stands for; Invalid where no rule could be about it."""
        if len(view.calls) > 1:
            raise Invalid(f"this is about {len(view.calls)} calls, and a rule is about one; decide once")
        if view.about is None:
            raise Unsupported("there is nothing that a rule could be about in this request; decide once")
        if NOT_KNOWN in view.about.doubts:
            raise Invalid("it is not known what this does, so there is nothing that a rule could be about; decide once")
        return self._gate.rule_for(view.about, look, allow=allow, scope=scope, reason=reason, by=by)
