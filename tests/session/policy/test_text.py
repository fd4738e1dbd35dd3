"""policy.toml as text: what it may say, and that it reads back as it was written."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tooling.rows import every_row
from trunkline.dialects.context.types import AutoApprove, PermissionPolicy
from trunkline.errors import Invalid
from trunkline.session.policy.decide import PolicyAsk, Rule
from trunkline.session.policy.text import (
    RULES,
    TEXT_BYTES,
    parse_policy,
    with_rule,
    without_rule,
    written_auto_approve,
    written_rule,
)

NOW_US = 1_800_000_000_000_000
GOOD = """\
# Keep out.
[[rules]]
path = ".env"          # one pattern needs no list
reason = "secrets"
action = "deny"

# Tests may run.
[[rules]]
command = ["npm test*", "!npm test:slow*"]
risk = ["low", "medium"]
expires_at = 2099-01-01T00:00:00Z
action = "allow"

[auto_approve]
reads = true
writes = ["src/**"]
"""


def running(command: str) -> PolicyAsk:
    return PolicyAsk(tool="Bash", category="terminal", agent="demo", risk="low", command=command, root="/app")


def test_a_policy_says_rules_in_order_and_what_is_approved() -> None:
    policy = parse_policy(GOOD)
    assert policy.rules == (
        Rule(action="deny", path=[".env"], reason="secrets"),
        Rule(action="allow", command=["npm test*", "!npm test:slow*"], risk=["low", "medium"],
             expires_at="2099-01-01T00:00:00+00:00"),
    )
    assert policy.auto_approve is not None
    auto = policy.auto_approve.auto_approve
    assert (auto.reads, auto.writes, auto.commands, auto.searches) == (True, ["src/**"], False, False)


BAD = [
    # text, what the error says
    ("[[rules]]\naction = \"allow\"", "rule 1 (line 1): an allow rule must say what it is about"),
    ("\n\n[[rules]]\ncommand = 'x'\naction = 'permit'", "rule 1 (line 3): action: Invalid enum value 'permit'"),
    ("[[rules]]\ncommand = 'x'", "rule 1 (line 1): Object missing required field `action`"),
    ("[[rules]]\naction = 'deny'\ncomand = 'x'", "rule 1 (line 1): unknown key 'comand'"),
    ("[[rules]]\naction = 'deny'\ncommand = 3", "rule 1 (line 1): command: Expected `array`, got `int`"),
    ("[[rules]]\naction = 'deny'\ncommand = ['x', 3]", "command: Expected `str`, got `int`"),
    ("[[rules]]\naction = 'deny'\ncategory = 'files'", "category: Invalid enum value 'files'"),
    ("[[rules]]\naction = 'deny'\nrisk = ['huge']", "risk: Invalid enum value 'huge'"),
    ("[[rules]]\naction = 'deny'\ncommand = ['']", "command: expected a pattern"),
    ("[[rules]]\naction = 'deny'\ncommand = ['!x']", "command: only exclusions"),
    ("[[rules]]\naction = 'allow'\npath = ['!x', '!y']", "path: only exclusions"),
    ("[[rules]]\naction = 'allow'\npath = ['../**']", "path: '../**': no pattern leaves the root"),
    ("[[rules]]\naction = 'allow'\npath = ['~/x']", "path: what is allowed is relative"),
    ("[[rules]]\naction = 'allow'\npath = ['" + "{a,b}" * 9 + "']", "stands for more than 64"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 2026-01-01T00:00:00", "'2026-01-01T00:00:00' does not say"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 2026-01-01", "expires_at: Expected `str"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nexpires_at = 'soon'", "expires_at: 'soon' is not a time"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = 'here'", "root: expected an absolute path"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = '/tmp/../etc'", "root: '/tmp/../etc' takes a detour"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nroot = '~/./x'", "root: '~/./x' takes a detour"),
    ("[[rules]]\naction = 'deny'\npath = 'x'\nsession = ''", "session: expected 1 to"),
    ("rules = 3", "rules: expected [[rules]]"),
    ("rules = [3]", "rule 1: expected a table"),
    ("rule = []", "the policy: unknown key 'rule'"),
    ("[auto_approve]\nreads = 'yes'", "auto_approve: reads: Expected `bool`"),
    ("[auto_approve]\nwrite = true", "auto_approve: unknown key 'write'"),
    ("[auto_approve]\nwrites = ['!x']", "auto_approve: writes: only exclusions"),
    ("auto_approve = true", "auto_approve: expected a table"),
    ("[[rules]\n", "not TOML: Expected ']]' at the end of an array declaration (at line 1"),
    ("a = \x00", "not TOML"),
    ("x = " + "[" * 3000, "not TOML"),
    ("# " + "x" * (1 << 20), "longer than"),
    ("[[rules]]\naction = 'deny'\n" * 2001, "2000 at most"),
]


@every_row(("text", "says"), BAD)
def test_what_is_wrong_is_said_with_its_place(text: str, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_policy(text)
    assert says in caught.value.message


def test_a_cut_off_file_never_allows_more_than_the_whole_one() -> None:
    rule = Rule(action="allow", command=["make"], path=["src/**"], tool=["Bash"], risk=["low"], agent=["demo"], root="/app",
                session="s9")
    text = written_rule(Rule(action="deny", path=[".env"], reason="secrets")) + "\n" + written_rule(rule)
    for end in range(len(text)):
        try:
            policy = parse_policy(text[:end])
        except Invalid:
            continue
        assert [one.action for one in policy.rules if one.action == "allow"] in ([], ["allow"])
        assert all(one in (rule, Rule(action="deny", path=[".env"], reason="secrets")) for one in policy.rules), text[:end]


def test_a_rule_after_a_list_of_rules_says_what_to_do() -> None:
    with pytest.raises(Invalid, match="write them as"):
        with_rule("rules = [{action = 'deny', path = ['x']}]\n", Rule(action="deny", command=["rm *"]))


def test_a_limit_to_nothing_is_not_left_out_when_a_rule_is_written() -> None:
    rule = Rule(action="allow", command=["x"])
    for limited in (replace(rule, session=""), replace(rule, turn=""), replace(rule, root=""), replace(rule, expires_at="")):
        with pytest.raises(Invalid):
            parse_policy(written_rule(limited))


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda word: word.removeprefix("!") and not word.startswith("!"))


@given(st.fixed_dictionaries({"action": st.just("deny")}, optional={
    "command": st.lists(WORDS, min_size=1, max_size=3), "tool": st.lists(WORDS, min_size=1, max_size=2), "reason": WORDS,
    "session": WORDS, "id": WORDS, "risk": st.lists(st.sampled_from(["low", "high"]), min_size=1, max_size=2),
}))
def test_every_rule_reads_back_as_it_was_written(values: dict[str, Any]) -> None:
    rule = Rule(**values)
    assert parse_policy(with_rule(GOOD, rule)).rules[-1] == rule


AUTO_WORDS = st.booleans() | st.lists(WORDS, min_size=1, max_size=3)


@given(AUTO_WORDS, st.booleans())
def test_every_permission_policy_reads_back_as_it_was_written(commands: bool | list[str], reads: bool) -> None:
    auto = AutoApprove(reads=reads, writes=["src/\x7f"], commands=commands, searches=False)
    policy = PermissionPolicy(auto_approve=auto)
    assert parse_policy(written_auto_approve(policy)).auto_approve == policy


@pytest.mark.parametrize("text", ["#" * (TEXT_BYTES + 1), '[[rules]]\naction = "deny"\n' * (RULES + 1)])
def test_a_policy_that_is_too_long_is_not_read(text: str) -> None:
    with pytest.raises(Invalid):
        parse_policy(text)


COMMENTED = """\
# all of them

# about the first
[[rules]]  # one
command = [
  "a",  # why
  "[b]",
]
action = "allow"
# still the first's, or the second's

# about the second
[[rules]]
reason = \'\'\'
# no comment
[not a table
\'\'\'
path = "x"
action = "deny"

[auto_approve]  # at the end
reads = true
"""


def test_a_rule_that_is_taken_out_goes_with_its_lines_and_nothing_else() -> None:
    first, second = parse_policy(COMMENTED).rules
    without_first = without_rule(COMMENTED, 1)
    assert parse_policy(without_first).rules == (second,) and parse_policy(without_first).auto_approve is not None
    assert without_first == COMMENTED[:COMMENTED.index("[[rules]]  # one")] + COMMENTED[COMMENTED.index("# still"):]
    without_both = without_rule(written_rule(first) + "\n" + written_rule(second), 2)
    assert without_both == written_rule(first) and without_rule(without_both, 1) == ""
    assert without_rule(f"# mine\n\n{written_rule(first)}", 1) == "# mine\n"


@every_row(("text", "number", "says"), [
    ("", 1, "there is no rule 1: the policy has no rules"),
    (written_rule(Rule(action="deny", path=["x"])), 2, "there is no rule 2: the policy has one rule"),
    (COMMENTED, 0, "there is no rule 0: the policy has 2 rules"),
    (COMMENTED, 2, "it is not plain which lines rule 2 has"),
    ('rules = [{action = "deny", path = "x"}]\n', 1, "it is not plain which lines rule 1 has"),
    ("[[rules]]\n", 1, "action"),
])
def test_what_cannot_be_taken_out_is_refused(text: str, number: int, says: str) -> None:
    with pytest.raises(Invalid, match=re.escape(says)):
        without_rule(text, number)


@given(st.lists(st.dictionaries(st.sampled_from(["agent", "command", "tool"]), st.lists(WORDS, min_size=1, max_size=3),
                                min_size=1), min_size=1, max_size=4), st.data())
def test_taking_any_rule_out_leaves_the_others_as_they_were(many: list[dict[str, Any]], data: st.DataObject) -> None:
    rules = [Rule(action="deny", **values) for values in many]
    text = ""
    for rule in rules:
        text = with_rule(text, rule)
    number = data.draw(st.integers(1, len(rules)))
    assert list(parse_policy(without_rule(text, number)).rules) == rules[:number - 1] + rules[number:]
