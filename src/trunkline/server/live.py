"""A reader at the end of a session's feed: what is committed is written to its connection on the spot.

On the way of a chunk to somebody who only waits for it, a task to wake up, a future and a call through ASGI cost more than all
the rest. So while a reader stands at the end and its connection takes what it is given, it is an object that the feed calls.

Rule: there is no queue. When the connection takes no more, or the tail does not reach back to the reader, this ends, and the
reader is a cursor again that goes on from its position.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from trunkline.feeds.session import Encoder, Feed


class DirectOutlet(Protocol):
    """Where the frames go."""

    position: int
    """The newest entry that was written, or left out."""

    def write_now(self, frames: bytes) -> bool:
        """Send frames on the spot; False, and nothing sent, where no more is taken at the moment."""


class LiveReader:
    """One reader while it stands at the end."""

    __slots__ = ("_encode", "_feed", "_outlet", "_shares", "ended")

    def __init__(self, feed: Feed, encode: Encoder, outlet: DirectOutlet, *, shares: bool) -> None:
        self._feed = feed
        self._encode = encode
        self._outlet = outlet
        self._shares = shares
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the reader has to go on as a cursor, or the feed has ended."""

    def on_committed(self) -> None:
        """Write what is new."""
        # One function, though it could be three: this is once per reader and commit.
        feed, outlet = self._feed, self._outlet
        try:
            while feed.last_seq > outlet.position:
                found = feed.next_write(outlet.position, self._encode, shares=self._shares)
                if found is None or (found[0] and not outlet.write_now(found[0])):
                    self._end(None)
                    return
                outlet.position = found[1]
        except Exception as error:  # the reader's boundary: the others have theirs to get, and the agent its turn
            self._end(error)
            return
        if feed.closed:
            self._end(None)

    def _end(self, error: Exception | None) -> None:
        self._feed.unfollow(self.on_committed)
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(error)


async def follow_live(feed: Feed, encode: Encoder, outlet: DirectOutlet, *, shares: bool) -> None:
    """Write what is committed from now on, as long as that can be done on the spot."""
    reader = LiveReader(feed, encode, outlet, shares=shares)
    feed.follow(reader.on_committed)
    try:
        await reader.ended
    finally:
        feed.unfollow(reader.on_committed)
