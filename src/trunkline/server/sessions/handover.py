"""Sessions that change hands: who has one, taking it over, giving it back.

Rule: a handler asks and encodes. What may be taken over when, and in which words that is said, is the adapters' business.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trunkline.adapters.handover import Handover
from trunkline.errors import NotFound
from trunkline.hub import Session
from trunkline.server.call import HttpCall, Reply, reply

WAIT_MOST_S = 60
"""How long a request may wait for a program to end: below what proxies cut off."""


class TakeOver(msgspec.Struct, forbid_unknown_fields=True):
    """How to go on: with the very session, with a branch of it, or with a new one that begins with what was said."""

    how: Literal["resume", "fork", "summary"] = "resume"


async def show(call: HttpCall) -> Reply:
    """Who has the session, and what can be done. With ``wait``: once the program that has it has ended."""
    session = await call.session()
    handover, seconds = _handover(call, session), call.integer("wait", 0, most=WAIT_MOST_S)
    if seconds:
        await handover.wait(session, seconds)
    return reply(await handover.view(session))


async def take_over(call: HttpCall) -> Reply:
    """Go on here with a session that is followed."""
    session = await call.session()
    how = (await call.body(TakeOver, default=TakeOver())).how
    taken = await _handover(call, session).take_over(session, how, by=call.caller.name)
    return reply(await taken.snapshot(), 200 if taken is session else 201, {"Location": f"/sessions/{taken.id}"})


async def give_back(call: HttpCall) -> Reply:
    """End the agent here, so that its own program can go on."""
    session = await call.session()
    handover = _handover(call, session)
    await handover.give_back(session, by=call.caller.name)
    return reply(await handover.view(session))


def _handover(call: HttpCall, session: Session) -> Handover:
    spec = call.hub.agents.get(session.fold.agent)
    if spec is None:
        raise NotFound(f"no agent {session.fold.agent!r} is known any more", details={"agent": session.fold.agent})
    return Handover(call.hub, spec)
