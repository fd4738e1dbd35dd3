"""Where a client is: one cursor per session it subscribed to, one for the whole hub.

Rule 1: a cursor is a position and nothing else. What it reads, it reads from the feeds, a slice at a time.
Rule 2: a cursor is live when all of its entries up to the connection's own position in the hub are sent; from then on the hub's
groups bring the rest. Until then it catches up by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trunkline.dialects.context.filters import TypeFilter
from trunkline.feeds.hub import HubFeed, Placed
from trunkline.feeds.session import SLICE_BYTES
from trunkline.journal.base import Entry
from trunkline.server.context.ws.frames import event_frame, event_prefix
from trunkline.server.http.open_socket import text_frame

if TYPE_CHECKING:
    from trunkline.hub.sight import ShownSession


class Cursor:
    """A position in a stream of events, and what of it is wanted."""

    def __init__(self, subscription: str, wanted: TypeFilter) -> None:
        self.subscription = subscription
        self.position = 0
        self.live = False
        self.held = True
        """It covers its sessions, but the client does not know yet where it starts."""
        self.ended = False
        self._wanted = wanted
        self._prefix = event_prefix(subscription)
        self.kind = b"%b %b" % (self._prefix, wanted.text().encode())
        """Cursors of one kind have the same frames of an entry."""

    @property
    def shows_everything(self) -> bool:
        """Whether nothing is left out."""
        return self._wanted.everything

    def shows(self, event: bytes) -> bool:
        """Whether this cursor will bring the event, if it is of one of its sessions."""
        return self._wanted.matches_encoded(event)

    def shows_type(self, event_type: str) -> bool:
        """Whether events of this type are brought."""
        return self._wanted.matches(event_type)

    def start(self, position: int) -> None:
        """The client knows everything up to here."""
        self.position = position
        self.held = False

    def frame(self, entry: Entry) -> bytes | None:
        """The frame of an entry that is next; None where it is left out."""
        return event_frame(self._prefix, entry) if self._wanted.matches_encoded(entry.event) else None

    def frames(self, entries: Iterable[Entry]) -> bytes:
        """All that is sent of entries that are next, as the bytes of one write."""
        if not self.shows_everything:
            entries = [entry for entry in entries if self._wanted.matches_encoded(entry.event)]
        return b"".join([text_frame(event_frame(self._prefix, entry)) for entry in entries])


class SessionCursor(Cursor):
    """A place in one session, by seq. Holding the session keeps it the only one of its id."""

    def __init__(self, subscription: str, session: ShownSession, wanted: TypeFilter) -> None:
        super().__init__(subscription, wanted)
        self.session = session

    def covers(self, session_id: str) -> bool:
        """Whether entries of this session are its business."""
        return session_id == self.session.id

    def bring(self, entries: list[Entry]) -> bytes:
        """The frames of those entries that are new to it; it counts as having brought all of them."""
        found = self.frames([entry for entry in entries if entry.seq > self.position])
        if entries:
            self.position = max(self.position, entries[-1].seq)
        return found

    def number(self, entry: Entry) -> int:
        """What this cursor counts."""
        return entry.seq

    def over(self) -> bool:
        """Whether nothing will come any more."""
        return self.session.feed.closed and not self.held

    async def slice(self) -> list[Entry]:
        """The next entries."""
        return [_light(entry) for entry in await self.session.feed.read(after=self.position, max_bytes=SLICE_BYTES)]


class HubCursor(Cursor):
    """A place among the entries of all sessions, by pos."""

    def __init__(self, subscription: str, feed: HubFeed, wanted: TypeFilter) -> None:
        super().__init__(subscription, wanted)
        self._feed = feed

    def covers(self, session_id: str) -> bool:
        """Whether entries of this session are its business."""
        return True

    def bring(self, entries: list[Entry]) -> bytes:
        """As in ``SessionCursor``."""
        found = self.frames([entry for entry in entries if entry.pos > self.position])
        if entries:
            self.position = max(self.position, entries[-1].pos)
        return found

    def number(self, entry: Entry) -> int:
        """What this cursor counts."""
        return entry.pos

    async def slice(self) -> list[Entry]:
        """The next entries."""
        found: list[Placed] = await self._feed.read(after=self.position, max_bytes=SLICE_BYTES)
        return [_light(entry) for _, entry in found]


def _light(entry: Entry) -> Entry:
    """Only what is sent: a client that stalls must not hold the bodies, which can be many megabytes."""
    return Entry(entry.seq, entry.at, entry.event, pos=entry.pos)


AnyCursor = SessionCursor | HubCursor
