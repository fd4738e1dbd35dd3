"""Rules cannot be talked around: lines by class, each with what the policy says to it. The lines are data; none is ever run."""

from __future__ import annotations

import string
import time
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.rows import every_row
from trunkline.session.policy.decide import Policy, Verdict, policy_ask
from trunkline.session.policy.text import parse_policy

ROOT: Final = "/home/ann/app"
HOME: Final = "/home/ann"
FILES: Final = ("talked_around.toml", "attacks.toml", "reviewed.toml", "surveyed.toml", "adversary_1.toml", "adversary_2.toml",
                "adversary_3.toml", "adversary_4.toml", "adversary_left.toml")
TABLES: Final[list[dict[str, Any]]] = [
    tomllib.loads(path.read_text("utf-8")) for name in FILES if (path := Path(__file__).parent / name).exists()]
POLICIES: Final[dict[str, str]] = {name: text for table in TABLES for name, text in table.get("policies", {}).items()}
ROWS: Final = [(one["policy"], line, action) for table in TABLES for one in table["classes"]
               for action in ("allow", "ask", "deny", "held") for line in one.get(action, ())]


@cache
def policy_of(name: str) -> Policy:
    return parse_policy(POLICIES[name])


def decided(name: str, line: str, **members: Any) -> Verdict:
    ask = policy_ask("bash", "execute", {"command": line, **members}, agent="demo", cwd=ROOT, roots=[ROOT], home=HOME)
    return policy_of(name).decide(ask, now_us=0)


@every_row(("policy", "line", "action"), ROWS)
def test_a_line_is_decided_as_the_table_says(policy: str, line: str, action: str) -> None:
    verdict = decided(policy, line)
    assert verdict.action == action or (action == "held" and verdict.action != "allow"), verdict.why


def test_the_table_is_as_long_as_it_was_promised() -> None:
    assert len([action for _, _, action in ROWS if action != "allow"]) >= 750
    assert len([action for _, _, action in ROWS if action == "allow"]) >= 80


LETTERS: Final = st.text(string.ascii_letters + string.digits, min_size=1, max_size=30)


@given(LETTERS, st.sampled_from([".env", "./.env", "secrets/key", "~/.ssh/id_rsa", f"{ROOT}/.env"]),
       st.sampled_from(["", "=", "@"]))
def test_every_end_of_a_bundle_may_be_a_denied_path(letters: str, denied: str, sign: str) -> None:
    assert decided("paths", f"some-tool -{letters}{sign}{denied} x").action in ("ask", "deny")


@given(st.integers(0, 3), st.sampled_from("*?"), st.booleans())
def test_a_glob_of_a_denied_name_is_never_passed_over(at: int, wild: str, rest: bool) -> None:
    name = ".env"
    glob = name[:at] + wild + ("" if rest and wild == "*" else name[at + 1:])
    if glob != "*":  # a star alone is every name that is not hidden
        assert decided("paths", f"cat {glob}").action in ("ask", "deny")


@pytest.mark.parametrize("member", ["dangerouslyDisableSandbox", "run_as", "after_command", "sandbox_permissions"])
def test_a_member_that_nobody_knows_keeps_an_allow_from_matching(member: str) -> None:
    assert decided("patterns", "npm test").action == "allow"
    verdict = decided("patterns", "npm test", **{member: "root"})
    assert verdict.action == "ask"


@every_row("unit", [
    "cd a;", "man -Pa b;", "x -rrrrrrrrrrrr ", "find a -exec cat {} +;", "cat a* ", "git -c alias.p=q p;",
])
def test_deciding_takes_time_in_proportion_to_the_line(unit: str) -> None:
    """Own time, and a bound that only a square would pass: a line four times as long."""
    decided("paths", "true")
    short, long = (_own_time_s(unit * (size // len(unit))) for size in (1000, 4000))
    assert long < max(short, 0.004) * 12


def _own_time_s(line: str) -> float:
    """The least of three, each of a line of its own, for lines are kept parsed."""
    found = []
    for number in range(3):
        before = time.thread_time()
        decided("paths", f"true {number}; {line}")
        found.append(time.thread_time() - before)
    return min(found)


def test_old_always_rules_load_and_allow_what_they_named() -> None:
    line = "pytest -p evil && make -f x.mk > out.txt"
    policy = parse_policy(f'''[[rules]]
tool = ["bash"]
agent = ["demo"]
command = ["{line}"]
root = "{ROOT}"
action = "allow"
''')
    for text, action in ((line, "allow"), (f"{line} ", "ask"), ("pytest -p evil", "ask"), (f"{line}; ls", "ask")):
        ask = policy_ask("bash", "execute", {"command": text}, agent="demo", cwd=ROOT, roots=[ROOT], home=HOME)
        assert policy.decide(ask, now_us=0).action == action, text


def test_a_reason_says_which_names_cannot_be_known() -> None:
    assert "names that come from elsewhere" in decided("paths", "ls -A | xargs cat").why


def test_a_reason_says_which_option_changes_what_is_run() -> None:
    assert "`-p` changes what is run" in decided("patterns", "pytest -p evil").why
