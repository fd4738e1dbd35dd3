"""What a session told, and what a client got of it."""

from __future__ import annotations

import json
from typing import Any

from tests.server.context.ws.socket import Socket
from tests.server.site import Site
from trunkline.dialects.acp.content import TextContent
from trunkline.hub import Session


async def events_of(session: Session) -> list[dict[str, Any]]:
    """Every event of a session, from the journal."""
    found = await session.feed.read(after=0, limit=1_000_000, max_bytes=1 << 40)
    return [json.loads(entry.event) for entry in found]


async def play(hub: Site, session: Session, prompt: str) -> None:
    """A turn, to its end."""
    await hub.turn(session, prompt)


async def stream_of(socket: Socket, subscription: str, until: int) -> list[dict[str, Any]]:
    """The events of a subscription to one session, up to a seq."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["seq"] < until:
        frame = await socket.until("event", subscription=subscription)
        found.append(frame["event"])
    return found


async def ask_something(session: Session) -> str:
    """Let the demo agent ask for an approval; returns its request id."""
    await session.turns.send([TextContent(text="/ask")], by="test")
    while not session.fold.approvals:
        await session.feed.wait(session.feed.last_seq)
    return next(iter(session.fold.approvals))
