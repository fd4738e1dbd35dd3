"""A session's events as the journal has them: what no packet tells. Read from the data folder of a hub that does not run."""

from __future__ import annotations

import json
from typing import Any

from tests.aio import run
from tests.tooling.hub_process import Session
from trunkline.journal.stores.sqlite.store import SqliteJournal


def events_of(session: Session) -> list[dict[str, Any]]:
    """Every event of a session. The hub is stopped for it and started again."""
    session.hub.stop()
    events = run(_read(session))
    session.hub.start()
    return events


async def _read(session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with SqliteJournal(session.hub.data / "journal.db") as journal:
        while entries := await journal.read(session.id, after=len(found)):
            found += [json.loads(entry.event) for entry in entries]
    return found


def ways_back(events: list[dict[str, Any]]) -> list[str]:
    """How the agent's session came back, each time that the agent was started again."""
    return [event["_meta"]["how"] for event in events if event["type"] == "session:resumed"]
