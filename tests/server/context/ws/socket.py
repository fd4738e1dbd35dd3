"""A WebSocket client without a socket: frames in and out of the app, with a transport that can be made to stall."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode
from websockets.protocol import CLIENT, Protocol

from tests.server.site import HOST, TOKEN, Site
from trunkline.server.http.open_socket import SOCKET

Frame = dict[str, Any]


class Closed(Exception):
    """The hub closed the socket."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code


class Refused(Exception):
    """The hub refused the upgrade."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status} {body[:200]!r}")
        self.status = status
        self.code = json.loads(body)["code"]


def messages_in(frames: bytes) -> Iterator[tuple[bool, bytes]]:
    """The messages of whole, unmasked frames: whether each is text, and what it says."""
    parser = Protocol(CLIENT, max_size=None)
    parser.receive_data(frames)
    for frame in parser.events_received():
        assert isinstance(frame, WireFrame) and frame.fin
        yield frame.opcode is Opcode.TEXT, bytes(frame.data)
    assert parser.parser_exc is None


class Socket:
    """One connection."""

    def __init__(self, site: Site, path: str = "/ws", headers: Mapping[str, str] | None = None, *,
                 is_direct: bool = True) -> None:
        """``is_direct``: the server offers the way out without a wait, as the hub's own does."""
        path, _, query = path.partition("?")
        given = {"host": HOST, **(headers or {})}
        path = given.pop("at", "") + path
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()]
        scope = {"type": "websocket", "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
                 "scheme": "ws", "headers": raw, "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 7420),
                 "http_version": "1.1", "subprotocols": [],
                 "extensions": {"websocket.http.response": {}, **({SOCKET: self} if is_direct else {})}}
        self._incoming: asyncio.Queue[Frame] = asyncio.Queue()
        self._incoming.put_nowait({"type": "websocket.connect"})
        self._sent: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._gone = False
        self.flows = asyncio.Event()
        """Cleared, the transport takes nothing any more."""
        self.flows.set()
        self.sending = asyncio.Event()
        """Set while the hub waits for the transport."""
        self.writes = 0
        """How often the hub wrote on the spot."""
        self.task = asyncio.create_task(site.app(scope, self._incoming.get, self._send))
        self.task.add_done_callback(lambda _: self._sent.put_nowait(None))

    async def _send(self, message: Any) -> None:
        self.sending.set()
        await self.flows.wait()
        self.sending.clear()
        if self._gone:
            raise OSError("the client has gone")
        self._sent.put_nowait(message)

    @property
    def can_take(self) -> bool:
        """Whether the transport takes more; with ``write`` and ``room`` this is the open socket of a server."""
        return self.flows.is_set() and not self._gone

    def write(self, frames: bytes) -> None:
        """Take frames on the spot."""
        assert self.can_take
        self.writes += 1
        for is_text, payload in messages_in(frames):
            self._sent.put_nowait({"type": "websocket.send", **({"text": payload.decode()} if is_text else {"bytes": payload})})

    async def room(self) -> None:
        """Wait as ``_send`` does."""
        self.sending.set()
        await self.flows.wait()
        self.sending.clear()
        if self._gone:
            raise OSError("the client has gone")

    @property
    def unheard(self) -> int:
        """Frames that the hub has not taken yet."""
        return self._incoming.qsize()

    def say(self, kind: str, **fields: Any) -> None:
        """Send a frame."""
        self.say_text(json.dumps({"type": kind, **fields}))

    def say_text(self, text: str) -> None:
        """Send a text."""
        self._incoming.put_nowait({"type": "websocket.receive", "text": text})

    def say_bytes(self, data: bytes) -> None:
        """Send a binary message."""
        self._incoming.put_nowait({"type": "websocket.receive", "bytes": data})

    async def accepted(self) -> None:
        """The upgrade went through, or Refused."""
        message = await self._sent.get()
        assert message is not None
        if message["type"] == "websocket.http.response.start":
            body = await self._sent.get()
            assert body is not None
            raise Refused(message["status"], body["body"])
        assert message["type"] == "websocket.accept"

    async def hear(self) -> Frame:
        """The hub's next frame; Closed when it hangs up."""
        message = await self._sent.get()
        if message is None:
            self.task.result()
            raise AssertionError("the hub left without a word")
        if message["type"] == "websocket.close":
            raise Closed(message["code"], message["reason"])
        frame: Frame = json.loads(message["text"])
        return frame

    async def until(self, kind: str, **fields: Any) -> Frame:
        """The next frame of a type with these fields; what comes before is skipped."""
        while True:
            frame = await self.hear()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame

    async def event(self, kind: str) -> Frame:
        """The frame of the next event of a type."""
        while True:
            frame = await self.until("event")
            if frame["event"]["type"] == kind:
                return frame

    def heard(self) -> list[Frame]:
        """Everything that came so far and was not read."""
        found = []
        while not self._sent.empty():
            message = self._sent.get_nowait()
            if message is not None and message["type"] == "websocket.send":
                found.append(json.loads(message["text"]))
        return found

    async def hello(self, token: str | None = TOKEN) -> Frame:
        """Get in."""
        await self.accepted()
        self.say("hello", versions=["1.0.0"], **({"token": token} if token else {}))
        return await self.hear()

    async def leave(self) -> None:
        """Cut the connection, and wait until the app has noticed."""
        self._gone = True
        self.flows.set()
        self._incoming.put_nowait({"type": "websocket.disconnect", "code": 1006})
        await self.task


@asynccontextmanager
async def connected(site: Site, token: str | None = TOKEN) -> AsyncIterator[Socket]:
    """A client that was welcomed."""
    socket = Socket(site)
    welcome = await socket.hello(token)
    assert welcome["type"] == "welcome", welcome
    try:
        yield socket
    finally:
        await socket.leave()
