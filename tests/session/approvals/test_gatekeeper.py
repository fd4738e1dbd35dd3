"""What a verdict says of the rule that it comes from, and how far rules look into what a command runs in turn."""

from __future__ import annotations

from tests.session.policy.ask_builders import decided, deny, running
from trunkline.dialects.risk.runners.git import CHARS
from trunkline.session.approvals.gatekeeper import SUMMARY_CHARS, rule_summary
from trunkline.session.policy.decide import Rule, Verdict


def test_a_long_rule_is_told_by_its_beginning() -> None:
    long = Rule(action="allow", command=["echo " + "x" * 2 * SUMMARY_CHARS])
    short = Rule(action="allow", command=["echo hi"])
    told = [rule_summary(Verdict("allow", rule, "policy file", "why"))["text"] for rule in (long, short)]
    assert len(told[0]) == SUMMARY_CHARS and "echo hi" in told[1]


def test_what_an_alias_runs_is_held_against_patterns_up_to_a_length() -> None:
    rule = deny(command=["git push*--mirror*"])
    near, far = (running(f"git -c alias.p='push {'x' * length} --mirror' p") for length in (CHARS - 100, CHARS + 100))
    assert decided(near, rule).action == "deny"
    assert decided(far, rule).action == "ask", "what is not read is not allowed either"
