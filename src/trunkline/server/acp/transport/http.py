"""The acp face over streamable HTTP, as the transport's proposal says: POST what an editor sends, GET what it gets.

Rule 1: ``initialize`` without a connection opens one and is answered at once; everything else gets 202, and its answer comes on a
stream: the session's where the request named one by header, else the connection's.
Rule 2: DELETE ends the connection. Sessions go on (the proposal would end them: they belong to the hub, not to a connection).
Rule 3: a connection belongs to the token that opened it. It ends with that token, and by itself when nobody has used it for a
while. No token has so many of them that there is none left for the others.
Rule 4: beyond the proposal, every message has an event id, so that a stream that broke is taken up by Last-Event-ID.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from trunkline import decoders
from trunkline.dialects.acp.methods import (
    INITIALIZE,
    SESSION_CANCEL,
    SESSION_CLOSE,
    SESSION_PROMPT,
    SESSION_SET_CONFIG_OPTION,
    SESSION_SET_MODE,
)
from trunkline.dialects.acp.reading.aliases import canonical_method
from trunkline.dialects.outside import BROKEN, whole_number
from trunkline.errors import (
    Invalid,
    NotAcceptable,
    SessionNotFound,
    TooManyRequests,
    Unsupported,
    UnsupportedMediaType,
)
from trunkline.server.acp.agent import AcpAgent
from trunkline.server.acp.transport.connections import CONNECTION
from trunkline.server.acp.transport.socket import new_connection_id, wanted_agent
from trunkline.server.acp.transport.streams import MessageStream
from trunkline.server.call import HttpCall, Reply, reply
from trunkline.server.http.messages import Response
from trunkline.server.openapi import error_body
from trunkline.server.packets.frames import failure_frame
from trunkline.server.sse import EventStream, Outlet
from trunkline.server.websocket import PeerGone

SESSION = "acp-session-id"
NO_SESSION_STATUS = 409
"""Of a stream for a session that is not there. The TypeScript SDK takes a 404 for a connection that is lost."""
MESSAGE_BYTES = 64 << 20
"""The longest message that is taken: a prompt with pictures. As long as one on the WebSocket."""
GREETING = "initialize"
"""Where the answer to the first request goes: not onto a stream. No session is called so."""
NEEDS_SESSION = frozenset({SESSION_PROMPT, SESSION_CANCEL, SESSION_CLOSE, SESSION_SET_MODE,
                           SESSION_SET_CONFIG_OPTION})


class _Params(msgspec.Struct, rename="camel"):
    session_id: str = ""


class _Message(msgspec.Struct):
    method: str = ""
    params: _Params = msgspec.field(default_factory=_Params)


class HttpConnection:
    """One editor's connection, over any number of requests."""

    keeps = True

    def __init__(self, call: HttpCall) -> None:
        self.id = new_connection_id()
        self.token_id = call.caller.token_id
        self.agent = AcpAgent(call.hub, call.caller, self, agent=wanted_agent(call.request),
                              check_live=lambda: call.parts.tokens.check_live(self.token_id), elsewhere=call.parts.elsewhere,
                              sight=call.parts.sight)
        self.greeting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.readers = 0
        self.used_at = 0.0
        self.timer: asyncio.TimerHandle | None = None
        self._streams: dict[str | None, MessageStream] = {}
        self._closed = False

    def stream(self, session_id: str | None) -> MessageStream:
        """The session's stream, or the connection's."""
        if session_id not in self._streams:
            self._streams[session_id] = MessageStream()
        return self._streams[session_id]

    async def send(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Put messages onto a stream."""
        if self._closed:
            raise PeerGone
        if stream == GREETING:
            if not self.greeting.done():
                self.greeting.set_result(lines[-1])
            return
        await self.stream(stream).put(lines)

    def can_take(self, stream: str | None) -> bool:
        """Whether messages may be put onto a stream on the spot."""
        return not self._closed and stream != GREETING and self.stream(stream).can_take

    def write_now(self, lines: Sequence[bytes], stream: str | None) -> None:
        """Put messages onto a stream on the spot. Only where ``can_take``."""
        self.stream(stream).put_now(lines)

    async def close(self) -> None:
        """End the connection, and nothing else."""
        self._closed = True
        if self.timer is not None:
            self.timer.cancel()
        for stream in self._streams.values():
            stream.close()
        await self.agent.leave()


async def say(call: HttpCall) -> Reply:
    """Take one message of an editor's."""
    media = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise UnsupportedMediaType("a message is application/json")
    body = b"".join([chunk async for chunk in call.chunks(MESSAGE_BYTES)])
    message = _read(body)
    if CONNECTION not in call.request.headers:
        return await _greet(call, message, body)
    connection = call.parts.editors.find(call)
    session_id = call.request.headers.get(SESSION)
    method = canonical_method(message.method, side="agent")
    if session_id is None and method in NEEDS_SESSION:
        raise Invalid(f"{method} needs the header Acp-Session-Id")
    if session_id is not None and message.params.session_id not in ("", session_id):
        raise Invalid("Acp-Session-Id names another session than the message")
    await connection.agent.room()
    connection.agent.receive(body, session_id)
    return _accepted(connection)


async def hear(call: HttpCall) -> Reply:
    """A stream of messages to an editor."""
    if not call.wants_stream():
        raise NotAcceptable("what an editor hears is text/event-stream")
    connection = call.parts.editors.find(call)
    session_id = call.request.headers.get(SESSION)
    if session_id is not None and not connection.agent.has(session_id):
        try:
            # It may be opened before the session is loaded, but not for one that is not there.
            await call.parts.sight.session(session_id)
        except SessionNotFound as error:
            return reply(error_body(error), NO_SESSION_STATUS)
    stream = connection.stream(session_id)
    last = call.request.headers.get("last-event-id")
    # Who only asks for the head reads nothing, and takes over from nobody.
    claim = stream.claim(whole_number("Last-Event-ID", last) if last else None) if call.request.method == "GET" else 0

    async def pump(outlet: Outlet) -> None:
        connection.readers += 1
        try:
            await stream.pump(outlet, claim)
        finally:
            connection.readers -= 1
            call.parts.editors.used(connection)

    answer = EventStream(pump, call.parts.streams, failure_frame, token_id=call.caller.token_id,
                         keepalive_s=call.parts.options.keepalive_s,
                         watches=connection.agent.watches if session_id is None else lambda each, _: each == session_id)
    answer.raw_headers.append((CONNECTION.encode(), connection.id.encode()))
    return answer


async def end(call: HttpCall) -> Reply:
    """End a connection; its sessions go on."""
    connection = call.parts.editors.find(call)
    await call.parts.editors.end(connection)
    return Response(status_code=202)


async def _greet(call: HttpCall, message: _Message, body: bytes) -> Reply:
    if message.method != INITIALIZE:
        raise Invalid("the header Acp-Connection-Id is missing; the first message is initialize")
    connection = HttpConnection(call)
    connection.agent.receive(body, GREETING)
    if not connection.agent.busy:
        raise Invalid("initialize is a request: it needs an id, or nobody can be answered")
    answer = await connection.greeting
    if not connection.agent.greeted:
        return Response(answer, 200, media_type="application/json")
    try:
        call.parts.editors.add(connection)
    except TooManyRequests:
        await connection.close()
        raise
    return Response(answer, 200, {"Acp-Connection-Id": connection.id}, media_type="application/json")


def _read(body: bytes) -> _Message:
    if body.lstrip()[:1] == b"[":
        raise Unsupported("batches are not supported: one message a request")
    try:
        return decoders.decode(body, _Message)
    except msgspec.ValidationError:
        return _Message()  # readable, but not as it should be: the protocol has an answer for that
    except BROKEN as error:
        raise Invalid(f"body: not a message: {error}") from error


def _accepted(connection: HttpConnection) -> Response:
    return Response(status_code=202, headers={"Acp-Connection-Id": connection.id})
