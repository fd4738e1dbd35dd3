"""The acp face over one WebSocket: a text frame is a message.

Rule 1: who is refused is refused before the upgrade, as on every other route.
Rule 2: the end of the connection ends nothing but the connection.
Rule 3: an editor that asked for it (``lines``) gets what belongs together in one binary frame, a message a line: then a position
and all that it stands for arrive together or not at all.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from trunkline.dialects.visible import within
from trunkline.errors import Invalid, TrunklineError
from trunkline.server.acp.agent import AcpAgent
from trunkline.server.acp.connection import Left
from trunkline.server.auth.credentials import Caller
from trunkline.server.call import Parts, reply
from trunkline.server.openapi import ErrorBody

NOT_TEXT, FAILED, STOPPING, NOT_LET_IN = 1003, 1011, 1012, 4401
_ORIGIN_SCHEME = {"ws": "http", "wss": "https"}

log = logging.getLogger("trunkline.server")


async def answer(parts: Parts, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one WebSocket, or refuse it as a plain HTTP answer."""
    connection = HTTPConnection({**scope, "scheme": _ORIGIN_SCHEME.get(scope["scheme"], "http")})
    try:
        caller = _let_in(parts, connection)
        wanted = wanted_agent(connection)
    except TrunklineError as error:
        body = ErrorBody(error.code, error.message, error.recoverable, error.details, error.agent_code)
        await reply(body, error.http_status)(scope, receive, send)
        return
    await receive()  # websocket.connect
    connection_id = new_connection_id()
    await send({"type": "websocket.accept", "headers": [(b"acp-connection-id", connection_id.encode())]})
    await _converse(parts, caller, wanted, receive, SocketWire(send))


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

    def __init__(self, send: Send) -> None:
        self._send = send
        self.agent: AcpAgent | None = None

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Send messages, each as a frame, or all in one."""
        if self.agent is not None and self.agent.takes_lines:
            await self._transmit({"type": "websocket.send", "bytes": b"\n".join(lines)})
            return
        for line in lines:
            await self._transmit({"type": "websocket.send", "text": line.decode()})

    async def close(self, code: int, reason: str) -> None:
        """End the connection."""
        await self._transmit({"type": "websocket.close", "code": code, "reason": within(reason, 120)})

    async def _transmit(self, message: Message) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:  # RuntimeError: it was closed already
            raise Left from error


async def _converse(parts: Parts, caller: Caller, wanted: str | None, receive: Receive, wire: SocketWire) -> None:
    agent = AcpAgent(parts.hub, caller, wire, agent=wanted, check_live=lambda: parts.tokens.check_live(caller.token_id))
    wire.agent = agent
    listening = asyncio.create_task(_listen(agent, receive))
    parts.streams.opened(listening, agent.watches, caller.token_id)
    try:
        await asyncio.wait([listening])
        await _part(wire, listening, still_let_in=parts.tokens.is_live(caller.token_id))
    finally:
        listening.cancel()
        await agent.leave()


async def _listen(agent: AcpAgent, receive: Receive) -> None:
    while True:
        await agent.room()
        message = await receive()
        if message["type"] == "websocket.disconnect":
            raise Left
        text: str | None = message.get("text")
        if text is not None:  # the transport's rule: binary frames are ignored
            agent.receive(text.encode())


async def _part(wire: SocketWire, listening: asyncio.Task[None], *, still_let_in: bool) -> None:
    """The conversation has ended: tell the editor why, if it is still there."""
    failure = None if listening.cancelled() else listening.exception()
    try:
        if failure is None and not still_let_in:
            await wire.close(NOT_LET_IN, "the token has expired or was revoked")
        elif failure is None:
            await wire.close(STOPPING, "the hub is stopping")
        elif not isinstance(failure, Left):
            log.error("an editor's WebSocket failed", exc_info=failure)
            await wire.close(FAILED, "the hub failed; its log says more")
    except Left:
        return
