"""How the journal is: whole, hurt, or full. What was found damaged is shown until somebody has the files out of the way.

Rule: who reads this learns that something is lost and where, never what was in it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.dialects.context.envelope import iso_ms
from trunkline.errors import StorageError
from trunkline.server.call import HttpCall, Reply, reply


class DamageView(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """Something that cannot be read any more: entries ``from`` to ``to`` of a session; without them, more than entries."""

    number: int
    at: str
    session_id: str = ""
    first: int = msgspec.field(default=0, name="from")
    last: int = msgspec.field(default=0, name="to")
    what: str


class JournalView(msgspec.Struct, kw_only=True, rename="camel"):
    """The state of the journal. ``asides`` are damaged files that were put aside; ``unwritable`` is why nothing can be stored."""

    state: Literal["whole", "hurt", "unwritable"]
    damages: list[DamageView]
    asides: list[str]
    unwritable: str | None = None


async def journal(call: HttpCall) -> Reply:
    """What was found damaged, the newest first, and whether the journal can be written."""
    health = await call.hub.journal_health()
    damages = [DamageView(number=damage.number, at=iso_ms(damage.at), session_id=damage.session, first=damage.first,
                          last=damage.last, what=damage.what) for damage in health.damages]
    hurt: Literal["hurt", "whole"] = "hurt" if damages or health.asides else "whole"
    return reply(JournalView(state="unwritable" if health.unwritable else hurt, damages=damages, asides=health.asides,
                             unwritable=health.unwritable))


async def check_writable(call: HttpCall) -> None:
    """StorageError while nothing can be stored."""
    health = await call.hub.journal_health()
    if health.unwritable is not None:
        raise StorageError(health.unwritable)
