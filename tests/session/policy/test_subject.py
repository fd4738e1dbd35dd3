"""What rules look at in one line has bounds, and beyond them nothing is allowed by rule."""

from __future__ import annotations

from msgspec.structs import replace

from trunkline.dialects.calls.variables import SHELLS_DEEP, bare_line
from trunkline.session.policy.decide import Policy, PolicyAsk, policy_ask
from trunkline.session.policy.subject import BASES, BUNDLE_ENDS, LOOSE, Subject
from trunkline.session.policy.text import parse_policy

POLICY = """
[[rules]]
action = "deny"
path = ["keys/**", "secrets"]

[[rules]]
action = "allow"
command = ["cd *", "cat *", "grep *"]
"""


def asked(line: str) -> PolicyAsk:
    return policy_ask("bash", "execute", {"command": line}, agent="demo", cwd="/w/app", roots=["/w/app"], home="/home/ann")


def action(line: str) -> str:
    rules: Policy = parse_policy(POLICY)
    return rules.decide(asked(line), now_us=1).action


def test_a_line_that_goes_to_very_many_folders_may_be_about_any_path() -> None:
    few, many = (" && ".join([*(f"cd d{number}" for number in range(count)), "cat notes"]) for count in (2, BASES + 1))
    assert [action(few), action(many)] == ["allow", "ask"]


def test_very_many_bundles_of_options_may_be_about_any_path() -> None:
    alike = [f"-{first}{second}{'bcdefghij' * 4}" for first in "klmnop" for second in "klmnop"]
    few, many = (f"grep {' '.join(alike[:count])} -rfsecrets notes" for count in (2, BUNDLE_ENDS // 20))
    assert [action("grep -rn x notes"), action(few), action(many)] == ["allow", "ask", "ask"]


def test_a_line_with_a_word_that_only_the_shell_knows_is_held_against_the_hubs_own_word_by_word() -> None:
    def guarded(line: str) -> str:
        return Subject(replace(asked(line), guarded=("/w/data",))).guarded

    assert guarded("for x in /w/data/token; do cat $x; done") == guarded("for x in .?/data/token; do cat $x; done") == "/w/data"
    assert guarded("for x in /w/data/playground; do mv $x y; done") == "/w/data"
    assert guarded("for x in /w/data/playground/a b; do cat $x; done") == guarded("for x in a b; do cat $x; done") == ""
    few, many = (f"echo $x '{' '.join(f'a{number}' for number in range(count))}'" for count in (9, LOOSE))
    assert [guarded(few), guarded(many)] == ["", "/w/data"]


def test_shells_within_shells_are_looked_through_only_so_deep() -> None:
    def bared(depth: int) -> str:
        line = "echo hi"
        for _ in range(depth):
            line = f"bash -c {_quoted(line)}"
        return bare_line([line]).line

    assert bared(SHELLS_DEEP) == "echo hi"
    assert bared(SHELLS_DEEP + 2) != "echo hi"


def _quoted(line: str) -> str:
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
