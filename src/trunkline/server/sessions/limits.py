"""Limits of one session: what it may spend, and how long its approvals wait."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from trunkline.errors import Invalid
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.session.fold import Waits
from trunkline.session.fold.caps import Caps

WAIT_LEAST_S = 1.0
WAIT_MOST_S = 7 * 86400.0


class NewWaits(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How long approvals wait, and what the agent is told when nobody answered. Null: as the hub is set."""

    approval_s: float | UnsetType | None = UNSET
    on_timeout: Literal["reject", "cancel"] | UnsetType | None = UNSET

    def over(self, before: Waits) -> Waits:
        """The waits that this makes of those before: what is absent stays."""
        return Waits(
            approval_s=before.approval_s if self.approval_s is UNSET else self.approval_s,
            on_timeout=before.on_timeout if self.on_timeout is UNSET else self.on_timeout or Waits().on_timeout)


class NewLimits(msgspec.Struct, forbid_unknown_fields=True):
    """What is absent stays as it is. ``caps`` replaces all caps: one that it does not name is lifted."""

    caps: Caps | None = None
    waits: NewWaits | None = None


async def set_limits(call: HttpCall) -> Reply:
    """Set them; what was spent already counts."""
    session = await call.session()
    new = await call.body(NewLimits)
    if new.caps is None and new.waits is None:
        raise Invalid("caps or waits is needed", details={"field": "caps"})
    wait_s = new.waits.approval_s if new.waits is not None else None
    if isinstance(wait_s, int | float) and not WAIT_LEAST_S <= wait_s <= WAIT_MOST_S:
        raise Invalid(f"waits.approvalS must be between {WAIT_LEAST_S:g} and {WAIT_MOST_S:g}",
                      details={"field": "waits.approvalS"})
    waits = new.waits.over(session.fold.waits) if new.waits is not None else None
    await session.settings.set_limits(new.caps, waits, by=call.caller.name)
    return reply(session.view())
