"""The bytes of a WebSocket: uvicorn's protocol, set to keep what passes to itself.

Rule 1: nothing here is imported before the first client asks for a WebSocket; a hub without one does not need it.
Rule 2: a client has shown who it is before it may send anything long.
Rule 3: what is no UTF-8 ends the connection with 1007, and nothing is logged: it is the client's fault, not ours.
Rule 4: what came at once is not read at once: after FED_S, and while a message waits for who takes it, the rest waits and
nothing more is read. A megabyte of the smallest frames is 150,000 of them.
Rule 5: who does not read makes nothing grow: of the pongs that it is owed only the newest are kept, and it cannot keep a
connection that we have ended.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import OPEN

from trunkline.dialects.jsonrpc.lines import utf8_fault
from trunkline.server.http.connections import KEY, ConnectionPlace, carrying
from trunkline.server.http.open_socket import SOCKET, ProtocolSocket

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
    from websockets.frames import Frame
    from websockets.http11 import Request

HELLO_BYTES = 64 << 10
"""Of a message while nobody has vouched for its sender: a hello has a token and a few names."""
ROOMY_BYTES = 64 << 20
NO_TEXT, TOO_BIG = 1007, 1009
"""RFC 6455, 7.4.1: data that was not consistent with the type of the message; a message that is too big to process."""
FED_BYTES = 1 << 10
"""Looked at between two looks at the clock: some 170 of the smallest frames, which take a few milliseconds."""
FED_S = 0.005
FRAMES_MOST = 64 << 10
"""Frames of one message: one for each KiB of the longest. Empty ones cost room and count for no size."""
PARTING_S = 10.0
"""For the last words to be read: as long as uvicorn waits for the answer to a close."""

_quiet = logging.getLogger("trunkline.server.context.ws.wire")
_quiet.setLevel(logging.WARNING)


class QuietProtocol(WebSocketsSansIOProtocol):
    """A connection whose frames and address are not logged, at no level: a token may be in them."""

    message_bytes: int | None = None
    """Of a message; None: as the server is set."""

    def __init__(self, place: ConnectionPlace, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = self.conn.logger = _quiet
        self.conn.debug = False
        self.conn.max_message_size = HELLO_BYTES
        self._place = place
        self._extensions: dict[str, Any] = {}
        """Of the scope, once there is one."""
        self._unfed = bytearray()
        self._turn: asyncio.Handle | None = None
        self._owed_pongs = b""
        self._parting: asyncio.TimerHandle | None = None
        place.on_friend = self._make_room

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._place.leave()
        self._unfed.clear()
        if self._parting is not None:
            self._parting.cancel()
        super().connection_lost(exc)
        self._let_go()

    def _let_go(self) -> None:
        """Hold nothing that holds this, as ``HubProtocol``."""
        self._place.on_friend = None
        self.conn.parser.close()
        self._extensions.pop(SOCKET, None)

    # What comes in.

    def data_received(self, data: bytes) -> None:
        """Read it, behind what waits to be read."""
        self._unfed += data
        if self._turn is None:
            self._feed()

    def _feed(self) -> None:
        """Go on until somebody has to take a message, or others have waited long enough."""
        self._turn = None
        until = monotonic() + FED_S
        while self._unfed and not self.read_paused and not self.transport.is_closing():
            piece = bytes(self._unfed[:FED_BYTES])
            del self._unfed[:FED_BYTES]
            super().data_received(piece)
            if monotonic() >= until:
                break
        self._go_on()

    def _go_on(self) -> None:
        """Take a turn for what is left; read on where nothing is."""
        if self.transport.is_closing() or self.read_paused or self._turn is not None:
            return
        if self._unfed:
            self._turn = self.loop.call_soon(self._feed)
            if self.transport.is_reading():
                self.transport.pause_reading()
        elif not self.transport.is_reading():
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        """The next message; when all that was read are taken, more is read."""
        message = await super().receive()
        self._go_on()
        return message

    def handle_cont(self, event: Frame) -> None:
        """One more frame of a message, up to a bound."""
        if len(self.frames) < FRAMES_MOST:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.send_close(TOO_BIG, "too many frames in one message")
            self.handle_parser_exception()

    # What goes out.

    @property
    def is_open(self) -> bool:
        """Whether messages may be sent: it was let in, and neither side has said that it goes."""
        return self.conn.state is OPEN and not self.disconnected and not self.transport.is_closing()

    def handle_ping(self) -> None:
        """Answer, or owe it to who does not read: the newest stands for those before it (RFC 6455, 5.5.3)."""
        if self.writable.is_set():
            super().handle_ping()
        elif pongs := b"".join(self.conn.data_to_send()):  # one call has those of all pings that were read together
            self._owed_pongs = pongs

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        owed, self._owed_pongs = self._owed_pongs, b""
        if owed and not self.transport.is_closing():
            self.transport.write(owed)

    # The end.

    def handle_parser_exception(self) -> None:
        """It broke a rule."""
        super().handle_parser_exception()
        self._part()

    def handle_close(self, event: Frame) -> None:
        """It wants to go, or agrees to."""
        super().handle_close(event)
        self._part()

    def keepalive_timeout(self) -> None:
        """It does not answer."""
        super().keepalive_timeout()
        self._part()

    async def run_asgi(self) -> None:
        """Serve it; then nobody here has anything more to say."""
        await super().run_asgi()
        self._part()

    def _part(self) -> None:
        """End it even if the last words are never read."""
        if self._parting is None and not self.disconnected:
            self._parting = self.loop.call_later(PARTING_S, self.transport.abort)

    def handle_connect(self, event: Request) -> None:
        """The upgrade is wanted; whose connection it is goes with it."""
        super().handle_connect(event)
        if not self.close_sent:
            self._extensions = self.scope["extensions"]
            self._extensions[KEY] = carrying(self._place)
            if not self.conn.extensions:  # one that changes frames would have to see all of them
                self._extensions[SOCKET] = ProtocolSocket(self)  # type: ignore[assignment]  # uvicorn's are dicts

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
        if message["type"] == "websocket.close":
            self._part()  # it may not even take that
        await super().send(message)
        if self.close_sent:
            self._go_on()  # the answer to it may be among what was not read yet
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True


class RoomyProtocol(QuietProtocol):
    """The same for editors, whose prompts carry pictures and whose answers carry files."""

    message_bytes = ROOMY_BYTES
