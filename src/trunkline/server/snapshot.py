"""A session as a client finds it when it joins: its state, and the seq up to which that state is told.

Rule: state and position are copied in one step. What has a higher seq is news, whatever a client does with it.
"""

from __future__ import annotations

import msgspec

from trunkline.hub import Session, SessionView
from trunkline.server.call import Call, Reply, reply


class Snapshot(msgspec.Struct, rename="camel"):
    """The state of a session after the entry ``seq``."""

    session_id: str
    seq: int
    state: SessionView


async def snapshot_of(session: Session) -> Snapshot:
    """The session now, with everything that waits for somebody."""
    view = await session.snapshot()
    view.commands = await session.commands()
    return Snapshot(session.id, view.last_seq, view)


async def snapshot(call: Call) -> Reply:
    """What a client that joins needs: go on with the events after ``seq``."""
    return reply(await snapshot_of(await call.session()))
