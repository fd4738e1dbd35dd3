"""Whether the person is away from the terminals, over HTTP.

Rule: said by a person, with a token that may decide; who may look may see it.
"""

from __future__ import annotations

import time

import msgspec

from trunkline.hub import Hub
from trunkline.server.call import HttpCall, Reply, reply


class AwayView(msgspec.Struct, rename="camel", kw_only=True):
    """``since`` in UTC, microseconds; absent where nobody has ever said."""

    away: bool
    since: int | msgspec.UnsetType = msgspec.UNSET
    by: str | msgspec.UnsetType = msgspec.UNSET


class NewAway(msgspec.Struct, forbid_unknown_fields=True):
    """The person leaves, or is back."""

    away: bool


async def show(call: HttpCall) -> Reply:
    """How it is."""
    return reply(_view(call.hub))


async def change(call: HttpCall) -> Reply:
    """Leave, or come back."""
    wanted = await call.body(NewAway)
    await call.hub.away.set(wanted.away, at=time.time_ns() // 1000, by=call.caller.name)
    return reply(_view(call.hub))


def _view(hub: Hub) -> AwayView:
    away = hub.away
    return AwayView(away=away.is_away, since=away.since or msgspec.UNSET, by=away.by or msgspec.UNSET)
