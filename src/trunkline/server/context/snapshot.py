"""A session as a client finds it when it joins: its state, and the seq up to which that state goes.

Rule: state and position are copied in one step. What has a higher seq is news, whatever a client does with it.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from trunkline.adapters.capabilities import session_capabilities
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.hub import Hub, SessionView
from trunkline.hub.sight import ShownSession
from trunkline.server.call import HttpCall, Reply, reply


class SessionState(SessionView, kw_only=True, rename="camel"):
    """A session's view, with all that waits for somebody, and what works in this session."""

    capabilities: Capabilities | UnsetType = UNSET
    """Absent where the catalog does not know the agent any more."""


class Snapshot(msgspec.Struct, rename="camel"):
    """The state of a session after the entry ``seq``."""

    session_id: str
    seq: int
    state: SessionState


async def snapshot_of(hub: Hub, session: ShownSession) -> Snapshot:
    """The session now."""
    view = await session.snapshot()
    view.commands = await session.commands()
    spec = hub.agents.get(view.agent)
    capabilities = session_capabilities(spec, session.fold) if spec is not None else UNSET
    fields = {name: getattr(view, name) for name in view.__struct_fields__}
    fields["resume_command"] = spec.resume_command(view.agent_session_id, view.cwd) if spec is not None else None
    return Snapshot(session.id, view.last_seq, SessionState(**fields, capabilities=capabilities))


async def snapshot(call: HttpCall) -> Reply:
    """What a client that joins needs: go on with the events after ``seq``."""
    return reply(await snapshot_of(call.hub, await call.shown()))
