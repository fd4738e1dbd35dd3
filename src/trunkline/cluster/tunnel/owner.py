"""The owner's end: what comes through a tunnel is answered by the same application that answers over HTTP.

Rule 1: nothing is run before it is known that this node owns the session (``check_owner``) and who asks (``admit``).
Rule 2: the caller is what ``admit`` makes of the gateway's word. What comes through a tunnel carries no credential to look at.
Rule 3: who leaves is a client that has left: the application learns it, and what it began is carried out, as over HTTP.
Rule 4: an answer that the application does not finish ends the tunnel with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Scope

from trunkline.cluster.tunnel.duplex import SocketExchange
from trunkline.cluster.tunnel.frames import Kind
from trunkline.cluster.tunnel.heads import Claim, ReplyHead, RequestHead, encode_head, made_session, passed_on
from trunkline.cluster.tunnel.link import Link
from trunkline.errors import NodeSilent, TrunklineError

Admit = Callable[[str, Claim | None], Mapping[str, Any]]
"""From the node that sends and the caller it names to what the scope of the request says of them; raises where they may not."""

CheckOwner = Callable[[str, int], None]
"""NotOwner, where this node does not own the session of this id, or not in this epoch."""


LastSeq = Callable[[str], int]
"""The last entry of a session here; 0 where that is not known."""


class OwnerEnd:
    """Answers what other nodes ask."""

    def __init__(self, app: ASGIApp, admit: Admit, check_owner: CheckOwner, last_seq: LastSeq = lambda session: 0,
                 is_there: Callable[[], bool] = lambda: True) -> None:
        """``is_there``: as for ``SocketExchange``."""
        self._app = app
        self._admit = admit
        self._check_owner = check_owner
        self._last_seq = last_seq
        self._is_there = is_there

    async def serve(self, link: Link, head: RequestHead) -> None:
        """Answer one request, to its end."""
        self._check_owner(head.session, head.epoch)
        scope = request_scope(head, self._admit(link.own.sender, head.claim))
        exchange = (SocketExchange(link, self._is_there) if scope["type"] == "websocket"
                    else HttpExchange(link, head, self._last_seq))
        await self._app(scope, exchange.receive, exchange.send)
        if not exchange.is_done and link.failure is None:
            raise NodeSilent(f"{link.own.to} broke off in the middle of its answer")


def request_scope(head: RequestHead, extensions: Mapping[str, Any]) -> Scope:
    """The request as ASGI has it."""
    is_socket = head.scheme in ("ws", "wss")
    kind = {"type": "websocket", "subprotocols": []} if is_socket else {"type": "http", "method": head.method}
    return {
        **kind, "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "scheme": head.scheme,
        "path": head.path, "raw_path": quote(head.path).encode(), "root_path": "", "query_string": head.query,
        "headers": head.headers, "client": None, "server": None,
        "extensions": dict(extensions),
    }


class HttpExchange:
    """One request and its answer, in a tunnel."""

    def __init__(self, link: Link, head: RequestHead, last_seq: LastSeq = lambda session: 0) -> None:
        self._link = link
        self._session = head.session
        self._last_seq = last_seq
        self._body = head.body
        """What came with the head."""
        self._has_body = False
        self.is_done = False

    async def receive(self) -> Message:
        """The next piece of the request's body, or that its sender has left."""
        try:
            body, is_last = await self._next_piece()
        except TrunklineError:
            return {"type": "http.disconnect"}
        self._has_body = is_last
        return {"type": "http.request", "body": body, "more_body": not is_last}

    async def _next_piece(self) -> tuple[bytes, bool]:
        if self._has_body:
            await self._link.over()
            raise NodeSilent("the gateway has left")
        if self._body is not None:
            return self._body, True
        frame = await self._link.take()
        return frame.body, frame.kind is Kind.LAST

    async def send(self, message: Message) -> None:
        """Send a part of the answer, when there is credit for it. What nobody waits for any more goes nowhere."""
        if self._link.failure is not None:
            return
        try:
            await self._send(message)
        except TrunklineError:
            return  # over HTTP, too, an application need not know that its client has left

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = passed_on(message["headers"])
            session = self._session or made_session(headers)
            head = ReplyHead(message["status"], headers, self._last_seq(session) if session else 0)
            await self._link.send(Kind.HEAD, encode_head(head))
            return
        is_last = not message.get("more_body", False)
        await self._link.send_body(message.get("body", b""), Kind.LAST if is_last else None)
        self.is_done = self.is_done or is_last
