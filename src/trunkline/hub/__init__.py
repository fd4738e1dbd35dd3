"""Sessions by id: the one package that knows both ends, the agents' and the clients'.

    sessions.py   the hub: sessions made, found, joined, deleted, recovered
    drivers.py    which driver a session gets         shapes.py   what a hub takes and tells
    loading.py    what is loaded when it is first needed    rule_preview.py  what a rule would answer
    setup.py      a hub put together from its options  noting.py  how far approvals have come, outside the database
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trunkline.feeds.session import Feed
from trunkline.hub.hub import Hub
from trunkline.hub.setup import guarded_folders
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
