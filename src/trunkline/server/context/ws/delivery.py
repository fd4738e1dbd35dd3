"""What one client gets, in the order in which it happened: one task, one position in the hub, one cursor per subscription.

Rule 1: a client that takes what it is sent gets a slice, or a group, in one write. While it stalls, this waits in ``send`` with
one frame and the slice it belongs to.
Rule 2: groups of commits bring live cursors their entries. While the client stands at the end and takes them, the commit itself
calls for that, and no task is woken (``live.py``). A client that falls behind the hub's tail goes on from the journal, cursor by
cursor, each where it stood.
Rule 3: approvals and questions reach every client, whatever it subscribed to. A client that fell behind gets what is pending
instead of what it missed of sessions that it did not subscribe to.
Rule 4: clients with the same subscription and filter share the bytes of what a group brings.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from trunkline.errors import SessionDeleted
from trunkline.feeds.hub import ASKS, HubFeed, HubGroup
from trunkline.feeds.session import SLICE_BYTES, WRITE_BYTES
from trunkline.hub import PendingAsk
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
from trunkline.server.http.open_socket import text_frame
from trunkline.server.live import LiveHubReader


class ClientLine(Protocol):
    """The way to the client."""

    async def send_text(self, text: str) -> None:
        """Send a message; returns when the client can take more."""

    @property
    def can_take(self) -> bool:
        """Whether frames may be written on the spot."""

    def write_now(self, frames: bytes) -> None:
        """Send whole frames on the spot, in one write. Only where ``can_take``."""


class Whole(Protocol):
    """All sessions that are shown: a hub's, or a cluster's."""

    @property
    def everything(self) -> HubFeed:
        """What happens in all of them."""

    def pending(self) -> list[PendingAsk]:
        """What waits for a person in them."""


_NEWS = event_prefix(None)


class EventDelivery:
    """Brings one client its events."""

    def __init__(self, hub: Whole, line: ClientLine) -> None:
        self.pos = hub.everything.last_pos
        self._hub = hub
        self._feed = self.feed = hub.everything
        self._line = line
        self._sessions: dict[str, list[SessionCursor]] = {}
        self._wide: list[HubCursor] = []
        self._catching_up: list[AnyCursor] = []
        self._missed_asks = False
        self._forgotten = self._feed.forgotten
        self._gone = self._feed.gone_count
        self._resting: LiveHubReader | None = None
        """While there is nothing to do but to pass on what is committed."""
        self._feed.keep_tail()

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
        if self._resting is not None:
            self._resting.stop()

    async def run(self) -> None:
        """Deliver until the hub ends."""
        while not self._feed.closed:
            self._feed.keep_tail()
            if await self._work():
                await asyncio.sleep(0)  # a client that keeps up with a long replay must not keep the hub to itself
                continue
            self._resting = LiveHubReader(self._feed, self._write_group, None if self._wide else tuple(self._sessions))
            self.pos = await self._resting.ended()

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
        due = [entry for entry in entries if entry.pos <= self.pos]
        await self._bring(cursor, due)
        if due and len(due) == len(entries):
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
                await self._line.send_text(event_frame(_NEWS, entry).decode())
        self.pos = group.last_pos

    async def _bring_group(self, group: HubGroup, live: list[AnyCursor]) -> None:
        for cursor in live:
            for session_id, entries in group.parts:
                if cursor.covers(session_id):
                    await self._bring(cursor, entries)

    async def _bring(self, cursor: AnyCursor, entries: list[Entry]) -> None:
        """Entries that a cursor did not bring yet: in one write where the client takes that, else one by one."""
        if self._line.can_take and not cursor.ended:
            frames = cursor.bring(entries)
            if frames:
                self._line.write_now(frames)
            return
        for entry in entries:
            if not cursor.ended and cursor.number(entry) > cursor.position:
                frame = cursor.frame(entry)
                if frame is not None:
                    await self._line.send_text(frame.decode())
                cursor.position = cursor.number(entry)

    def _write_group(self, group: HubGroup) -> bool:
        """``_deliver`` on the spot; False, and nothing done, where the client takes no more, or so much is sent in slices."""
        if group.size > WRITE_BYTES or not self._line.can_take:
            return False
        frames = [self._shared(cursor, entries) for cursor in self._live_in(group) if cursor.live
                  for session_id, entries in group.parts if cursor.covers(session_id)]
        frames += [self._shared_news(entry) for session_id, entry in group.asks() if not self._covered(session_id, entry)]
        if any(frames):
            self._line.write_now(b"".join(frames))
        return True

    def _shared(self, cursor: AnyCursor, entries: list[Entry]) -> bytes:
        """What a cursor brings of entries that are newer than all that the client knows of the hub."""
        frames = self._feed.shared((cursor.kind, entries[0].pos), lambda: cursor.frames(entries))
        cursor.position = cursor.number(entries[-1])
        return frames

    def _shared_news(self, entry: Entry) -> bytes:
        return self._feed.shared(entry.pos, lambda: text_frame(event_frame(_NEWS, entry)))

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
        await self._line.send_text(encode(frame))
