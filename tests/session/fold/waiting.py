"""A fold in which a permission waits."""

from __future__ import annotations

import msgspec

from trunkline.session.fold import ApprovalView, Fold
from trunkline.session.policy.decide import policy_ask

HOME = "/home/ann"
DATA = "/home/ann/.local/share/trunkline"


def waiting() -> Fold:
    """Somebody has to decide about ``npm test``."""
    about = policy_ask("bash", "execute", {"command": "npm test"}, agent="demo", cwd="/srv/app", roots=["/srv/app"], home=HOME,
                       guarded=[DATA])
    view = ApprovalView(
        request_id="req_1", tool_call_id="c1", tool_name="bash", title="npm test", description="", risk_level="low", options=[],
        tool_input=msgspec.Raw(b"{}"), about=about, requested_at="2026-01-01T00:00:00Z", expires_at="2026-01-01T00:10:00Z")
    fold = Fold(session_id="ses_1", agent="demo", cwd="/srv/app", created_at=0, updated_at=0)
    fold.approvals["req_1"] = view
    return fold
