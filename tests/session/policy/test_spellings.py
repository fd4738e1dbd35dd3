"""A path is what it is however it is spelled: by variables, through a process, within a word, as a glob."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.session.policy.ask_builders import DATA, HOME, ROOT
from tests.tooling.rows import every_row
from trunkline.session.policy.decide import Policy, PolicyAsk, always_rule, policy_ask
from trunkline.session.policy.text import parse_policy

ALL = '[[rules]]\ncategory = ["terminal"]\nrisk = ["low", "medium", "high", "critical"]\naction = "allow"\n'
POLICIES = {
    "quiet": '[[rules]]\ncategory = ["terminal"]\naction = "allow"\n',
    "all": ALL,
    "denied": ALL + '[[rules]]\npath = [".env", "secrets/**", "/etc/shadow"]\naction = "deny"\n',
}
TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "spellings.toml").read_text("utf-8"))
ROWS = [(policy, line.strip(), action) for policy, actions in TABLE.items() for action, lines in actions.items()
        for line in lines]


def asked(tool: str, kind: str, given: dict[str, Any]) -> PolicyAsk:
    return policy_ask(tool, kind, given, agent="demo", cwd=ROOT, roots=[ROOT], home=HOME, guarded=[DATA])


@every_row(("policy", "line", "action"), ROWS)
def test_a_line_is_decided_by_what_its_words_may_stand_for(policy: str, line: str, action: str) -> None:
    verdict = parse_policy(POLICIES[policy]).decide(asked("bash", "execute", {"command": line}), now_us=0)
    assert verdict.action == action, verdict.why


def test_what_is_not_sure_is_allowed_by_a_rule_that_is_this_very_command() -> None:
    ask = asked("bash", "execute", {"command": "cp x $OUT"})
    rule = always_rule(ask, allow=True, scope="always", session_id="s1", turn_id=None, reason=None)
    assert Policy((rule,)).decide(ask, now_us=0).action == "allow"
    verdict = parse_policy(POLICIES["quiet"]).decide(ask, now_us=0)
    assert "not sure" in verdict.why and "$OUT" in verdict.why


READS = '[[rules]]\npath = [".env", "secrets/**"]\naction = "deny"\n[auto_approve]\nreads = true\nsearches = true\n'


@every_row(("tool", "given", "action"), [
    ("read_many_files", {"paths": ["s*/key"]}, "ask"),
    ("read_many_files", {"paths": ["s*/**"]}, "ask"),
    ("read_many_files", {"paths": ["{secrets,x}/*"]}, "deny"),
    ("read_many_files", {"paths": [".e*"]}, "ask"),
    ("read_many_files", {"paths": ["{..,x}/*"]}, "ask"),
    ("read_many_files", {"paths": [".?/*"]}, "ask"),
    ("read_many_files", {"paths": [".[.]/.[.]/x"]}, "ask"),
    ("read_many_files", {"paths": ["{a,b}" * 7]}, "ask"),
    ("grep", {"pattern": "x", "path": ".?"}, "ask"),
    ("grep", {"pattern": "x", "path": "sec*"}, "ask"),
    ("Read", {"file_path": "$PWD/secrets/key"}, "ask"),
    ("Read", {"file_path": "$X/y"}, "ask"),
    ("Read", {"file_path": "src/$X/y"}, "ask"),
    ("Read", {"file_path": "src/${X}y"}, "ask"),
    ("Read", {"file_path": "~+/x"}, "ask"),
    ("Read", {"file_path": "/proc/self/cwd/x"}, "ask"),
    ("Read", {"file_path": "app/[id]/page.tsx"}, "allow"),
    ("Read", {"file_path": "app/[...slug]/page.tsx"}, "allow"),
    ("Read", {"file_path": "app/[[...slug]]/page.tsx"}, "allow"),
    ("Read", {"file_path": "app/[user-id]/page.tsx"}, "allow"),
    ("Read", {"file_path": "app/routes/$postId.tsx"}, "allow"),
    ("Read", {"file_path": "src/A$B.class"}, "allow"),
    ("read_many_files", {"paths": ["src/**/*.py", "README.md"]}, "allow"),
])
def test_a_read_by_a_glob_is_about_all_that_it_may_find(tool: str, given: dict[str, Any], action: str) -> None:
    kind = "search" if tool == "grep" else "read"
    verdict = parse_policy(READS).decide(asked(tool, kind, given), now_us=0)
    assert verdict.action == action, verdict.why
