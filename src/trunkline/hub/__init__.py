"""Sessions by id: the one package that knows both ends, the agents' and the clients'. Read in this order:

    hub.py         the hub: one object, made of the parts below
    shapes.py      what a hub takes and gives: options, a new session, its agents, what waits
    sessions.py    sessions by id: made, opened from the journal, listed, deleted
    in_memory.py   those of them that are in memory
    starts.py      how a session comes to be: new, attached, forked, followed        start_keys.py   once under a key
    agents.py      what is known of agents, and which sessions they have              drivers.py      what drives a session
    recovery.py    what an earlier hub left open                                      folders.py      where sessions may be
    audit.py       how far approvals have come, outside the database                  sandboxes.py    what a sandbox shows
    away.py        whether the person is away                                         handing.py      sessions that change hubs
    sight.py       what is shown to readers: by a hub alone, or in a cluster
    rule_preview.py   what a rule would answer                                        loading.py      what is loaded late
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trunkline.feeds.session import Feed
from trunkline.hub.folders import guarded_folders
from trunkline.hub.hub import Hub
from trunkline.hub.shapes import AgentInfo, HubMetrics, HubOptions, NewSession, PendingAsk, content_blocks
from trunkline.session.commands.requests import Accepted, Answer, Decision
from trunkline.session.fold import SessionView

if TYPE_CHECKING:
    from trunkline.session.session import Session

__all__ = ["Accepted", "AgentInfo", "Answer", "Decision", "Feed", "Hub", "HubMetrics", "HubOptions", "NewSession", "PendingAsk",
           "Session", "SessionView", "content_blocks", "guarded_folders"]


def __getattr__(name: str) -> Any:
    """``Session``, when it is asked for: a hub loads what runs sessions with its first one."""
    if name == "Session":
        from trunkline.session.session import Session

        return Session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
