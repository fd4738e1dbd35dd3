"""The acp face over one WebSocket: a text frame is a message.

Rule 1: the end of the connection ends nothing but the connection.
Rule 2: an editor that asked for it (``lines``) gets what belongs together in one binary frame, a message a line: then a position
and all that it stands for arrive together or not at all.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from trunkline.errors import Invalid, TrunklineError
from trunkline.server.acp.agent import AcpAgent
from trunkline.server.auth.guests import Caller, guest_of
from trunkline.server.call import Parts
from trunkline.server.http.messages import HTTPConnection
from trunkline.server.http.open_socket import binary_frame, text_frame
from trunkline.server.websocket import PeerGone, Socket, refuse, socket_of, upgrade_of

if TYPE_CHECKING:
    from trunkline.server.elsewhere import Elsewhere


async def answer(parts: Parts, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one WebSocket, or refuse it as a plain HTTP answer."""
    connection = upgrade_of(scope)
    try:
        caller = _let_in(parts, connection)
        wanted = wanted_agent(connection)
    except TrunklineError as error:
        await refuse(error, scope, receive, send)
        return
    socket = socket_of(scope, receive, send)
    try:
        await socket.accept([(b"acp-connection-id", new_connection_id().encode())])
    except PeerGone:
        return
    await _converse(parts, caller, wanted, socket, parts.elsewhere if guest_of(scope) is None else None)


def new_connection_id() -> str:
    """Nobody can guess it, and it says nothing."""
    return secrets.token_urlsafe(24)


def wanted_agent(connection: HTTPConnection) -> str | None:
    """The agent that ``?agent=`` names. Nothing else may stand there: addresses end up in logs and histories."""
    if not set(connection.query_params) <= {"agent"}:
        raise Invalid("the only parameter of /acp is agent; a token goes into the header Authorization")
    return connection.query_params.get("agent") or None


def _let_in(parts: Parts, connection: HTTPConnection) -> Caller:
    parts.gate.check_host(connection)
    parts.gate.check_origin(connection)
    return parts.gate.caller(connection)


class SocketWire:
    """Messages out."""

    keeps = False

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self.agent: AcpAgent | None = None

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages, each as a frame, or all in one; one write either way."""
        if self._takes_lines:
            await self._socket.send_bytes(b"\n".join(lines))
        else:
            await self._socket.send_texts(lines)

    def can_take(self, stream: str | None) -> bool:
        """Whether messages may be written on the spot."""
        return self._socket.can_take

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages on the spot, as ``send`` does."""
        if self._takes_lines:
            self._socket.write_now(binary_frame(b"\n".join(lines)))
        else:
            self._socket.write_now(b"".join([text_frame(line) for line in lines]))

    @property
    def _takes_lines(self) -> bool:
        return self.agent is not None and self.agent.takes_lines


async def _converse(parts: Parts, caller: Caller, wanted: str | None, socket: Socket, elsewhere: Elsewhere | None) -> None:
    wire = SocketWire(socket)
    agent = AcpAgent(parts.hub, caller, wire, agent=wanted, check_live=lambda: parts.tokens.check_live(caller.token_id),
                     elsewhere=elsewhere, sight=parts.sight if elsewhere is not None else None)
    wire.agent = agent
    listening = asyncio.create_task(_listen(agent, socket))
    parts.streams.opened(listening, agent.watches, caller.token_id)
    try:
        await asyncio.wait([listening])
        await socket.close_after(listening, is_live=parts.tokens.is_live(caller.token_id), is_stopping=parts.hub.closing)
    finally:
        listening.cancel()
        await agent.leave()


async def _listen(agent: AcpAgent, socket: Socket) -> None:
    while True:
        await agent.room()
        text = await socket.receive()
        if text is not None:  # the transport's rule: binary frames are ignored
            agent.receive(text.encode())
