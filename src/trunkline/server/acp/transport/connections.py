"""The connections of editors over streamable HTTP: how many, whose, and for how long.

Rule 1: a connection belongs to the token that opened it. It ends with that token, and by itself when nobody has used it for a
while. No token has so many of them that there is none left for the others.
Rule 2: it is there from the hub's start, since tokens end; what a connection does is loaded with the first of them (``http.py``).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trunkline.errors import Invalid, NotFound, TooManyRequests
from trunkline.server.auth.tokens import Tokens
from trunkline.server.call import HttpCall
from trunkline.server.sse import look_again_in

if TYPE_CHECKING:
    from trunkline.server.acp.transport.http import HttpConnection

CONNECTION = "acp-connection-id"
IDLE_S = 600.0
"""A connection that nobody has used for so long is closed."""
CONNECTIONS = 256
CONNECTIONS_OF_TOKEN = 64
"""How many are open at most, in all and by one token with the browsers that it let in."""


class HttpConnections:
    """Every connection over HTTP."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._open: dict[str, HttpConnection] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def add(self, connection: HttpConnection) -> None:
        """A new connection."""
        if len(self._open) >= CONNECTIONS:
            raise TooManyRequests(f"{CONNECTIONS} editors are connected over HTTP; end some, or use the WebSocket")
        owner = self._tokens.owner(connection.token_id)
        if sum(self._tokens.owner(each.token_id) == owner for each in self._open.values()) >= CONNECTIONS_OF_TOKEN:
            raise TooManyRequests(f"{CONNECTIONS_OF_TOKEN} editors are connected over HTTP by this token; end some, "
                                  "or use the WebSocket")
        self._open[connection.id] = connection
        self.used(connection)

    def find(self, call: HttpCall) -> HttpConnection:
        """The connection that a request names; NotFound also where it is somebody else's."""
        wanted = call.request.headers.get(CONNECTION)
        if wanted is None:
            raise Invalid("the header Acp-Connection-Id is missing")
        connection = self._open.get(wanted)
        if connection is None or connection.token_id != call.caller.token_id:
            raise NotFound("no such connection; it may have ended. Initialize again, then load or resume the sessions")
        self.used(connection)
        return connection

    def used(self, connection: HttpConnection) -> None:
        """Somebody uses it now: it may stay."""
        connection.used_at = asyncio.get_running_loop().time()
        if connection.timer is None and connection.id in self._open:
            self._look_in(connection, IDLE_S)

    async def end(self, connection: HttpConnection) -> None:
        """End a connection."""
        self._open.pop(connection.id, None)
        await connection.close()

    def end_revoked(self) -> None:
        """End every connection whose token no longer counts."""
        for connection in [each for each in self._open.values() if not self._tokens.is_live(each.token_id)]:
            self._end_soon(connection)

    def _look_in(self, connection: HttpConnection, in_s: float) -> None:
        """Look again whether it may stay: then, or when its token may have expired."""
        left_s = self._tokens.left_s(connection.token_id)
        if left_s is not None:
            in_s = min(in_s, look_again_in(left_s))
        connection.timer = asyncio.get_running_loop().call_later(in_s, self._look, connection)

    def _look(self, connection: HttpConnection) -> None:
        connection.timer = None
        if connection.id not in self._open:
            return
        idle_in_s = connection.used_at + IDLE_S - asyncio.get_running_loop().time()
        if not self._tokens.is_live(connection.token_id) or (idle_in_s <= 0 and not connection.readers):
            self._end_soon(connection)
        elif not connection.readers:  # a reader that stops calls us again, at the latest when its token ends
            self._look_in(connection, idle_in_s)

    def _end_soon(self, connection: HttpConnection) -> None:
        del self._open[connection.id]
        task = asyncio.create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
