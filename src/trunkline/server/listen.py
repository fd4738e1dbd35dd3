"""Sockets become requests: uvicorn with httptools, set up for a hub.

Rule 1: the caller owns the sockets, the loop and the signals; ``stop`` ends serving.
Rule 2: the head of a request is bounded in size and time, the number of connections in count.
Rule 3: stopping ends the streams first, then waits a moment for what is being answered.
Rule 4: who is answered in the middle of its body is heard out, within bounds: most clients read only when they have sent all.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trunkline.server import acp, ws
from trunkline.server.app import App
from trunkline.server.call import reply
from trunkline.server.openapi import ErrorBody

HEAD_BYTES = 64 << 10
HEAD_S = 20.0
CONNECTIONS = 2_000
GRACE_S = 3
KEEP_ALIVE_S = 75
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
                connections: int = CONNECTIONS) -> None:
    """Answer requests on bound sockets until ``stop`` is set; returns when every connection is closed."""
    server = _Server(_config(app, tls), app, stop)
    server.config.app = _Patience(_Crowd(app, server, connections))
    await server.serve(sockets=list(sockets))


def _config(app: App, tls: Tls | None) -> uvicorn.Config:
    return uvicorn.Config(
        app, http=_Protocol, ws="none", ws_max_size=WS_MESSAGE_BYTES, ws_per_message_deflate=False, ws_ping_interval=WS_PING_S,
        ws_ping_timeout=WS_PONG_S, loop="none", lifespan="off", interface="asgi3", log_config=None, access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S, backlog=BACKLOG,
        ssl_certfile=tls.certificate if tls else None, ssl_keyfile=tls.key if tls else None,
    )


class _Server(uvicorn.Server):
    """A server that stops on an event instead of on signals, and need not look every 100 ms whether it should."""

    def __init__(self, config: uvicorn.Config, app: App, stop: asyncio.Event) -> None:
        super().__init__(config)
        self._app = app
        self._stop = stop

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the caller's."""
        yield

    async def main_loop(self) -> None:
        """Serve until told to stop."""
        await self._stop.wait()
        self._app.end_streams()


class _Crowd:
    """Turns away who comes when too many are here."""

    def __init__(self, app: ASGIApp, server: uvicorn.Server, limit: int) -> None:
        self._app = app
        self._server = server
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 503."""
        if len(self._server.server_state.connections) <= self._limit:
            await self._app(scope, receive, send)
            return
        body = ErrorBody("unavailable", f"more than {self._limit} connections are open", True)
        await reply(body, 503, {"Connection": "close", "Retry-After": "5"})(scope, receive, send)


class _Patience:
    """Takes in, within bounds, the rest of a body that was answered before its end.

    A connection that is closed with unread data is reset, and a reset takes the answer with it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; its answer ends when its body has."""
        if not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
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


class _Protocol(HttpToolsProtocol):
    """A connection whose request heads are bounded: the parser itself would collect a head of any size, for any time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = False
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn declares it
        """Expect a request, soon."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is expected."""
        self._head_came()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is here; bodies have limits of their own."""
        self._in_head = False
        self._head_came()
        super().on_headers_complete()

    def _should_upgrade_to_ws(self) -> bool:
        """Only these addresses speak WebSocket; elsewhere the wish is ignored, as HTTP allows."""
        return self._path() in (ws.PATH, acp.PATH)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over. What speaks WebSocket is loaded by the first who asks for it."""
        from trunkline.server.ws.protocol import QuietProtocol, RoomyProtocol
        self.ws_protocol_class = RoomyProtocol if self._path() == acp.PATH else QuietProtocol
        super().handle_websocket_upgrade()

    def _path(self) -> str:
        return self.url.partition(b"?")[0].decode("latin-1")

    def data_received(self, data: bytes) -> None:
        """Parse, then look at what a head has come to."""
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.send_400_response("The request's head is too large.")
        elif self._deadline is None:
            self._expect_head()

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_S, self._head_late)

    def _head_came(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _head_late(self) -> None:
        self._deadline = None
        self.transport.close()
