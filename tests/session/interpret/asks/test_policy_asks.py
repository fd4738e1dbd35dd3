"""What the rules look at in an ask: what is more than that is not known."""

from __future__ import annotations

import msgspec
import pytest

from tests.session.interpret.numbered import nth_ask, nth_call
from tests.session.interpret.told import Told
from tests.session.script import OPTIONS
from trunkline.dialects.acp.calls import LOCATIONS
from trunkline.dialects.acp.calls import PATH_CHARS as PLACE_CHARS
from trunkline.dialects.calls.inputs import BEYOND_RULES
from trunkline.dialects.signals import PermissionAsk
from trunkline.session.interpret.asks import policy_asks


@pytest.mark.parametrize("many", [
    {"locations": [{"path": f"a/{number}"} for number in range(LOCATIONS + 1)]},
    {"locations": [{"path": "p" * (PLACE_CHARS + 1)}]},
    {"content": [{"type": "diff", "path": f"a/{number}", "newText": "x"} for number in range(LOCATIONS + 1)]},
], ids=["places", "path", "diffs"])
def test_a_call_with_more_places_than_are_kept_is_not_known(many: dict[str, object]) -> None:
    told = Told().turn()
    told.hear(nth_call(1, kind="read", **many))
    state = told.fold.calls["c1"].state
    assert len(state.locations or []) <= LOCATIONS and len(policy_asks.paths_of(state)) <= LOCATIONS
    told.hear(nth_ask(1, "c1"))
    about = told.fold.approvals["req-1"].about
    assert about is not None and about.risk == "high" and BEYOND_RULES in about.paths, "no rule allows it"
    asked = PermissionAsk("req-2", msgspec.json.encode({"toolCallId": "c2", "kind": "read", **many}), OPTIONS)
    assert BEYOND_RULES in told.interpret.policy_asks.of(asked).paths
