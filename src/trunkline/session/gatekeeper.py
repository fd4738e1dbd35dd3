"""What the rules say about a tool call: the hub's policy file, the session's own rules, its permission policy.

Rule 1: a verdict is asked for once per call and moment; nothing is remembered, so a changed rule holds at once.
        What a long command comes to is asked in ``long_asks.py``, off the loop; ``read`` waits for it.
Rule 2: a held session (paused) allows nothing by rule; a rule that denies still denies.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from trunkline.session.fold import Fold
from trunkline.session.long_asks import LongAsks, RulesNow
from trunkline.session.policy import PolicyAsk, Rule, Verdict, always_rule
from trunkline.session.policy_book import PolicyBook


class Gatekeeper:
    """Applies the rules to one session's calls."""

    def __init__(self, fold: Fold, book: PolicyBook, clock: Callable[[], int]) -> None:
        self._fold = fold
        self._book = book
        self._clock = clock
        self.long_asks = LongAsks()

    def verdict(self, ask: PolicyAsk) -> Verdict:
        """What is to be done with a call: allow it, ask a person, or deny it."""
        fold = self._fold
        verdict = self.long_asks.decide(self._rules(), _with_real_paths(ask))
        if verdict.action == "allow" and fold.paused is not None:
            return Verdict("ask", None, "default", "the session is paused")
        return verdict

    async def read(self, ask: PolicyAsk | None) -> None:
        """Wait until a verdict on this can be given at once, if its command is long."""
        if ask is not None:
            await self.long_asks.read(self._rules(), _with_real_paths(ask))

    def _rules(self) -> RulesNow:
        fold = self._fold
        return RulesNow(self._book.policy, tuple(fold.rules), fold.permission_policy, self._clock())

    def notice(self) -> None:
        """Have the book look whether its file changed; it says so to whoever wants to know."""
        self._book.refresh()

    def write_rule(self, rule: Rule) -> None:
        """Keep a rule that is meant for good; the others are in the session's fold."""
        self._book.append(rule)

    def rule_for(self, ask: PolicyAsk, *, allow: bool, scope: str, reason: str | None) -> Rule:
        """The rule that a person's decision stands for; where a path is a link, it is about what that leads to as well."""
        turn = self._fold.turn
        return always_rule(_with_real_paths(ask), allow=allow, scope=scope, session_id=self._fold.session_id,  # type: ignore[arg-type]
                           turn_id=turn.turn_id if turn else None, reason=reason)


def _with_real_paths(ask: PolicyAsk) -> PolicyAsk:
    """The ask with the places that its paths lead to by symlinks, so that a pattern has to cover those too."""
    real = [os.path.realpath(os.path.join(ask.root, os.path.expanduser(path))) for path in ask.paths if "\0" not in path]
    return msgspec.structs.replace(ask, paths=tuple(dict.fromkeys((*ask.paths, *real))))
