"""Delivery in a cluster: each subscription to a session reads that session's own feed.

Only a hub in a cluster loads this. There a session's feed and that of all sessions come by different ways: its own sessions from
its journal, at once, those of others and all of them together from the stream. No order holds between the two, so a cursor in
one session is not brought along by the groups of all.

Rule 1: whoever follows all sessions, and what is asked in sessions that nobody follows, comes by the groups, as ever.
Rule 2: each cursor in a session is a task that reads on. Its failure is the connection's.
"""

from __future__ import annotations

import asyncio

from trunkline.errors import SessionDeleted
from trunkline.feeds.hub import HubGroup
from trunkline.server.context.ws.cursors import AnyCursor, HubCursor, SessionCursor
from trunkline.server.context.ws.delivery import ClientLine, EventDelivery, Whole
from trunkline.server.context.ws.frames import refusal


class DeliveryBySession(EventDelivery):
    """Brings one client its events."""

    def __init__(self, whole: Whole, line: ClientLine) -> None:
        super().__init__(whole, line)
        self._readers: dict[SessionCursor, asyncio.Task[None]] = {}
        self._failure: BaseException | None = None

    def begin(self, cursor: AnyCursor, position: int) -> None:
        """As ``EventDelivery.begin``."""
        if isinstance(cursor, HubCursor):
            super().begin(cursor, position)
            return
        cursor.start(position)
        cursor.live = True
        reader = self._readers[cursor] = asyncio.create_task(self._read_on(cursor))
        reader.add_done_callback(self._ended)

    async def run(self) -> None:
        """Deliver until the hub ends, or a reader fails."""
        try:
            await super().run()
        finally:
            for reader in self._readers.values():
                reader.cancel()
            await asyncio.gather(*self._readers.values(), return_exceptions=True)

    async def _work(self) -> bool:
        if self._failure is not None:
            raise self._failure
        return await super()._work()

    async def _read_on(self, cursor: SessionCursor) -> None:
        feed = cursor.session.feed
        while not cursor.ended:
            entries = await cursor.slice()
            if entries:
                await self._bring(cursor, entries)
                await asyncio.sleep(0)  # as in ``EventDelivery.run``
            elif feed.closed:
                self._forget(cursor)
                gone = SessionDeleted(f"session {cursor.session.id} is gone", details={"sessionId": cursor.session.id})
                await self._send(refusal(cursor.subscription, gone))
            else:
                await feed.wait(cursor.position)

    def _ended(self, reader: asyncio.Task[None]) -> None:
        if not reader.cancelled() and (failure := reader.exception()) is not None:
            self._failure = self._failure or failure
            self.poke()

    def _live_in(self, group: HubGroup) -> list[AnyCursor]:
        return [*self._wide]

    def _send_back(self, cursors: list[AnyCursor]) -> None:
        super()._send_back([cursor for cursor in cursors if isinstance(cursor, HubCursor)])

    async def _end_those(self, cursors: list[AnyCursor]) -> None:
        """Each reader says by itself that its session is over."""

    def _forget(self, cursor: AnyCursor) -> None:
        super()._forget(cursor)
        if isinstance(cursor, SessionCursor):
            reader = self._readers.pop(cursor, None)
            if reader is not None and reader is not asyncio.current_task():
                reader.cancel()
