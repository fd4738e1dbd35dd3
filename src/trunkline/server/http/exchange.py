"""One request and its answer: uvicorn's cycle, with less to do where both are whole.

Nearly every request comes with one read, and nearly every answer is one write. So what waits for more is made only when somebody
waits (``_Bell``), a request that is here need not be watched while it is answered (``is_whole``), and an answer that is known to
its end leaves without ASGI's messages (``answer_whole``). Everything else goes uvicorn's way, with the same outcome.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import ref

from starlette.types import Scope
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from trunkline.server.http.answer import CYCLE, AnswerTransport


class _Bell:
    """What uvicorn calls an event. At most one waits for it, and where nobody does there is no future."""

    __slots__ = ("_rung",)

    def __init__(self, rung: asyncio.Future[None] | None) -> None:
        self._rung = rung

    def set(self) -> None:
        """Something came, or nothing more will."""
        if self._rung is not None and not self._rung.done():
            self._rung.set_result(None)


_NOBODYS_BELL = _Bell(None)


class Exchange(RequestResponseCycle):
    """One request and its answer."""

    logger = access_logger = logging.getLogger("uvicorn.error")
    access_log = False
    default_headers: ClassVar[list[tuple[bytes, bytes]]] = []  # type: ignore[misc]  # of all of them; uvicorn has one each

    def __init__(self, scope: Any, transport: asyncio.Transport, flow: FlowControl, loop: asyncio.AbstractEventLoop, *,
                 keep_alive: bool, expects_continue: bool, on_response: Callable[[], None]) -> None:
        # Without uvicorn's own: what is the same for all of them is the class's.
        self.scope = scope
        self.transport = transport
        self.flow = flow
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = expects_continue
        self.on_response = on_response
        self.message_event = _NOBODYS_BELL  # type: ignore[assignment]  # uvicorn only sets it; ``receive`` is ours
        self.is_awaited = False
        """Whether somebody waits for more of the request."""
        self.disconnected = False
        self.body = bytearray()
        self.more_body = True
        self._is_end_told = False
        self.response_started = self.response_complete = False
        self.chunked_encoding: bool | None = None
        self.expected_content_length = 0
        self._loop = loop
        self.transport = AnswerTransport(self, loop)  # type: ignore[assignment]  # all that is asked of it

    async def receive(self) -> Any:
        """The next piece of the request's body, or that the client has left."""
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        if self.flow.read_paused:
            self.flow.resume_reading()
        while not (self.body or self.disconnected or self.response_complete) and (self.more_body or self._is_end_told):
            await self._more()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        body, self.body = bytes(self.body), bytearray()
        self._is_end_told = not self.more_body
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def _more(self) -> None:
        rung = self._loop.create_future()
        self.message_event = _Bell(rung)  # type: ignore[assignment]  # uvicorn only sets it
        self.is_awaited = True
        try:
            await rung
        finally:
            self.is_awaited = False

    def answer_whole(self, status: int, head: bytes, body: bytes) -> bool:
        """Send an answer to its end, its headers as they are written; False, and nothing sent, where it has to wait for the
        client, has to end the connection, or has no body."""
        if (self.more_body or self.response_started or self.disconnected or not self.keep_alive or self.flow.write_paused
                or self.scope["method"] == "HEAD"):
            return False
        self.response_started = self.response_complete = True
        self.chunked_encoding = False
        self.transport.send(b"%b%b\r\n%b" % (STATUS_LINE[status], head, body))  # type: ignore[attr-defined]  # AnswerTransport
        if self.is_awaited:
            self.message_event.set()
        self.on_response()
        return True


def exchange_of(scope: Scope) -> Exchange | None:
    """The exchange that a request is part of; None where another server serves it."""
    held: ref[Exchange] | None = scope.get("extensions", {}).get(CYCLE)
    return None if held is None else held()


def is_whole(scope: Scope) -> bool:
    """Whether a request is here to its end."""
    exchange = exchange_of(scope)
    return exchange is not None and not exchange.more_body
