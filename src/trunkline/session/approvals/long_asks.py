"""What the rules say of a long command, found out off the loop: a line of thousands of pieces is held against every rule.

Rule 1: whoever asks on the loop gets an answer at once: the one that was found out, or, while that is under way, that a person
        decides. When it is found out, ``then`` is called: what waits can be looked at again.
Rule 2: an answer holds for the very ask and the very rules that it was found out with, and until one of those expires.
Rule 3: whoever can wait waits (``read``), and then finds the answer there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from trunkline.dialects.answer_cache import AnswerCache
from trunkline.dialects.context.types import PermissionPolicy
from trunkline.session.policy.decide import Policy, PolicyAsk, Rule, Verdict, expired

LONG_CHARS: Final = 4096
WORK_AT_ONCE: Final = 40_000
"""What is held against the rules on the loop: a command of so many characters, and of so many characters times rules. Measured
on a line made for it, which is all operators: 0.75 µs for each character and rule."""
_KEPT: Final = 64

log = logging.getLogger("trunkline.session")


class RulesNow(Struct, frozen=True):
    """The rules that are in force at a moment."""

    policy: Policy
    session_rules: tuple[Rule, ...]
    session_policy: PermissionPolicy | None
    now_us: int

    def verdict(self, ask: PolicyAsk) -> Verdict:
        """What they say of a call."""
        return self.policy.decide(ask, session_rules=self.session_rules, session_policy=self.session_policy, now_us=self.now_us)

    def take_long(self, ask: PolicyAsk, together: int = 0) -> bool:
        """Whether it is found out off the loop what they say; ``together`` are the characters of all that is decided as one."""
        if ask.command is None and not ask.claimed:
            return False
        size, rules = max(together, len(ask.command or ask.claimed)), len(self.session_rules) + len(self.policy.all_rules)
        return size > LONG_CHARS or size * rules > WORK_AT_ONCE

    def are_still(self, now: RulesNow) -> bool:
        """Whether what these decided holds now."""
        if self.policy is not now.policy or self.session_rules != now.session_rules or self.session_policy != now.session_policy:
            return False
        timed = [rule for rule in (*self.session_rules, *self.policy.all_rules) if rule.expires_at is not None]
        return all(expired(rule, self.now_us) == expired(rule, now.now_us) for rule in timed)


class LongAsks:
    """The verdicts on the long commands of one session."""

    def __init__(self) -> None:
        self._found: AnswerCache[PolicyAsk, tuple[RulesNow, Verdict]] = AnswerCache(_KEPT)
        self._under_way: dict[PolicyAsk, asyncio.Task[None]] = {}

    def decide(self, rules: RulesNow, ask: PolicyAsk, then: Callable[[], None] = lambda: None, together: int = 0) -> Verdict:
        """What the rules say, as far as that is known at once; ``then`` is called when more can be."""
        if not rules.take_long(ask, together):
            return rules.verdict(ask)
        found = self._found.get(ask)
        if found is not None and found[0].are_still(rules):
            return found[1]
        self._find_out(rules, ask, then)
        # Not by default: an agent that asks only where a rule wants it to has to ask about this.
        return Verdict("ask", None, "policy file", "the command is long and not read yet, so a person decides until it is")

    async def read(self, rules: RulesNow, ask: PolicyAsk, together: int = 0) -> None:
        """Find it out, and wait for that, where ``decide`` cannot say it at once."""
        if not rules.take_long(ask, together):
            return
        found = self._found.get(ask)
        if found is None or not found[0].are_still(rules):
            await asyncio.shield(self._find_out(rules, ask, lambda: None))

    def _find_out(self, rules: RulesNow, ask: PolicyAsk, then: Callable[[], None]) -> asyncio.Task[None]:
        task = self._under_way.get(ask)
        if task is None:
            task = self._under_way[ask] = asyncio.get_running_loop().create_task(self._found_out(rules, ask))
        task.add_done_callback(lambda _: then())
        return task

    async def _found_out(self, rules: RulesNow, ask: PolicyAsk) -> None:
        try:
            verdict = await asyncio.to_thread(rules.verdict, ask)
        except Exception:  # the boundary: what broke the rules' reading is for a person, and not asked about again at once
            log.exception("what the rules say of a long command could not be found out")
            verdict = Verdict("ask", None, "policy file", "the command could not be held against the rules")
        finally:
            self._under_way.pop(ask, None)
        self._found.put(ask, (rules, verdict))
