"""The fold as clients see it, and as it is stored."""

from __future__ import annotations

import msgspec

from trunkline.hub.shapes import pending_in
from trunkline.session.fold import ApprovalView, Fold, checkpoint, restore, view_of
from trunkline.session.policy.decide import policy_ask

HOME = "/home/ann"
DATA = "/home/ann/.local/share/trunkline"


def waiting() -> Fold:
    about = policy_ask("bash", "execute", {"command": "npm test"}, agent="demo", cwd="/srv/app", roots=["/srv/app"], home=HOME,
                       guarded=[DATA])
    view = ApprovalView(
        request_id="req_1", tool_call_id="c1", tool_name="bash", title="npm test", description="", risk_level="low", options=[],
        tool_input=msgspec.Raw(b"{}"), about=about, requested_at="2026-01-01T00:00:00Z", expires_at="2026-01-01T00:10:00Z")
    fold = Fold(session_id="ses_1", agent="demo", cwd="/srv/app", created_at=0, updated_at=0)
    fold.approvals["req_1"] = view
    return fold


def test_clients_do_not_learn_where_the_hub_keeps_its_files() -> None:
    fold = waiting()
    view = view_of(fold)
    for seen in (view, *pending_in(fold)):
        text = msgspec.json.encode(seen).decode()
        assert "npm test" in text
        assert HOME not in text and "guarded" not in text


def test_the_rules_know_it_also_after_a_restart() -> None:
    fold = waiting()
    view_of(fold)
    about = restore(checkpoint(fold)).approvals["req_1"].about
    assert about is not None and (about.guarded, about.home) == ((DATA,), HOME)
