"""What one client gets, in the order in which it happened: one task, one position in the hub, one cursor per subscription.

Rule 1: one frame at a time. While the client stalls, this waits in ``send`` with that frame and the slice it belongs to.
Rule 2: groups of commits bring live cursors their entries. A client that falls behind the hub's tail goes on from the journal,
cursor by cursor, each where it stood.
Rule 3: approvals and questions reach every client, whatever it subscribed to. A client that fell behind gets what is pending
instead of what it missed of sessions that it did not subscribe to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from trunkline.errors import SessionDeleted
from trunkline.feeds.hub import ASKS, HubGroup
from trunkline.feeds.session import SLICE_BYTES
from trunkline.hub import Hub
from trunkline.journal.base import Entry
from trunkline.server.context.ws.cursors import AnyCursor, HubCursor, SessionCursor
from trunkline.server.context.ws.frames import (
    HUB,
    Deleted,
    Gap,
    HubState,
    ServerFrames,
    SnapshotFrame,
    encode,
    event_frame,
    event_prefix,
    refusal,
    state,
)

SendText = Callable[[str], Awaitable[None]]
"""Sends a message; returns when the client can take more."""

_NEWS = event_prefix(None)


class EventDelivery:
    """Brings one client its events."""

    def __init__(self, hub: Hub, send_text: SendText) -> None:
        self.pos = hub.everything.last_pos
        self._hub = hub
        self._feed = hub.everything
        self._send_text = send_text
        self._sessions: dict[str, list[SessionCursor]] = {}
        self._wide: list[HubCursor] = []
        self._catching_up: list[AnyCursor] = []
        self._missed_asks = False
        self._forgotten = self._feed.forgotten
        self._gone = self._feed.gone_count
        self._waiter: asyncio.Future[None] | None = None
        self._feed.follow()

    def watches(self, session_id: str, event_type: str) -> bool:
        """Whether the client follows this session and is shown events of this type; asks are shown whatever it left out."""
        following = self._following(session_id)
        return bool(following) and (ASKS.matches(event_type) or any(cursor.shows_type(event_type) for cursor in following))

    @property
    def cursors(self) -> int:
        """How many positions the client has."""
        return len(self._wide) + sum(map(len, self._sessions.values()))

    def has(self, subscription: str) -> bool:
        """Whether this subscription still brings something."""
        return any(cursor.subscription == subscription for cursor in self._all())

    def cover(self, cursor: AnyCursor) -> None:
        """From now on this cursor answers for its sessions; it brings nothing until ``begin``."""
        if isinstance(cursor, HubCursor):
            self._wide.append(cursor)
        else:
            self._sessions.setdefault(cursor.session.id, []).append(cursor)

    def begin(self, cursor: AnyCursor, position: int) -> None:
        """The client knows where the cursor starts: bring what comes after."""
        cursor.start(position)
        self._catching_up.append(cursor)
        self.poke()

    def drop(self, subscription: str) -> None:
        """Bring no more of a subscription."""
        for cursor in self._all():
            if cursor.subscription == subscription:
                self._forget(cursor)
        self.poke()

    def poke(self) -> None:
        """Something is to be done besides waiting for the hub."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def run(self) -> None:
        """Deliver until the hub ends."""
        while not self._feed.closed:
            self._feed.follow()
            if await self._work():
                await asyncio.sleep(0)  # a client that keeps up with a long replay must not keep the hub to itself
                continue
            self._waiter = self._feed.watch(self.pos)
            if self._idle():
                await self._waiter

    def _idle(self) -> bool:
        return not (self._catching_up or self._missed_asks or self._forgotten != self._feed.forgotten)

    async def _work(self) -> bool:
        """Do what can be done now, a slice of each; False when there was nothing."""
        worked = False
        for cursor in list(self._catching_up):
            worked = True
            await self._catch_up(cursor)
        if self._feed.last_pos > self.pos:
            worked = True
            group = self._feed.group_after(self.pos)
            await (self._fall_behind() if group is None else self._deliver(group))
        if self._missed_asks:
            worked = True
            self._missed_asks = False
            await self._send(SnapshotFrame(session_id=HUB, seq=self.pos, state=state(HubState(pending=self._hub.pending()))))
        if self._forgotten != self._feed.forgotten:
            worked = True
            self._forgotten = self._feed.forgotten
            await self._end_those([cursor for cursor in self._all() if cursor.live])
            await self._send_gone()
        return worked

    async def _catch_up(self, cursor: AnyCursor) -> None:
        """One slice; from the connection's own position on, the groups bring the rest."""
        entries = await cursor.slice()
        for entry in entries:
            if cursor.ended or entry.pos > self.pos:
                break
            await self._bring(cursor, entry)
        else:
            if entries:
                return
        cursor.live = True
        if cursor in self._catching_up:
            self._catching_up.remove(cursor)
            await self._end_those([cursor])

    async def _deliver(self, group: HubGroup) -> None:
        """A group for every live cursor, and its asks for the client."""
        live = [cursor for cursor in self._live_in(group) if cursor.live]
        if group.size > SLICE_BYTES:
            self._send_back(live)
        else:
            await self._bring_group(group, live)
        for session_id, entry in group.asks():
            if not self._covered(session_id, entry):
                await self._send_text(event_frame(_NEWS, entry))
        self.pos = group.last_pos

    async def _bring_group(self, group: HubGroup, live: list[AnyCursor]) -> None:
        for cursor in live:
            for session_id, entries in group.parts:
                if isinstance(cursor, HubCursor) or cursor.session.id == session_id:
                    for entry in entries:
                        if not cursor.ended and cursor.number(entry) > cursor.position:
                            await self._bring(cursor, entry)

    async def _bring(self, cursor: AnyCursor, entry: Entry) -> None:
        frame = cursor.frame(entry)
        if frame is not None:
            await self._send_text(frame)
        cursor.position = cursor.number(entry)

    async def _fall_behind(self) -> None:
        """The tail has gone on without us: every cursor catches up from where it is."""
        lost_from, self.pos = self.pos, self._feed.last_pos
        self._send_back([cursor for cursor in self._all() if cursor.live])
        if not any(cursor.shows_everything for cursor in self._wide):
            await self._send(Gap(session_id=HUB, from_=lost_from, floor=0, seq=self.pos))
            self._missed_asks = True

    def _send_back(self, cursors: list[AnyCursor]) -> None:
        for cursor in cursors:
            cursor.live = False
            self._catching_up.append(cursor)

    def _live_in(self, group: HubGroup) -> list[AnyCursor]:
        found: list[AnyCursor] = list(self._wide)
        for session_id, _ in group.parts:
            found += self._sessions.get(session_id, ())
        return found

    def _covered(self, session_id: str, entry: Entry) -> bool:
        """Whether a subscription brings this event, now or when it has caught up."""
        return any(cursor.shows(entry.event) for cursor in self._following(session_id))

    def _following(self, session_id: str) -> tuple[AnyCursor, ...]:
        return *self._wide, *self._sessions.get(session_id, ())

    def _all(self) -> list[AnyCursor]:
        return [*self._wide, *(cursor for cursors in self._sessions.values() for cursor in cursors)]

    async def _end_those(self, cursors: list[AnyCursor]) -> None:
        """Say which of these are over: their session was deleted, and all that was left of it is sent."""
        for cursor in cursors:
            if isinstance(cursor, SessionCursor) and cursor.over() and not cursor.ended:
                self._forget(cursor)
                gone = SessionDeleted(f"session {cursor.session.id} is gone", details={"sessionId": cursor.session.id})
                await self._send(refusal(cursor.subscription, gone))

    async def _send_gone(self) -> None:
        """Who follows all sessions learns which of them were deleted."""
        gone, self._gone = self._feed.gone_after(self._gone), self._feed.gone_count
        for cursor in list(self._wide):
            for session_id in gone:
                await self._send(Deleted(subscription=cursor.subscription, session_id=session_id))

    def _forget(self, cursor: AnyCursor) -> None:
        cursor.ended = True
        if cursor in self._catching_up:
            self._catching_up.remove(cursor)
        # What it skipped as somebody else's was to come with it.
        self._missed_asks = self._missed_asks or not cursor.live
        if isinstance(cursor, HubCursor):
            self._wide.remove(cursor)
            return
        mine = self._sessions[cursor.session.id]
        mine.remove(cursor)
        if not mine:
            del self._sessions[cursor.session.id]

    async def _send(self, frame: ServerFrames) -> None:
        await self._send_text(encode(frame))
