"""What the rules say about a tool call: the hub's policy file, the session's own rules, its permission policy.

Rule 1: a verdict is asked for once per call and moment; nothing is remembered, so a changed rule holds at once.
        What a long command comes to is found out in ``long_asks.py``, off the loop; ``look`` waits for it.
Rule 2: a held session (paused) allows nothing by rule, nor does one in whose turn not all calls are followed; a rule that denies
still denies.
Rule 3: a rule has to be about every place that a path leads to. Where one is not known, nothing is allowed by rule.
Rule 4: an ask about several calls is allowed where each of them is, and denied where one is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from trunkline.session.approvals.long_asks import LongAsks, RulesNow
from trunkline.session.fold import Fold
from trunkline.session.interpret.calls.followed import UNTRACKED
from trunkline.session.policy.decide import Action, Policy, PolicyAsk, Rule, Verdict, always_rule
from trunkline.session.policy.file import PolicyBook
from trunkline.session.policy.text import written_rule
from trunkline.session.workspace.files import Workspace
from trunkline.session.workspace.look import DiskLook, look_at

SUMMARY_CHARS = 1000
"""Characters of a rule that the end of an approval repeats; the whole rule is in the policy, or in the session."""


class Gatekeeper:
    """Applies the rules to one session's calls."""

    def __init__(self, fold: Fold, book: PolicyBook, clock: Callable[[], int], workspace: Workspace) -> None:
        self._fold = fold
        self._book = book
        self._clock = clock
        self._workspace = workspace
        self._long_asks = LongAsks()

    async def look(self, ask: PolicyAsk, known: DiskLook | None = None, together: int = 0) -> DiskLook:
        """Find out what a verdict on a call needs: where its paths lead and, if its command is long, what the rules say of it."""
        look = await look_at(self._workspace, ask.root, ask.paths, known=known)
        await self._long_asks.read(self._rules(), _with_real_paths(ask, look), together)
        return look

    def verdict(self, ask: PolicyAsk, look: DiskLook, then: Callable[[], None] = lambda: None, together: int = 0) -> Verdict:
        """What is to be done with a call: allow it, ask a person, or deny it. ``then`` is called when more is known of a long
        command."""
        fold = self._fold
        verdict = self._long_asks.decide(self._rules(), _with_real_paths(ask, look), then, together)
        if verdict.action == "allow" and fold.paused is not None:
            return Verdict("ask", None, "default", "the session is paused")
        if verdict.action == "allow" and fold.calls_untracked:
            return Verdict("ask", None, "default", UNTRACKED)
        if verdict.action == "allow" and not look.knows(ask.paths):
            return Verdict("ask", None, "default", "where its paths lead could not be found out, so a person decides")
        return verdict

    async def look_at_all(self, asks: Sequence[PolicyAsk]) -> DiskLook:
        """Find out what a verdict on these calls needs."""
        look = DiskLook()
        for ask in asks:
            look = await self.look(ask, look, _together(asks))
        return look

    def verdicts(self, asks: Sequence[PolicyAsk], look: DiskLook, then: Callable[[], None] = lambda: None) -> list[Verdict]:
        """What is to be done with these calls as one: the verdicts that decide it, all of which do the same."""
        together = _together(asks)
        return deciding([self.verdict(ask, look, then, together) for ask in asks])

    async def answer_with(self, rule: Rule, asks: Sequence[PolicyAsk], look: DiskLook) -> Action:
        """What would be done with these calls as one if this rule were in force, too."""
        now = self._rules()
        if rule.session is None:
            rules = replace(now, policy=replace(now.policy, rules=(*now.policy.rules, rule)))
        else:
            rules = replace(now, session_rules=(*now.session_rules, rule))
        return await self._answer(rules, asks, look)

    async def answer_under(self, policy: Policy, asks: Sequence[PolicyAsk], look: DiskLook) -> Action:
        """What would be done with these calls as one if this policy were in force instead."""
        return await self._answer(replace(self._rules(), policy=policy), asks, look)

    async def _answer(self, rules: RulesNow, asks: Sequence[PolicyAsk], look: DiskLook) -> Action:
        held = self._fold.paused is not None or self._fold.calls_untracked or not all(look.knows(ask.paths) for ask in asks)
        given = [_with_real_paths(ask, look) for ask in asks]
        action = (await asyncio.to_thread(lambda: deciding([rules.verdict(ask) for ask in given])))[0].action
        return "ask" if action == "allow" and held else action

    def _rules(self) -> RulesNow:
        fold = self._fold
        return RulesNow(self._book.policy, tuple(fold.rules), fold.permission_policy, self._clock())

    def notice(self) -> None:
        """Have the book look whether its file changed; it says so to whoever wants to know."""
        self._book.refresh()

    def write_rule(self, rule: Rule) -> None:
        """Keep a rule that is meant for good; the others are in the session's fold."""
        self._book.append(rule)

    def rule_for(self, ask: PolicyAsk, look: DiskLook, *, allow: bool, scope: str, reason: str | None, by: str) -> Rule:
        """The rule that a person's decision stands for; where a path is a link, it is about what that leads to as well."""
        turn = self._fold.turn
        rule = always_rule(_with_real_paths(ask, look), allow=allow, scope=scope,  # type: ignore[arg-type]
                           session_id=self._fold.session_id, turn_id=turn.turn_id if turn else None, reason=reason)
        return replace(rule, saved_by=by)


def _together(asks: Sequence[PolicyAsk]) -> int:
    """The characters of all commands that are decided as one: each may be short, and all of them hold the loop."""
    return sum(len(ask.command or ask.claimed) for ask in asks)


def deciding(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Of the verdicts on several calls those that decide: one that denies, else one that asks, else all that allow."""
    for action in ("deny", "ask"):
        for verdict in verdicts:
            if verdict.action == action:
                return [verdict]
    return list(verdicts)


def rule_summary(verdict: Verdict) -> dict[str, str]:
    """A verdict as an approval's end has it: by which rule, from where, and who saved it."""
    rule, source = verdict.rule, {"source": verdict.source}
    if rule is None:
        return {"text": verdict.why, **source}
    name = {"id": rule.id} if rule.id else {"text": ", ".join(written_rule(rule).splitlines()[1:])[:SUMMARY_CHARS]}
    return {**name, **source, **({"savedBy": rule.saved_by} if rule.saved_by else {})}


def _with_real_paths(ask: PolicyAsk, look: DiskLook) -> PolicyAsk:
    """The ask with the places that its paths lead to by symlinks, so that a pattern has to cover those too."""
    real = [place for path in ask.paths if (place := look.real(path)) is not None]
    return replace(ask, paths=tuple(dict.fromkeys((*ask.paths, *real))))
