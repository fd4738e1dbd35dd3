"""The bytes of a WebSocket: uvicorn's protocol, told to keep what passes to itself.

Rule: nothing here is imported before the first client asks for a WebSocket; a hub without one does not need it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

ROOMY_BYTES = 64 << 20

_quiet = logging.getLogger("trunkline.server.ws.wire")
_quiet.setLevel(logging.WARNING)


class QuietProtocol(WebSocketsSansIOProtocol):
    """A connection whose frames and address are not logged, at no level: a token may be in them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = self.conn.logger = _quiet
        self.conn.debug = False

    async def send(self, message: ASGISendEvent) -> None:
        """A refusal that was sent to its end is an answer too: uvicorn would log it as an app that gave none."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True


class RoomyProtocol(QuietProtocol):
    """The same for editors, whose prompts carry pictures and whose answers carry files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = ROOMY_BYTES
