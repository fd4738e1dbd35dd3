"""What the webhooks' tests stand on: a receiver on a real loopback socket, time that passes when told to, made-up names."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import h11

from trunkline.server.delivery.following import Clock
from trunkline.server.delivery.webhooks.rules import Webhook

SECRET = b"a secret that is long enough"
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


class Got:
    """A request that arrived."""

    def __init__(self, request: h11.Request, body: bytes) -> None:
        self.method = request.method.decode()
        self.target = request.target.decode()
        self.headers = {name.decode(): value.decode() for name, value in request.headers}
        self.body = body

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Receiver:
    """Answers with the statuses it is given, in order, then with 204."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.arrived: asyncio.Queue[Got] = asyncio.Queue()
        self.connections = 0
        self.silent = False
        self.location = "http://127.0.0.1:1/elsewhere"
        self.port = 0

    def hook(self, **fields: Any) -> Webhook:
        """A webhook that leads here."""
        url = f"http://127.0.0.1:{self.port}/hook?key=1"
        return Webhook(**{"url": url, "secret": SECRET, "allow": LOOPBACK, "after_s": 0.0, **fields})

    async def got(self) -> Got:
        """The next request."""
        return await self.arrived.get()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        self.connections += 1
        state = h11.Connection(our_role=h11.SERVER)
        request: h11.Request | None = None
        body = b""
        while True:
            event = state.next_event()
            if event is h11.NEED_DATA:
                state.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                break
        if request is not None:
            self.arrived.put_nowait(Got(request, body))
            if not self.silent:
                status = self.statuses.pop(0) if self.statuses else 204
                head = h11.Response(status_code=status, headers=[("Content-Length", "0"), ("Location", self.location)])
                writer.write((state.send(head) or b"") + (state.send(h11.EndOfMessage()) or b""))
            await reader.read()  # until the sender leaves
        writer.close()


@asynccontextmanager
async def receiver(*statuses: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver that listens on a free port of the loopback address."""
    it = Receiver(*statuses)
    server = await asyncio.start_server(it.serve, "127.0.0.1", 0, ssl=tls)
    it.port = server.sockets[0].getsockname()[1]
    try:
        yield it
    finally:
        server.close()


class HandClock(Clock):
    """Time that stands until somebody lets the next sleeper sleep through."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self._sleepers: asyncio.Queue[tuple[float, asyncio.Future[None]]] = asyncio.Queue()

    def now(self) -> float:
        """The time that it is made to be."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Sleep until woken."""
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.put_nowait((seconds, woken))
        await woken

    async def pass_one(self) -> float:
        """Wait for the next sleeper, let its time pass, and say how long that was."""
        seconds, woken = await self._sleepers.get()
        self.time += seconds
        if not woken.done():
            woken.set_result(None)
        return seconds

    def sleeping(self) -> int:
        """How many sleep and have not been woken."""
        return self._sleepers.qsize()


class Names:
    """A resolver that gives prepared answers, one after another; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The next answer."""
        self.asked.append((host, port))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
