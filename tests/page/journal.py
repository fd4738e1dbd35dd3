"""What the hub's history says of a session, to hold against what the page shows; and what its agent is told to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.tooling.hub_process import Session
from tests.tooling.processes import eventually

Event = dict[str, Any]


def history(session: Session) -> list[Event]:
    """Every event so far, none joined."""
    events: list[Event] = []
    after: int | None = 0
    while after is not None:
        page = session.wire.get(f"{session.path}/history?limit=1000&after={after}")
        events += page["events"]
        after = page["nextAfter"]
    return events


def texts(session: Session, role: str = "assistant") -> list[str]:
    """The text of each message of a role, from its pieces, in the order in which they began."""
    found: dict[str, str] = {}
    for event in history(session):
        if event["type"] == "message:delta" and event["role"] == role:
            found[event["messageId"]] = found.get(event["messageId"], "") + event["delta"]
    return list(found.values())


def happened(session: Session, kind: str, count: int = 1) -> Callable[[], bool]:
    """Whether events of a type have happened."""
    return lambda: sum(event["type"] == kind for event in history(session)) >= count


def wait_until_idle(session: Session, within_s: float = 30.0) -> None:
    """Until the session's turn is over."""
    over = ("idle", "error")
    eventually(lambda: session.view()["status"] in over and session.view()["turn"] is None, "the turn is over", within_s)


def tell(session: Session, content: Any, **more: Any) -> None:
    """Send a prompt and go on."""
    session.post("send-message", {"content": content, **more}, 202)


def puppet_says(session: Session, steps: Sequence[Sequence[object]]) -> None:
    """Have the puppet take steps, to the end."""
    tell(session, json.dumps(steps))
    wait_until_idle(session)
