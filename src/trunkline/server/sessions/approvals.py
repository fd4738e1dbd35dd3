"""Everything that waits for a person, in all sessions at once.

Rule: what waits is shown whichever sessions a client follows. An approval that nobody sees is one that nobody answers.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.hub import PendingAsk
from trunkline.server.call import HttpCall, Reply, reply


class PendingAsks(msgspec.Struct):
    """Approvals and questions that wait, the one that expires first at the top."""

    pending: list[PendingAsk]


class RuleDecision(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """A decision for longer than once that somebody thinks of."""

    decision: Literal["allow", "deny"]
    scope: Literal["turn", "session", "always"] = "always"


async def always_preview(call: HttpCall) -> Reply:
    """What a decision would save, and which asks that would answer."""
    elsewhere = call.parts.elsewhere
    owner = elsewhere.owner_of_ask(call.part("requestId")) if elsewhere is not None and call.asks_all else None
    if elsewhere is not None and owner is not None:
        return await elsewhere.ask(owner, call)
    wanted = await call.body(RuleDecision)
    return reply(await call.hub.preview_rule(call.part("requestId"), allow=wanted.decision == "allow", scope=wanted.scope,
                                             by=call.caller.name))


async def pending(call: HttpCall) -> Reply:
    """What waits now."""
    return reply(PendingAsks(sorted(call.parts.sight.pending(), key=_expires_at)))


def _expires_at(ask: PendingAsk) -> str:
    """Times of one form: as texts they sort as times do. What never expires comes last."""
    if ask.approval is not msgspec.UNSET:
        return ask.approval.expires_at
    return (ask.question.expires_at if ask.question is not msgspec.UNSET else "") or "~"
