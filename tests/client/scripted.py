"""A hub made of one function: real sockets and real HTTP (h11), so that a test can cut, delay or garble any answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import h11
import msgspec


class Exchange:
    """One request and the means to answer it."""

    def __init__(self, state: h11.Connection, writer: asyncio.StreamWriter, request: h11.Request, body: bytes) -> None:
        self._state = state
        self._writer = writer
        self.method = request.method.decode()
        self.path, _, self.query = request.target.decode().partition("?")
        self.headers = {name.decode(): value.decode() for name, value in request.headers}
        self.body = body

    async def json(self, status: int, value: object) -> None:
        """Answer with JSON."""
        await self.send(status, msgspec.json.encode(value))

    async def send(self, status: int, body: bytes) -> None:
        """Answer with what is said to be JSON."""
        headers = [("content-type", "application/json"), ("content-length", str(len(body)))]
        head = h11.Response(status_code=status, headers=headers)
        await self._send(head, h11.Data(data=body), h11.EndOfMessage())

    async def begin_stream(self, status: int = 200) -> None:
        """Answer with a stream of events."""
        await self._send(h11.Response(status_code=status, headers=[("content-type", "text/event-stream")]))

    async def packet(self, seq: int, kind: str = "agent_message_chunk", **fields: object) -> None:
        """Send one packet."""
        data = msgspec.json.encode({"type": kind, **fields})
        await self.frame(b"event: message\nid: %d\ndata: %b\n\n" % (seq, data))

    async def frame(self, frame: bytes) -> None:
        """Send bytes of the stream as they are."""
        await self._send(h11.Data(data=frame))

    async def end(self) -> None:
        """End the stream cleanly."""
        await self._send(h11.EndOfMessage())

    def cut(self) -> None:
        """Break the connection off."""
        self._writer.transport.abort()

    async def _send(self, *events: h11.Event) -> None:
        for event in events:
            data = self._state.send(event)
            if data:
                self._writer.write(data)
        await self._writer.drain()


Handler = Callable[[Exchange], Awaitable[None]]


class Scripted:
    """The running server: where it is, and how many connections it has seen."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.connections = 0
        self.url = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection came."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Break off what is still being answered."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until either side ends it."""
        self.connections += 1
        state = h11.Connection(our_role=h11.SERVER)
        try:
            while (exchange := await _next_exchange(state, reader, writer)) is not None:
                await self._handler(exchange)
                if state.our_state is not h11.DONE:
                    return
                state.start_next_cycle()
        except ConnectionError:
            return
        finally:
            writer.close()


async def _next_exchange(state: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange | None:
    request: h11.Request | None = None
    body = b""
    while True:
        event = state.next_event()
        if event is h11.NEED_DATA:
            state.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            return Exchange(state, writer, request, body)
        else:
            return None


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[Scripted]:
    """A server on a free port of this machine."""
    scripted = Scripted(handler)
    server = await asyncio.start_server(scripted.accept, "127.0.0.1", 0)
    scripted.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        try:
            yield scripted
        finally:
            server.close()
            await scripted.end()
