"""The sessions that one editor has open, each with the editor's place in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from trunkline.hub import Hub
from trunkline.server.acp.attachment.attachment import EditorAttachment
from trunkline.server.acp.connection import EditorLine
from trunkline.server.acp.handshake import Handshake
from trunkline.server.acp.tasks import Spawn

if TYPE_CHECKING:
    from trunkline.hub import Session


class Attachments:
    """One editor's places, by session id."""

    def __init__(self, hub: Hub, line: EditorLine, handshake: Handshake, spawn: Spawn) -> None:
        self._hub = hub
        self._line = line
        self._handshake = handshake
        self._spawn = spawn
        self._attached: dict[str, EditorAttachment] = {}

    def __iter__(self) -> Iterator[EditorAttachment]:
        return iter([*self._attached.values()])

    def get(self, session_id: str) -> EditorAttachment | None:
        """The editor's place in a session that it has open."""
        return self._attached.get(session_id)

    def attach(self, session: Session) -> EditorAttachment:
        """The editor's place in a session, new or not."""
        attached = self._attached.get(session.id)
        if attached is None:
            attached = self._attached[session.id] = EditorAttachment(
                session, self._line, self._handshake.by, self._spawn, scope=self._handshake.caller.scope,
                stopping=lambda: self._hub.closing)
        return attached

    async def joined(self, session_id: str) -> EditorAttachment:
        """The editor's place in a session; one that it did not open in this connection is joined where it stands."""
        session = await self._hub.session(session_id)
        attached = self._attached.get(session_id)
        if attached is not None and attached.following:
            return attached
        async with self.opening(session) as attached:
            newest = (await session.snapshot()).last_seq
            if not attached.following:
                attached.follow(newest)
            return attached

    @asynccontextmanager
    async def opening(self, session: Session) -> AsyncIterator[EditorAttachment]:
        """The editor's place in a session, while it learns where it starts: never one that it has left meanwhile."""
        while True:
            attached = self.attach(session)
            async with attached.opening:
                if self._attached.get(session.id) is attached:
                    yield attached
                    return

    async def detach(self, session: Session) -> None:
        """The editor leaves a session that has ended, once it knows of the end. What it sends to it meanwhile keeps it."""
        attached = self._attached.get(session.id)
        if attached is None:
            return
        async with attached.opening:
            await attached.reached(session.feed.last_seq)
            if not attached.busy and self._attached.get(session.id) is attached:
                del self._attached[session.id]
                await attached.end()

    async def leave_all(self) -> None:
        """The connection is over."""
        for attached in self:
            await attached.end()
        self._attached.clear()
