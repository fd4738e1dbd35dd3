"""Readers of the packets face, and what they have read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from tests.server.site import Site, frames
from trunkline.hub import Session
from trunkline.server.packets.frames import packet_of

Numbered = tuple[int, dict[str, Any]]


def texts(found: list[Numbered], kind: str = "agent_message_chunk") -> list[str]:
    """The texts of the chunks of one kind."""
    return [packet["content"]["text"] for _, packet in found if packet["type"] == kind]


async def stored(hub: Site, session: Session) -> list[Numbered]:
    """Every packet of a session, by a reader that attaches from the beginning and reads what is there."""
    return [each async for each in reading(hub, session, 0, session.feed.last_seq)]


async def reading(hub: Site, session: Session, after: int, until: int) -> AsyncIterator[Numbered]:
    """Packets after a cursor up to the last one at or before ``until``."""
    reader = hub.open("GET", f"/sessions/{session.id}/packets?after={after}")
    await reader.start()
    whole = [entry.seq for entry in await session.feed.read(after=0, limit=100_000, max_bytes=1 << 30)
             if packet_of(entry) is not None and after < entry.seq <= until]
    seen = 0
    while seen < len(whole):
        for each in frames(await reader.piece() or b""):
            seen += 1
            yield each
    await reader.leave()
