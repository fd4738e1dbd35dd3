"""A WebSocket that is written to without a wait: what ASGI makes of messages, without a coroutine and a write for each.

Rule 1: a frame is made once, whoever gets it: the hub compresses nothing and masks nothing (a server must not, RFC 6455, 5.1), so
the same message is the same bytes on every connection.
Rule 2: whoever writes looks first (``can_take``). ASGI's own messages may come in between; each is written whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from starlette.types import Scope

if TYPE_CHECKING:
    from trunkline.server.http.ws_protocol import QuietProtocol

SOCKET = "trunkline.socket"
"""Where the extensions of a request's scope have the open socket."""

TEXT, BINARY = 0x81, 0x82
"""The first byte of a message in one frame."""
SHORT, MIDDLING = 125, 0xFFFF
"""The longest payloads whose length is one byte, and three; others' takes nine."""


def text_frame(text: bytes) -> bytes:
    """One text message, which is UTF-8."""
    return _frame(TEXT, text)


def binary_frame(data: bytes) -> bytes:
    """One binary message."""
    return _frame(BINARY, data)


def _frame(first: int, payload: bytes) -> bytes:
    size = len(payload)
    if size <= SHORT:
        return b"%c%c%b" % (first, size, payload)
    if size <= MIDDLING:
        return b"%c\x7e%b%b" % (first, size.to_bytes(2, "big"), payload)
    return b"%c\x7f%b%b" % (first, size.to_bytes(8, "big"), payload)


class OpenSocket(Protocol):
    """The way out of a WebSocket that was let in."""

    @property
    def can_take(self) -> bool:
        """Whether more may be written now."""

    def write(self, frames: bytes) -> None:
        """Send whole frames, all in one write. Only where ``can_take``."""

    async def room(self) -> None:
        """Return when more may be taken; OSError when nothing will be."""


class ProtocolSocket:
    """The open socket of a connection."""

    __slots__ = ("_protocol",)

    def __init__(self, protocol: QuietProtocol) -> None:
        self._protocol = protocol

    @property
    def can_take(self) -> bool:
        """Whether more may be written now."""
        return self._protocol.writable.is_set() and self._protocol.is_open

    def write(self, frames: bytes) -> None:
        """Send whole frames, all in one write. Only where ``can_take``."""
        self._protocol.transport.write(frames)

    async def room(self) -> None:
        """Return when more may be taken; OSError when nothing will be."""
        await self._protocol.writable.wait()
        if not self._protocol.is_open:
            raise ConnectionResetError("the connection has ended")


def open_socket(scope: Scope) -> OpenSocket | None:
    """The open socket of this connection; None where another server serves it."""
    found: OpenSocket | None = scope.get("extensions", {}).get(SOCKET)
    return found
