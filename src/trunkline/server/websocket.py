"""What both WebSockets of the hub share: who may open one, messages in and out, and how it ends.

Rule 1: who is refused before the upgrade is refused as on every other route, by a plain HTTP answer.
Rule 2: ``send`` returns when the transport can take more: who sends to a peer that stalls waits, and keeps what it was sending.
Rule 3: what belongs together is one write (``http/open_socket.py``), and a peer that takes it at once costs no wait.
Rule 4: a peer that is still there is sent why its connection ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from starlette.types import Message, Receive, Scope, Send

from trunkline.dialects.visible import within
from trunkline.errors import HubStopping, TrunklineError
from trunkline.server.call import reply
from trunkline.server.http.messages import HTTPConnection
from trunkline.server.http.open_socket import OpenSocket, binary_frame, open_socket, text_frame
from trunkline.server.openapi import error_body

log = logging.getLogger("trunkline.server")

NOT_TEXT, FAILED, STOPPING = 1003, 1011, 1012
BAD_HELLO, NOT_LET_IN, NO_HELLO = 4400, 4401, 4408

_ORIGIN_SCHEME = {"ws": "http", "wss": "https"}
"""A browser names the page's origin, not the socket's."""


class PeerGone(Exception):
    """Whoever was connected has gone."""


def upgrade_of(scope: Scope) -> HTTPConnection:
    """The request for the upgrade, as the gate judges it."""
    return HTTPConnection({**scope, "scheme": _ORIGIN_SCHEME.get(scope["scheme"], "http")})


def socket_of(scope: Scope, receive: Receive, send: Send) -> Socket:
    """The hub's end of the WebSocket that this request asks for."""
    return Socket(receive, send, open_socket(scope))


async def refuse(error: TrunklineError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer the request for the upgrade with an error."""
    await reply(error_body(error), error.http_status)(scope, receive, send)


class Socket:
    """The hub's end of a WebSocket."""

    def __init__(self, receive: Receive, send: Send, direct: OpenSocket | None = None) -> None:
        """``direct``: the same way out without a wait, where the server offers one."""
        self._receive = receive
        self._send = send
        self._direct = direct

    async def accept(self, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        """Let the peer in."""
        await self._receive()  # websocket.connect
        await self._transmit({"type": "websocket.accept", "headers": headers or []})

    async def send_text(self, text: str) -> None:
        """Send a text message."""
        try:  # not by ``_transmit``: this is once per event and reader
            await self._send({"type": "websocket.send", "text": text})
        except (OSError, RuntimeError) as error:  # as in ``_transmit``
            raise PeerGone from error

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message."""
        if self._direct is not None:
            await self._send_frames(self._direct, binary_frame(data))
            return
        await self._transmit({"type": "websocket.send", "bytes": data})

    async def send_texts(self, texts: Sequence[bytes]) -> None:
        """Send text messages, which are UTF-8, in one write."""
        if self._direct is not None:
            await self._send_frames(self._direct, b"".join([text_frame(text) for text in texts]))
            return
        for text in texts:
            await self.send_text(text.decode())

    @property
    def can_take(self) -> bool:
        """Whether ``write_now`` may be called now: the peer takes what it is sent."""
        return self._direct is not None and self._direct.can_take

    def write_now(self, frames: bytes) -> None:
        """Send whole frames on the spot, in one write. Only where ``can_take``."""
        assert self._direct is not None, "who cannot take anything is not written to"
        self._direct.write(frames)

    async def _send_frames(self, direct: OpenSocket, frames: bytes) -> None:
        try:
            while not direct.can_take:
                await direct.room()
        except OSError as error:
            raise PeerGone from error
        direct.write(frames)

    async def receive(self) -> str | None:
        """The peer's next message; None where it is no text."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise PeerGone
        text: str | None = message.get("text")
        return text

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""
        await self._transmit({"type": "websocket.close", "code": code, "reason": within(reason, 120)})

    async def close_after(self, ended: asyncio.Task[None], *, is_live: bool, is_stopping: bool) -> None:
        """Close because the task that served the peer has ended; ``is_live``: the peer's token still counts; ``is_stopping``: the
        hub ends, and whatever failed, failed on the way out."""
        failure = None if ended.cancelled() else ended.exception()
        try:
            if ended.cancelled() and not is_live:
                await self.close(NOT_LET_IN, "the token has expired or was revoked")
            elif failure is None or isinstance(failure, HubStopping) or (is_stopping and not isinstance(failure, PeerGone)):
                await self.close(STOPPING, "the hub is stopping")
            elif not isinstance(failure, PeerGone):
                log.error("a WebSocket failed", exc_info=failure)
                await self.close(FAILED, "the hub failed; its log says more")
        except PeerGone:
            return

    async def _transmit(self, message: Message) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:  # RuntimeError: it was closed already
            raise PeerGone from error
