"""A reader at the end of a feed: what is committed is written to its connection on the spot.

On the way of a chunk to somebody who only waits for it, a task to wake up, a future and a call through ASGI cost more than all
the rest. So while a reader stands at the end and its connection takes what it is given, it is an object that the feed calls.

Rule: there is no queue. When the connection takes no more, the tail does not reach back to the reader, or others take so long
that it is not come to, this ends, and the reader is a cursor again that goes on from its position.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from trunkline.feeds.hub import HubFeed, HubGroup
from trunkline.feeds.session import Encoder, Feed


class DirectOutlet(Protocol):
    """Where the frames go."""

    position: int
    """The newest entry that was written, or left out."""

    def write_now(self, frames: bytes) -> bool:
        """Send frames on the spot; False, and nothing sent, where no more is taken at the moment."""


class LiveReader:
    """One reader of a session while it stands at the end. ``write`` writes what is new; False where it can go no further."""

    __slots__ = ("_feed", "_write", "ended")

    def __init__(self, feed: Feed, write: Callable[[], bool]) -> None:
        self._feed = feed
        self._write = write
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the reader has to go on as a cursor, or the feed has ended."""

    def on_committed(self) -> None:
        """Write what is new."""
        try:
            goes_on = self._write()
        except Exception as error:  # the reader's boundary: the others have theirs to get, and the agent its turn
            self._end(error)
            return
        if not goes_on:
            self._end(None)

    def go_on(self) -> None:
        """Write what is new as a cursor."""
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        self._feed.unfollow(self.on_committed)
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(error)


class LiveStream(LiveReader):
    """The same, of frames that an encoder makes, to an outlet: most readers, so that all of it is in one call."""

    __slots__ = ("_encode", "_outlet", "_shares", "_stops_at")

    def __init__(self, feed: Feed, encode: Encoder, outlet: DirectOutlet, shares: bool,
                 stops_at: Callable[[bytes], object] | None) -> None:
        super().__init__(feed, lambda: False)
        self._encode = encode
        self._outlet = outlet
        self._shares = shares
        self._stops_at = stops_at

    def on_committed(self) -> None:
        """Write what is new."""
        feed, outlet = self._feed, self._outlet
        try:
            while feed.last_seq > outlet.position:
                found = feed.next_write(outlet.position, self._encode, self._shares)
                if found is None:
                    self._end(None)
                    return
                frames, position = found
                if frames and ((self._stops_at is not None and self._stops_at(frames)) or not outlet.write_now(frames)):
                    self._end(None)
                    return
                outlet.position = position
        except Exception as error:  # as in ``LiveReader``
            self._end(error)
            return
        if feed.closed:
            self._end(None)


async def called_live(feed: Feed, write: Callable[[], bool]) -> None:
    """Have ``write`` called now, after each commit, and at the feed's end, until it says that it can go no further."""
    await _called(feed, LiveReader(feed, write))


async def follow_live(feed: Feed, encode: Encoder, outlet: DirectOutlet, *, shares: bool,
                      stops_at: Callable[[bytes], object] | None = None) -> None:
    """Write what is committed from now on, as long as that can be done on the spot, and before frames that ``stops_at`` finds
    something in."""
    await _called(feed, LiveStream(feed, encode, outlet, shares, stops_at))


async def _called(feed: Feed, reader: LiveReader) -> None:
    feed.follow(reader.on_committed, reader.go_on)
    try:
        reader.on_committed()  # whoever waited for something else before may have missed a commit
        await reader.ended
    finally:
        feed.unfollow(reader.on_committed)


class LiveHubReader:
    """One reader of the whole hub while it stands at the end. ``write`` writes a group; False, and nothing written, where that
    cannot be done on the spot. ``sessions``: those of which it is called; None for all. Asks it gets of every session."""

    __slots__ = ("_feed", "_write", "position")

    def __init__(self, feed: HubFeed, write: Callable[[HubGroup], bool], sessions: tuple[str, ...] | None = None) -> None:
        self._feed = feed
        self._write = write
        self.position: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Known when the reader has to go on as a cursor: all up to there is written, or none of its business."""
        feed.follow(self, sessions)

    def on_group(self, group: HubGroup) -> None:
        """Write what was committed."""
        try:
            goes_on = self._write(group)
        except Exception as error:  # as in ``LiveReader.on_committed``
            self._feed.unfollow(self)
            if not self.position.done():
                self.position.set_exception(error)
            return
        if not goes_on:
            self.fall_behind(group)

    def fall_behind(self, group: HubGroup) -> None:
        """Write what was committed as a cursor."""
        self._end(group.first_pos - 1)

    def stop(self) -> None:
        """There is something else to be done. (Whatever was committed before is dealt with: nothing is committed meanwhile.)"""
        self._end(self._feed.last_pos)

    async def ended(self) -> int:
        """The position from which to go on, when there is a reason to."""
        try:
            return await self.position
        finally:
            self._feed.unfollow(self)

    def _end(self, position: int) -> None:
        self._feed.unfollow(self)
        if not self.position.done():
            self.position.set_result(position)
