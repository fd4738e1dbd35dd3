"""Sockets become requests: uvicorn with httptools, set up for a hub.

Rule 1: the caller owns the sockets, the loop and the signals; ``stop`` ends serving.
Rule 2: what a client may send and how long it may take is bounded (``protocol.py``), the number of connections in count
(``connections.py``, ``door.py``).
Rule 3: stopping ends the streams first, then waits a moment for what is being answered.
Rule 4: who is answered in the middle of its body is read on, within bounds: most clients read only when they have sent all.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import Server

from trunkline.server.app import App
from trunkline.server.http.connections import ConnectionPlace, Connections, connections_limit, files_limit
from trunkline.server.http.door import Door
from trunkline.server.http.exchange import is_whole
from trunkline.server.http.protocol import KEEP_ALIVE_S, HubProtocol

GRACE_S = 3
BACKLOG = 1_024
WS_MESSAGE_BYTES = 1 << 20
WS_PING_S = 20.0
WS_PONG_S = 120.0
"""A ping waits behind everything that a slow client has not read yet, so the answer is given time."""
LINGER_BYTES = 64 << 20
LINGER_S = 5.0


class Tls(msgspec.Struct, frozen=True):
    """A certificate chain and its key, as PEM files."""

    certificate: Path
    key: Path


async def serve(app: App, *, sockets: Sequence[socket.socket], stop: asyncio.Event, tls: Tls | None = None,
                connections: int | None = None) -> None:
    """Answer requests on bound sockets until ``stop`` is set; returns when every connection is closed.

    ``connections``: how many there may be; else as many as the hub has descriptors for.
    """
    server = _Server(_config(app, tls), app, stop, connections)
    server.config.app = _Patience(app)
    await server.serve(sockets=list(sockets))


def _config(app: App, tls: Tls | None) -> Config:
    return Config(
        app, http=HubProtocol, ws="none", ws_max_size=WS_MESSAGE_BYTES, ws_per_message_deflate=False, ws_ping_interval=WS_PING_S,
        ws_ping_timeout=WS_PONG_S, loop="none", lifespan="off", interface="asgi3", log_config=None, access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S, backlog=BACKLOG,
        ssl_certfile=tls.certificate if tls else None, ssl_keyfile=tls.key if tls else None,
    )


class _Server(Server):
    """A server that stops on an event instead of on signals, and need not look every 100 ms whether it should."""

    def __init__(self, config: Config, app: App, stop: asyncio.Event, connections: int | None) -> None:
        super().__init__(config)
        self._app = app
        self._stop = stop
        files = files_limit()
        self._connections = Connections(connections or connections_limit(files))
        self._files_most = files - files // 4
        self.servers = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open a door for each socket: uvicorn's own would let everybody in."""
        for each in sockets or ():
            door = Door(each, self._connections, self._protocol, files_most=self._files_most, tls=self.config.ssl)
            door.open(BACKLOG)
            self.servers.append(door)  # type: ignore[arg-type]  # it closes like a server, and more is not asked of it
        self.started = True

    def _protocol(self, place: ConnectionPlace) -> HubProtocol:
        return HubProtocol(place, self._app.parts.options.trusted_proxy, config=self.config, server_state=self.server_state,
                           app_state={})

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the caller's."""
        yield

    async def main_loop(self) -> None:
        """Serve until it is to stop."""
        await self._stop.wait()
        self._app.end_streams()


class _Patience:
    """Takes in, within bounds, the rest of a body that was answered before its end.

    A connection that is closed with unread data is reset, and a reset takes the answer with it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; its answer ends when its body has."""
        if is_whole(scope):  # nearly every one: it came with one read, before this was called
            await self._app(scope, receive, send)
            return
        body = _Body(receive)

        async def answer(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body")
            if not is_last or body.ended:
                await send(message)
                return
            await send({**message, "more_body": True})
            await body.discard()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, body.receive, answer)


class _Body:
    """A request's body on its way in."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def receive(self) -> Message:
        """The next piece of it."""
        message = await self._receive()
        self.ended = message["type"] == "http.disconnect" or not message.get("more_body")
        return message

    async def discard(self) -> None:
        """Take in what is left, up to the bounds."""
        size = 0
        # Cancelled is who still waits when the server stops; the answer is out, so there is nothing to break off.
        with contextlib.suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(LINGER_S):
                while not self.ended and size <= LINGER_BYTES:
                    size += len((await self.receive()).get("body", b""))
