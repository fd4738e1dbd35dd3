"""One stream of messages to one editor over HTTP: what waits to be read, and what was read lately.

Rule 1: a message has a number, its event id. A reader that comes back with the last one it saw goes on after it, as long as that
is kept; one that comes back without goes on after what was sent.
Rule 2: who writes waits while too much is unread. Nothing is dropped.
Rule 3: while the reader has all and takes what it is sent, who writes writes to its connection, and no task is woken.
Rule 4: one reader at a time; a newer one takes over from an older one, which may be dead without our knowing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from trunkline.errors import Expired
from trunkline.feeds.session import WRITE_BYTES
from trunkline.server.sse import Outlet
from trunkline.server.websocket import PeerGone

UNREAD_BYTES = 256 << 10
KEPT_BYTES = 1 << 20
"""What was sent is kept up to this size, for a reader whose connection broke before it had arrived."""


class MessageStream:
    """Numbered messages, written by the hub and read by one editor."""

    def __init__(self) -> None:
        self._unread: deque[bytes] = deque()
        self._kept: deque[bytes] = deque()
        """What was sent last."""
        self._sent = 0
        """The number of the last that was sent."""
        self._unread_bytes = self._kept_bytes = 0
        self._changed: asyncio.Future[None] | None = None
        self._reader = 0
        self._resting: Outlet | None = None
        """The way to the reader while it has all that there is."""
        self._closed = False

    async def put(self, lines: Sequence[bytes]) -> None:
        """Add messages; returns when the reader has taken enough of them. Raises PeerGone when there will be no reader."""
        if self._closed:
            raise PeerGone
        self.put_now(lines)
        while self._unread_bytes > UNREAD_BYTES and not self._closed:
            await self._change_comes()

    @property
    def can_take(self) -> bool:
        """Whether ``put`` would not wait."""
        return not self._closed and self._unread_bytes <= UNREAD_BYTES

    def put_now(self, lines: Sequence[bytes]) -> None:
        """Add messages, however many are unread."""
        self._unread.extend(lines)
        self._unread_bytes += sum(map(len, lines))
        while self._unread and self._resting is not None and self._resting.can_take:
            self._resting.write_now(self._take())
        if self._unread:
            self._change()

    def close(self) -> None:
        """No more comes, and nobody reads."""
        self._closed = True
        self._resting = None
        self._change()

    def claim(self, last: int | None = None) -> int:
        """A new reader's right to be the one that reads, from now on: after this number, or Expired when what came after it is
        not kept. Whoever read so far gets nothing more, so that nothing goes to a connection that may be dead."""
        if last is not None:
            self._seek(last)
        self._reader += 1
        self._resting = None
        self._change()
        return self._reader

    def _seek(self, last: int) -> None:
        if not self._sent - len(self._kept) <= last <= self._sent:
            raise Expired(f"what came after {last} is not kept any more; load or resume the sessions")
        while self._sent > last:
            line = self._kept.pop()
            self._unread.appendleft(line)
            self._kept_bytes -= len(line)
            self._unread_bytes += len(line)
            self._sent -= 1

    async def pump(self, outlet: Outlet, claim: int) -> None:
        """Write messages to the reader with this claim until there will be no more, or another reader takes over."""
        while not self._closed and self._reader == claim:
            frames = self._take()
            if frames:
                self._change()  # there is room again
                await outlet.write(frames)
            else:
                await self._rest(outlet)

    async def _rest(self, outlet: Outlet) -> None:
        """Wait until there is something that could not be written on the spot."""
        self._resting = outlet
        try:
            await self._change_comes()
        finally:
            if self._resting is outlet:
                self._resting = None

    def _take(self) -> bytes:
        """The next frames. What they say counts as sent; it is kept for a while."""
        frames: list[bytes] = []
        size = 0
        while self._unread and size < WRITE_BYTES:
            line = self._unread.popleft()
            self._kept.append(line)
            self._sent += 1
            size += len(line)
            # An agent's own JSON may have a carriage return between tokens, and it would end a line of an event stream.
            frames.append(b"id: %d\ndata: %b\n\n" % (self._sent, line.replace(b"\r", b" ")))
        self._unread_bytes -= size
        self._kept_bytes += size
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popleft())
        return b"".join(frames)

    def _change(self) -> None:
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)
        self._changed = None

    async def _change_comes(self) -> None:
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changed)
