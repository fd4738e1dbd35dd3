"""The way out of one answer: its head leaves with the first piece of its body, and a stream can be written to without a wait.

uvicorn writes the head when an answer begins and the body when it comes, which is two writes for nearly every answer. The head is
held until more is written or the loop's turn is over, whichever comes first: nobody waits for it longer than before.

A stream that stands at the end of its feed is written to by whoever commits (``OpenBody``): what ASGI makes of a piece of body,
without the coroutine. ASGI's own pieces may come in between; each is written whole.
"""

from __future__ import annotations

import asyncio
from weakref import ref

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

CYCLE = "trunkline.cycle"
"""Where the extensions of a request's scope have uvicorn's cycle, weakly: it has the scope."""


class OpenBody:
    """The body of an answer that has begun and goes on."""

    __slots__ = ("_cycle",)

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle

    @property
    def can_take(self) -> bool:
        """Whether more may be written now: the client takes it, and has not left."""
        cycle = self._cycle
        return not (cycle.flow.write_paused or cycle.disconnected or cycle.response_complete or not cycle.chunked_encoding)

    def write(self, piece: bytes) -> bool:
        """Send a piece of it; False, and nothing sent, where the client takes no more at the moment or has left."""
        cycle = self._cycle
        if cycle.flow.write_paused or cycle.disconnected or cycle.response_complete or not cycle.chunked_encoding:
            return False  # as ``can_take``: once per chunk a call more is noticed
        cycle.transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        return True


def open_body(scope: Scope) -> OpenBody | None:
    """The body of the answer to this request, once it has begun; None where another server serves it."""
    held: ref[RequestResponseCycle] | None = scope.get("extensions", {}).get(CYCLE)
    cycle = None if held is None else held()
    return None if cycle is None else OpenBody(cycle)


class AnswerTransport:
    """What uvicorn's cycle asks of a transport, and no more. When the head is out, the cycle has its own transport again."""

    __slots__ = ("_cycle", "_has_begun", "_held", "_loop", "_transport")

    def __init__(self, cycle: RequestResponseCycle, loop: asyncio.AbstractEventLoop) -> None:
        self._cycle = cycle
        self._transport = cycle.transport
        self._loop = loop
        self._held = b""
        self._has_begun = False

    def write(self, data: bytes) -> None:
        """Send, behind what is held; what comes first is held."""
        if not self._has_begun:
            self._has_begun, self._held = True, data
            self._loop.call_soon(self._flush)
        else:
            self.send(data)

    def close(self) -> None:
        """Close behind what was written."""
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether it is closed, or will be."""
        return self._transport.is_closing()

    def _flush(self) -> None:
        if self._held:
            self.send(b"")

    def send(self, data: bytes) -> None:
        """Send at once, behind what is held."""
        held, self._held = self._held, b""
        self._cycle.transport = self._transport
        self._transport.write(held + data)
