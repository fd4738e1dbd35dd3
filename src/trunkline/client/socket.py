"""A WebSocket to the hub: opened, and its troubles told as ours.

Rule: what speaks WebSocket is imported by the first who needs it; most programs use plain HTTP.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from trunkline.client.faults import error_of_fault
from trunkline.client.http import Endpoint, trust
from trunkline.client.views import Fault
from trunkline.dialects.outside import BROKEN
from trunkline.errors import Forbidden, Invalid, NotFound, TrunklineError, Unauthorized, Unavailable

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

PING_S = 20.0
CLOSE_S = 1.0


def lost() -> tuple[type[BaseException], ...]:
    """What a connection that breaks raises."""
    from websockets.exceptions import ConnectionClosed
    return (ConnectionClosed, OSError)


@asynccontextmanager
async def connected(endpoint: Endpoint, path: str = "/ws", headers: Mapping[str, str] | None = None
                    ) -> AsyncIterator[ClientConnection]:
    """A WebSocket to an address of the hub; Unavailable when it cannot be had, or breaks."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidHandshake, InvalidStatus
    parts = endpoint.parts()
    scheme = "wss" if parts.scheme == "https" else "ws"
    address = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"
    troubles: tuple[type[BaseException], ...] = (*lost(), InvalidHandshake, TimeoutError)
    try:
        async with connect(address, ssl=trust(endpoint), compression=None, max_size=None, ping_interval=PING_S,
                           ping_timeout=PING_S, close_timeout=CLOSE_S, proxy=None, additional_headers=headers) as socket:
            yield socket
    except InvalidStatus as error:
        raise _refusal(endpoint, error.response.status_code, bytes(error.response.body or b"")) from error
    except troubles as error:
        raise Unavailable(f"no WebSocket to the hub at {endpoint.url}: {str(error) or type(error).__name__}") from error


def _refusal(endpoint: Endpoint, status: int, body: bytes) -> TrunklineError:
    kind = {400: Invalid, 401: Unauthorized, 403: Forbidden, 404: NotFound}.get(status, Unavailable)
    try:
        return error_of_fault(msgspec.json.decode(body, type=Fault))
    except BROKEN:
        return kind(f"the hub at {endpoint.url} refused the WebSocket with {status}")
