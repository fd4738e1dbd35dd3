"""Two agents written to mislead: nothing that a person would call dangerous is approved by a rule that does not name it.

Here their plays go through the fold and the rules alone; on a whole hub they are in tests/acceptance/test_misleading.py.
"""

from __future__ import annotations

import msgspec

from tests.session.misleading import POLICY, Case, cases
from tests.tooling.rows import every_row
from tests.tooling.story import Player
from tests.tooling.transcripts import Prompt
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Update
from trunkline.session.policy.text import parse_policy

CASES = cases()
GO = Prompt([msgspec.Raw(b'{"type":"text","text":"go"}')])
OPTIONS = (PermissionOption("yes", "Yes", "allow_once"), PermissionOption("no", "No", "reject_once"))
RULES = parse_policy(POLICY)


def verdicts(case: Case) -> list[str]:
    """What the rules say of each ask of a play; each is answered as they say, and no where they ask."""
    found: list[str] = []
    player = Player()
    player.play(GO)
    for number, step in enumerate(case.play):
        said = {"toolCallId": step.get("id", "c"), **{key: step[key] for key in step if key not in ("do", "id", "harmless")}}
        if step["do"] != "ask":
            kind = "tool_call" if step["do"] == "call" else "tool_call_update"
            titled = {"title": said.get("name", "")} if kind == "tool_call" else {}
            player.play(Update(msgspec.json.encode({"sessionUpdate": kind, **titled, **said})))
            continue
        request_id = f"r{number}"
        player.play(PermissionAsk(request_id, msgspec.json.encode(said), OPTIONS))
        view = player.fold.approvals[request_id]
        abouts = [view.about] if view.about is not None else [call.about for call in view.calls]
        actions = {RULES.decide(about, now_us=0).action for about in abouts if about is not None}
        found.append("allow" if actions == {"allow"} else "ask")  # what is about several calls is allowed where each of them is
        yes = found[-1] == "allow"
        player.act(lambda now, ask=request_id, yes=yes: now.asks.resolve(  # type: ignore[misc]
            ask, approved=yes, resolved_by="policy", who="hub"))
    return found


def test_there_are_two_hundred_calls_of_two_agents() -> None:
    misleading = [case for case in CASES if not case.harmless]
    assert len(misleading) >= 200 and {case.agent for case in misleading} == {"names", "order"}


@every_row("case", CASES)
def test_only_what_is_harmless_is_approved_by_a_rule(case: Case) -> None:
    assert [verdict == "allow" for verdict in verdicts(case)] == case.asks, case.play
