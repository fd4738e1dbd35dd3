"""One stream of Server-Sent Events to one reader, as bare ASGI.

Rule 1: a reader is a position. While it stalls, the stream waits in ``send`` and holds what it was sending, nothing more.
Rule 2: one write per wake-up, with everything that is new, up to 256 KiB. A reader that stands at the end and takes what it is
sent has none: the commit itself writes to its connection (``live.py``).
Rule 3: only entries carry an id. Keep-alives are comments; they name the position. On a stream that leaves entries out, they
carry it as an id without data, so that a reader which comes back need not have everything looked through again.
Rule 4: a reader that leaves ends the stream and nothing else.
Rule 5: a stream lasts no longer than the token it was opened with, whether that is revoked or expires.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from trunkline.errors import HubStopping, TrunklineError
from trunkline.feeds.session import Encoder, Feed
from trunkline.server.http.answer import OpenBody, open_body
from trunkline.server.live import follow_live

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


LOOK_AGAIN_S = 60.0
LOOK_AGAIN_LEAST_S = 0.05
"""How far apart it is looked whether a token that expires has expired."""

REMEMBERED_S = 30.0
REMEMBERED_MOST = 200
"""How long, and how many, streams that have ended are known to have been there."""


def sse_frame(event_id: int, data: bytes) -> bytes:
    """One Server-Sent Event; its id is the cursor."""
    return b"event: message\nid: %d\ndata: %b\n\n" % (event_id, data)


class Outlet:
    """Where a stream's frames go."""

    def __init__(self, send: Send, clock: Callable[[], float], body: OpenBody | None = None) -> None:
        """``body``: the same way out without a wait, where the server offers one."""
        self._send = send
        self._clock = clock
        self._body = body
        self.position = 0
        self.leaves_out = False
        """Whether entries are left out: then the position moves without a frame, and keep-alives carry it."""
        self.sending = False
        self.sent_at = clock()

    async def write(self, frames: bytes) -> None:
        """Send frames; returns when the transport can take more."""
        self.sending = True
        await self._send({"type": "http.response.body", "body": frames, "more_body": True})
        self.sending = False
        self.sent_at = self._clock()

    @property
    def is_direct(self) -> bool:
        """Whether ``write_now`` can ever write."""
        return self._body is not None

    @property
    def can_take(self) -> bool:
        """Whether ``write_now`` would write."""
        return self._body is not None and not self.sending and self._body.can_take

    def write_now(self, frames: bytes) -> bool:
        """Send frames on the spot; False, and nothing sent, where the transport takes no more at the moment."""
        if self._body is None or self.sending or not self._body.write(frames):
            return False
        self.sent_at = self._clock()
        return True

    async def keep_alive(self, silence_s: float) -> None:
        """Break a silence that has lasted. A reader that stalls has unread bytes already, and needs no proof of life."""
        if self.sending:
            self.sent_at = self._clock()
        elif self._clock() >= self.sent_at + silence_s:
            await self.write((b"id: %d\n\n" if self.leaves_out else b": keepalive %d\n\n") % self.position)


Pump = Callable[[Outlet], Awaitable[None]]
"""Writes frames until there are no more."""

Watches = Callable[[str, str], bool]
"""Whether a stream shows events of this type in the session of this id."""


class Streams:
    """Every stream that is open: a stopping server can end them cleanly, and it is known who is being watched.

    ``is_live`` says whether the token of an id still counts, ``left_s`` how long. ``on_left`` is called with the token of each
    stream that ends."""

    def __init__(self, is_live: Callable[[str], bool] = lambda token_id: True,
                 left_s: Callable[[str], float | None] = lambda token_id: None,
                 on_left: Callable[[str], None] = lambda token_id: None) -> None:
        self._is_live = is_live
        self._left_s = left_s
        self._on_left = on_left
        self._pumps: dict[asyncio.Task[None], tuple[Watches, str]] = {}
        self._looks: dict[asyncio.Task[None], asyncio.TimerHandle] = {}
        self._gone: deque[tuple[float, Watches]] = deque(maxlen=REMEMBERED_MOST)
        """Streams that have ended lately, the last one last, each with when."""

    def __len__(self) -> int:
        return len(self._pumps)

    def watching(self, session_id: str, event_type: str = "", *, since: float = math.inf) -> bool:
        """Whether somebody is shown events of this type in this session right now, over Server-Sent Events or a WebSocket, or was
        until after ``since`` (seconds since the epoch): who leaves with the last event has seen it, however late somebody asks.
        Without a type, only those count who leave nothing out."""
        return any(watches(session_id, event_type) for watches, _ in self._pumps.values()) or any(
            watches(session_id, event_type) for ended_at, watches in self._gone if ended_at >= since)

    def connected(self, token_id: str) -> bool:
        """Whether a stream or WebSocket of this token is open right now."""
        return any(own == token_id for _, own in self._pumps.values())

    def end_all(self) -> None:
        """End every stream as if its feed had ended; readers come back with their position."""
        for pump in list(self._pumps):
            pump.cancel()

    def end_revoked(self) -> None:
        """End every stream whose token no longer counts."""
        for pump, (_, token_id) in list(self._pumps.items()):
            if not self._is_live(token_id):
                pump.cancel()

    def opened(self, pump: asyncio.Task[None], watches: Watches, token_id: str) -> None:
        """Keep track of a stream until it ends."""
        self._pumps[pump] = watches, token_id
        pump.add_done_callback(self._ended)
        self._look_again(pump, token_id)

    def _ended(self, pump: asyncio.Task[None]) -> None:
        watches, token_id = self._pumps.pop(pump)
        self._remember(watches)
        self._on_left(token_id)
        if (look := self._looks.pop(pump, None)) is not None:
            look.cancel()

    def _remember(self, watches: Watches) -> None:
        now = time.time()
        while self._gone and self._gone[0][0] < now - REMEMBERED_S:
            self._gone.popleft()
        self._gone.append((now, watches))

    def _look_again(self, pump: asyncio.Task[None], token_id: str) -> None:
        """End a stream whose token no longer counts, and look again when it may have expired."""
        if pump.done():
            return
        if not self._is_live(token_id):
            pump.cancel()
            return
        left_s = self._left_s(token_id)
        if left_s is not None:
            in_s = look_again_in(left_s)
            self._looks[pump] = asyncio.get_running_loop().call_later(in_s, self._look_again, pump, token_id)


def look_again_in(left_s: float) -> float:
    """When to look whether a token that expires in so long has expired. A clock that was set, or a machine that slept, must not
    keep anything open: so never far ahead."""
    return min(max(left_s, LOOK_AGAIN_LEAST_S), LOOK_AGAIN_S)


class EventStream:
    """The reply that carries a stream. ``failure`` says an error in the stream's own language."""

    def __init__(self, pump: Pump, streams: Streams, failure: Callable[[TrunklineError], bytes], *, token_id: str,
                 keepalive_s: float, watches: Watches = lambda session_id, event_type: False) -> None:
        self.raw_headers = list(HEADERS)
        self._pump = pump
        self._streams = streams
        self._keepalive_s = keepalive_s
        self._watches = watches
        self._token_id = token_id
        self._failure = failure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what the pump writes until it ends or the reader leaves."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD" and not await self._stream(receive, send, open_body(scope)):
            return
        await send({"type": "http.response.body", "body": b""})

    async def _stream(self, receive: Receive, send: Send, body: OpenBody | None) -> bool:
        """Returns whether the reader is still there at the end."""
        outlet = Outlet(send, asyncio.get_running_loop().time, body)
        pump = asyncio.create_task(_pumping(self._pump, outlet, self._failure))
        attendant = asyncio.create_task(_attend(receive, outlet, self._keepalive_s))
        self._streams.opened(pump, self._watches, self._token_id)
        try:
            await asyncio.wait((pump, attendant), return_when=asyncio.FIRST_COMPLETED)
            return not attendant.done()
        finally:
            for task in (pump, attendant):
                task.cancel()
                with suppress(asyncio.CancelledError):  # we cancelled it; any other failure goes on to the server
                    await task


async def _pumping(pump: Pump, outlet: Outlet, failure: Callable[[TrunklineError], bytes]) -> None:
    """Run the pump; a failure of ours goes to the reader in the stream's own language."""
    try:
        await pump(outlet)
    except HubStopping:
        return  # the stream just ends: its reader comes back with its position
    except TrunklineError as error:
        await outlet.write(failure(error))


async def _attend(receive: Receive, outlet: Outlet, keepalive_s: float) -> None:
    """Return when the reader has left; meanwhile break its silence."""
    while True:
        try:
            async with asyncio.timeout_at(outlet.sent_at + keepalive_s):
                message = await receive()
        except TimeoutError:
            await outlet.keep_alive(keepalive_s)
        else:
            if message["type"] == "http.disconnect":
                return


async def follow(feed: Feed, after: int, encode: Encoder, outlet: Outlet, *, shares: bool = True) -> None:
    """Replay after ``after``, then live, until the feed ends. ``shares``: others read with the same encoder."""
    outlet.position = after
    while not feed.closed or feed.last_seq > outlet.position:
        if feed.last_seq > outlet.position:
            await _write_next(feed, encode, outlet, shares)
        elif outlet.is_direct:
            await follow_live(feed, encode, outlet, shares=shares)
        else:
            await feed.wait(outlet.position)


async def _write_next(feed: Feed, encode: Encoder, outlet: Outlet, shares: bool) -> None:
    position = outlet.position
    shared = feed.shared(position, encode) if shares else None
    frames, outlet.position = shared if shared is not None else encode(iter(await feed.read(after=position)), position)
    if frames:
        await outlet.write(frames)
