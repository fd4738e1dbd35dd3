"""Limits of one session: what it may spend, and how long its approvals wait."""

from __future__ import annotations

import msgspec

from trunkline.errors import Invalid
from trunkline.server.call import Call, Reply, reply
from trunkline.session.caps import Caps
from trunkline.session.fold import Waits

WAIT_LEAST_S = 1.0
WAIT_MOST_S = 7 * 86400.0


class NewWaits(Waits, forbid_unknown_fields=True):
    """How long approvals wait, and what the agent is told when nobody answered."""


class NewLimits(msgspec.Struct, forbid_unknown_fields=True):
    """What is absent stays as it is. ``caps`` replaces all caps: one that it does not name is lifted."""

    caps: Caps | None = None
    waits: NewWaits | None = None


async def set_limits(call: Call) -> Reply:
    """Set them; what was spent already counts."""
    session = await call.session()
    new = await call.body(NewLimits)
    if new.caps is None and new.waits is None:
        raise Invalid("caps or waits is needed", details={"field": "caps"})
    wait_s = new.waits.approval_s if new.waits is not None else None
    if wait_s is not None and not WAIT_LEAST_S <= wait_s <= WAIT_MOST_S:
        raise Invalid(f"waits.approvalS must be between {WAIT_LEAST_S:g} and {WAIT_MOST_S:g}",
                      details={"field": "waits.approvalS"})
    await session.set_limits(new.caps, new.waits, by=call.caller.name)
    return reply(session.view())
