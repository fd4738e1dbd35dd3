"""The bytes of a WebSocket: uvicorn's protocol, told to keep what passes to itself.

Rule 1: nothing here is imported before the first client asks for a WebSocket; a hub without one does not need it.
Rule 2: a client has said who it is before it may say anything long.
Rule 3: what is no UTF-8 ends the connection with 1007, and nothing is logged: it is the client's fault, not ours.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.server.connections import KEY, Place, carrying

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent
    from websockets.http11 import Request

HELLO_BYTES = 64 << 10
"""Of a message while nobody has vouched for its sender: a hello has a token and a few names."""
ROOMY_BYTES = 64 << 20
NO_TEXT = 1007
"""RFC 6455, 7.4.1: data that was not consistent with the type of the message."""

_quiet = logging.getLogger("trunkline.server.ws.wire")
_quiet.setLevel(logging.WARNING)


class QuietProtocol(WebSocketsSansIOProtocol):
    """A connection whose frames and address are not logged, at no level: a token may be in them."""

    message_bytes: int | None = None
    """Of a message; None: as the server is set."""

    def __init__(self, place: Place, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = self.conn.logger = _quiet
        self.conn.debug = False
        self.conn.max_message_size = HELLO_BYTES
        self._place = place
        place.on_friend = self._make_room

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._place.leave()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        """The upgrade is asked for; whose connection it is goes with it."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][KEY] = carrying(self._place)

    def _make_room(self) -> None:
        self.conn.max_message_size = self.message_bytes or self.config.ws_max_size

    def send_receive_event_to_app(self) -> None:
        """Hand a message on, or end the connection where it is no text: uvicorn would log that with a traceback."""
        if self.curr_msg_data_type == "text" and not self.close_sent and utf8_fault(b"".join(self.frames)) is not None:
            self.conn.send_close(NO_TEXT, "not UTF-8")
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    async def send(self, message: ASGISendEvent) -> None:
        """A refusal that was sent to its end is an answer too: uvicorn would log it as an app that gave none."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True


class RoomyProtocol(QuietProtocol):
    """The same for editors, whose prompts carry pictures and whose answers carry files."""

    message_bytes = ROOMY_BYTES
