"""One request to one address that was checked before.

Rule 1: the connection goes to the address; the name is for the certificate and the ``Host`` header alone.
Rule 2: the answer's head is read and nothing else; where a redirect points to is nobody's business here.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress

import h11
import msgspec

from trunkline.errors import Unavailable
from trunkline.server.delivery.addresses import Destination, port_of

TIMEOUT_S = 10.0
READ_BYTES = 16 << 10


class OutgoingMessage(msgspec.Struct, frozen=True):
    """What is sent."""

    body: bytes
    headers: Sequence[tuple[str, str]]
    content_type: str = "application/json"


async def post(destination: Destination, address: str, message: OutgoingMessage, *, trust: ssl.SSLContext | None,
               timeout_s: float = TIMEOUT_S) -> int:
    """Send it and return the answer's status; whatever goes wrong below HTTP, or takes too long, is Unavailable."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _exchange(destination, address, message, trust)
    except TimeoutError as error:
        raise Unavailable(f"{destination.host} did not answer within {timeout_s:g} s") from error
    except (OSError, h11.RemoteProtocolError) as error:  # ssl.SSLError is an OSError
        raise Unavailable(f"{destination.host} could not be reached: {error or type(error).__name__}") from error


async def _exchange(destination: Destination, address: str, message: OutgoingMessage, trust: ssl.SSLContext | None) -> int:
    name = destination.host if trust is not None else None
    reader, writer = await asyncio.open_connection(
        address, port_of(destination), limit=READ_BYTES, ssl=trust, server_hostname=name)
    try:
        state = h11.Connection(our_role=h11.CLIENT)
        writer.write(_encoded(state, destination, message))
        await writer.drain()
        return await _status(state, reader)
    finally:
        writer.transport.abort()  # nothing more is wanted of it, and a goodbye could take its time
        with suppress(OSError):
            await writer.wait_closed()


def _encoded(state: h11.Connection, destination: Destination, message: OutgoingMessage) -> bytes:
    parts = destination.parts()
    where = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc), ("Content-Type", message.content_type), ("Content-Length", str(len(message.body))),
               ("Connection", "close"), *message.headers]
    pieces = [state.send(h11.Request(method="POST", target=where, headers=headers)),
              state.send(h11.Data(data=message.body)), state.send(h11.EndOfMessage())]
    return b"".join(piece for piece in pieces if piece)


async def _status(state: h11.Connection, reader: asyncio.StreamReader) -> int:
    while True:
        event = state.next_event()
        if event is h11.NEED_DATA:
            state.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Response):
            return event.status_code
        elif not isinstance(event, h11.InformationalResponse):
            raise ConnectionResetError("the connection was closed before an answer")
