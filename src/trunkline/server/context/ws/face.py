"""Who is let in to the WebSocket, from the upgrade to its hello.

Rule 1: who is refused before the upgrade is refused as on every other route: Host, Origin, path. A credential in the address is
refused whatever else is right: addresses end up in logs and histories.
Rule 2: let in is who has the cookie of the hub's own page and comes from it (Origin), who has a bearer token in the header,
or who has a token in the first frame.
"""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send

from trunkline.dialects.context.versions import negotiate_version
from trunkline.errors import Invalid, NotFound, TrunklineError, Unauthorized
from trunkline.server.auth.credentials import Caller
from trunkline.server.call import HttpCall, Parts, Reply
from trunkline.server.context.ws import PATH, conversation, frames
from trunkline.server.context.ws.conversation import Conversation
from trunkline.server.http.messages import HTTPConnection
from trunkline.server.websocket import BAD_HELLO, NO_HELLO, NOT_LET_IN, NOT_TEXT, PeerGone, Socket, refuse, socket_of, upgrade_of


async def plain(call: HttpCall) -> Reply:
    """A request that does not ask for the upgrade."""
    raise Invalid("this address speaks WebSocket: ask for the upgrade")


async def answer(parts: Parts, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one WebSocket, or refuse it as a plain HTTP answer."""
    connection = upgrade_of(scope)
    try:
        credential = _let_in(parts, connection)
    except TrunklineError as error:
        await refuse(error, scope, receive, send)
        return
    socket = socket_of(scope, receive, send)
    try:
        await socket.accept()
        await _converse(parts, connection, credential, socket)
    except PeerGone:
        return


Credential = Caller | Unauthorized | None
"""Who the upgrade's own credential is of; why it does not count; None where there was none."""


def _let_in(parts: Parts, connection: HTTPConnection) -> Credential:
    gate = parts.gate
    gate.check_host(connection)
    gate.check_origin(connection)
    if connection.scope["path"] != PATH:
        raise NotFound(f"nothing is at {connection.scope['path'][:200]}")
    if connection.scope["query_string"]:
        raise Invalid(f"{PATH} takes no parameters; a token goes into the first frame, never into the address")
    if "authorization" in connection.headers:
        return gate.caller(connection)
    if not gate.cookies.offered(connection):
        return None
    try:
        if "origin" not in connection.headers:
            raise Unauthorized("a cookie counts only with the Origin of the hub's own page")
        return gate.caller(connection)
    except Unauthorized as error:
        return error  # a script sees nothing of a refused upgrade: it learns that after its hello


async def _converse(parts: Parts, connection: HTTPConnection, credential: Credential, socket: Socket) -> None:
    try:
        async with asyncio.timeout(conversation.HELLO_S):
            text = await socket.receive()
    except TimeoutError:
        await socket.close(NO_HELLO, f"no hello within {conversation.HELLO_S:g} s")
        return
    if text is None:
        await socket.close(NOT_TEXT, "frames are text")
        return
    try:
        hello = frames.decode(text)
        if not isinstance(hello, frames.Hello):
            raise Invalid("the first frame must be a hello")
        caller = _caller(parts, connection, credential, hello)
        version = negotiate_version(hello.versions)
    except TrunklineError as error:
        await socket.send_text(frames.encode(frames.refusal(frames.id_of(text), error)))
        await socket.close(NOT_LET_IN if isinstance(error, Unauthorized) else BAD_HELLO, error.message)
        return
    await parts.sight.whole()
    await Conversation(parts, caller, socket).run(version)


def _caller(parts: Parts, connection: HTTPConnection, credential: Credential, hello: frames.Hello) -> Caller:
    if isinstance(hello.token, str):
        return parts.gate.holder(hello.token, connection)
    if isinstance(credential, Caller):
        return credential
    raise credential or Unauthorized("a token is needed: in the hello, or in the header Authorization")
