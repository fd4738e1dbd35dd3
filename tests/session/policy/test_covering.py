"""What a pattern of an allow rule covers: the command that it names, also behind one that starts it, and no more."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.session.policy.ask_builders import DATA, HOME, NOW_US, ROOT
from tests.tooling.rows import every_row
from trunkline.session.policy.decide import Policy, Rule, policy_ask

TABLE: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "covering.toml").read_text("utf-8"))
ROWS = [(patterns, line, action) for patterns, actions in TABLE.items() for action, lines in actions.items() for line in lines]


@every_row(("patterns", "line", "action"), ROWS)
def test_a_pattern_covers_what_it_names_and_nothing_beyond(patterns: str, line: str, action: str) -> None:
    ask = policy_ask("bash", "execute", {"command": line}, agent="demo", cwd=ROOT, roots=[ROOT], home=HOME, guarded=[DATA])
    verdict = Policy((Rule(action="allow", command=patterns.split("|")),)).decide(ask, now_us=NOW_US)
    assert verdict.action == action, (ask.risk, ask.risk_reason, verdict.why)
