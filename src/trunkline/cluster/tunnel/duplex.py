"""Messages both ways through a tunnel: a WebSocket whose two ends are on two nodes.

Rule 1: a message arrives whole or not at all, text as text; a long one goes in pieces.
Rule 2: the owner may speak first, and at any time: what it asks an editor goes the same way as its answers.
Rule 3: what was sent to a node that was away for longer than its lease waits in its connection still. It is not taken: others may
have gone on with the session by then.
Rule 4: whoever closes says why (``LAST``: code and reason). A tunnel that ends otherwise is a connection that was lost.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from starlette.types import Message

from trunkline import decoders
from trunkline.cluster.tunnel.frames import Kind
from trunkline.cluster.tunnel.heads import ReplyHead, encode_head, passed_on
from trunkline.cluster.tunnel.link import Link
from trunkline.dialects.outside import BROKEN
from trunkline.errors import NodeSilent, TooLarge, TrunklineError

MESSAGE_BYTES = 64 << 20
"""As a WebSocket's (``server/http/ws_protocol.py``)."""
LOST = 1006
"""How a WebSocket ends that nobody closed."""
TOO_LARGE = 1009
SWITCHED = 101


class Closing(msgspec.Struct, frozen=True, array_like=True):
    """How a WebSocket ends."""

    code: int = 1000
    reason: str = ""


class Closed(Exception):
    """The other end has closed."""

    def __init__(self, closing: Closing) -> None:
        super().__init__(closing.reason)
        self.closing = closing


_closing = decoders.packed(Closing)


class Duplex:
    """One end of a WebSocket in a tunnel."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def send(self, message: str | bytes) -> None:
        """Send a message; returns when more can be taken."""
        if isinstance(message, str):
            await self._link.send_body(message.encode(), Kind.TEXT)
        else:
            await self._link.send_body(message, Kind.BINARY)

    async def receive(self) -> str | bytes:
        """The next message; Closed where the other end has closed, another error where the tunnel was lost."""
        parts: list[bytes] = []
        size = 0
        while True:
            frame = await self._link.take()
            if frame.kind is Kind.LAST:
                raise Closed(read_closing(frame.body))
            parts.append(frame.body)
            size += len(frame.body)
            if size > MESSAGE_BYTES:
                await self.close(Closing(TOO_LARGE, f"a message is larger than {MESSAGE_BYTES} bytes"))
                raise TooLarge(f"a message is larger than {MESSAGE_BYTES} bytes", details={"limit": MESSAGE_BYTES})
            if frame.kind is not Kind.PIECE:
                return _whole(b"".join(parts), frame.kind)

    async def close(self, closing: Closing) -> None:
        """Close it, and say why."""
        await self._link.send(Kind.LAST, encode_head(closing))


def _whole(body: bytes, kind: Kind) -> str | bytes:
    if kind is Kind.BINARY:
        return body
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise NodeSilent(f"a text message is no UTF-8: {error}") from error


def read_closing(body: bytes) -> Closing:
    """What a LAST of a WebSocket carries."""
    try:
        return _closing.decode(body)
    except BROKEN:
        return Closing(LOST)


class SocketExchange:
    """The owner's end of a WebSocket, as ASGI has it."""

    def __init__(self, link: Link, is_there: Callable[[], bool]) -> None:
        """``is_there``: whether others take this node to be there, as far as it can know."""
        self._link = link
        self._duplex = Duplex(link)
        self._is_there = is_there
        self._is_connected = False
        self.is_done = False
        """Whether the gateway knows how it ended."""

    async def receive(self) -> Message:
        """The next message of the peer's, or that it has left."""
        if not self._is_connected:
            self._is_connected = True
            return {"type": "websocket.connect"}
        try:
            message = await self._duplex.receive()
        except Closed as closed:
            self.is_done = True
            return {"type": "websocket.disconnect", "code": closed.closing.code, "reason": closed.closing.reason}
        except TooLarge:
            self.is_done = True
            return {"type": "websocket.disconnect", "code": TOO_LARGE}
        except TrunklineError:
            return {"type": "websocket.disconnect", "code": LOST}
        if not self._is_there():
            return {"type": "websocket.disconnect", "code": LOST}
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    async def send(self, message: Message) -> None:
        """Send a message of the application's; OSError where the peer is gone, as over HTTP."""
        try:
            await self._send(message)
        except TrunklineError as error:
            raise OSError(error.message) from error

    async def _send(self, message: Message) -> None:
        match message["type"]:
            case "websocket.accept":
                await self._link.send(Kind.HEAD, encode_head(ReplyHead(SWITCHED, passed_on(message.get("headers", [])))))
            case "websocket.send":
                text = message.get("text")
                await self._duplex.send(text if text is not None else message["bytes"])
            case "websocket.close":
                self.is_done = True
                await self._duplex.close(Closing(message.get("code", 1000), message.get("reason") or ""))
            case "websocket.http.response.start" | "http.response.start":
                await self._link.send(Kind.HEAD, encode_head(ReplyHead(message["status"], passed_on(message["headers"]))))
            case _:
                await self._send_refusal(message)

    async def _send_refusal(self, message: Message) -> None:
        is_last = not message.get("more_body", False)
        await self._link.send_body(message.get("body", b""), Kind.LAST if is_last else None)
        self.is_done = self.is_done or is_last
