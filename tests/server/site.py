"""A served hub for tests: the real hub with its journal in memory, asked through ASGI without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from trunkline.hub import Hub, HubOptions, Session
from trunkline.server.app import App, build_app
from trunkline.server.options import ServerOptions

TOKEN = "a token that only the tests know"
HOST = "localhost:7420"


class Answer(msgspec.Struct):
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for each, value in self.headers if each == name), None)

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Exchange:
    """One request in flight: what was sent so far, and a way to leave."""

    def __init__(self, app: App, scope: dict[str, Any], body: bytes | list[bytes]) -> None:
        chunks = [body] if isinstance(body, bytes) else body
        self._incoming = [{"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
                          for index, chunk in enumerate(chunks)]
        self._sent: asyncio.Queue[Any] = asyncio.Queue()
        self._left = asyncio.Event()
        self.taken = 0
        self.stalled = asyncio.Event()
        self.stalled.set()
        self.task = asyncio.create_task(app(scope, self._receive, self._send))
        self.task.add_done_callback(lambda _: self._sent.put_nowait(None))

    async def _receive(self) -> dict[str, Any]:
        if self._incoming:
            self.taken += 1
            return self._incoming.pop(0)
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.stalled.wait()
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._left.set()
        await self._sent.put(message)

    def cut_short(self) -> None:
        """The body will break off: the client leaves before its end."""
        for message in self._incoming:
            message["more_body"] = True

    async def start(self) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        message = await self._sent.get()
        if message is None:
            self.task.result()
            raise AssertionError("nothing was answered")
        return message["status"], {name.decode(): value.decode() for name, value in message["headers"]}

    async def piece(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        message = await self._sent.get()
        if message is None:
            self.task.result()
            raise AssertionError("the body was cut")
        return None if not message.get("more_body") and not message.get("body") else message.get("body", b"")

    def pieces_waiting(self) -> int:
        """How much was sent that nobody has read."""
        return self._sent.qsize()

    async def answer(self) -> Answer:
        """Everything, to the end."""
        await self.task
        messages = []
        while (message := await self._sent.get()) is not None:
            messages.append(message)
        if not messages:
            return Answer(0, [], b"")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in messages[0]["headers"]]
        return Answer(messages[0]["status"], headers, b"".join(each.get("body", b"") for each in messages[1:]))

    async def leave(self) -> None:
        """Hang up, and wait until the app has noticed."""
        self._left.set()
        await self.task


class Site:
    """A hub that is served, and a client of it."""

    def __init__(self, hub: Hub, app: App, folder: Path) -> None:
        self.hub = hub
        self.app = app
        self.folder = folder
        self.client = "127.0.0.1"
        """Where requests come from."""

    def open(self, method: str, path: str, *, json_body: Any = None, body: bytes | list[bytes] = b"", token: str | None = TOKEN,
             headers: Mapping[str, str | None] | None = None) -> Exchange:
        """Begin a request. A header of None is left out; ``at`` is none, but the path that a browser asks below."""
        path, _, query = path.partition("?")
        given: dict[str, str | None] = {"host": HOST, "authorization": f"Bearer {token}" if token else None,
                                        "accept": "application/json", **(headers or {})}
        path = (given.pop("at", None) or "") + path
        if json_body is not None:
            body = json.dumps(json_body).encode()
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items() if value is not None]
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": quote(path).encode(), "query_string": query.encode(),
            "root_path": "", "scheme": "http", "headers": raw, "client": (self.client, 50000), "server": ("127.0.0.1", 7420),
            "http_version": "1.1",
        }
        return Exchange(self.app, scope, body)

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        """One request and its whole answer."""
        return await self.open(method, path, **options).answer()

    async def session(self, **fields: Any) -> Session:
        """A new session with the demo agent in the site's folder, which has told its commands already."""
        return await self.session_as(TOKEN, **fields)

    async def session_as(self, token: str, **fields: Any) -> Session:
        """The same, with another main token than the tests' own."""
        wanted = {"agent": "demo", "cwd": str(self.folder), **fields}
        answer = await self.ask("POST", "/sessions", json_body=wanted, token=token)
        assert answer.status == 201, answer.body
        session = await self.hub.session(answer.json()["id"])
        while await session.commands() is None:
            await session.feed.wait(session.feed.last_seq)
        return session

    async def turn(self, session: Session, content: str) -> list[tuple[int, dict[str, Any]]]:
        """Send a prompt and return (id, packet) of its whole turn."""
        answer = await self.ask("POST", f"/sessions/{session.id}/send-message", json_body={"content": content}, headers=STREAM)
        assert answer.status == 200, answer.body
        return frames(answer.body)


STREAM = {"accept": "text/event-stream"}


def browser(answer: Answer) -> dict[str, str]:
    """What a browser sends that was let in by this answer."""
    cookie = (answer.header("set-cookie") or "").partition(";")[0]
    return {"cookie": cookie, "sec-fetch-site": "same-origin", "at": answer.json()["base"]}


def frames(body: bytes) -> list[tuple[int, dict[str, Any]]]:
    """(id, packet) of every frame that is an entry."""
    found = []
    for frame in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.split("\n") if line and not line.startswith(":"))
        if "data" in lines and "id" in lines:
            assert lines["event"] == "message"
            found.append((int(lines["id"]), json.loads(lines["data"])))
    return found


@asynccontextmanager
async def site(folder: Path, **options: Any) -> AsyncIterator[Site]:
    """A hub in memory, served; sessions work in ``folder / "work"``."""
    work, data = folder / "work", folder / "data"
    work.mkdir(parents=True, exist_ok=True)
    async with Hub(HubOptions(data=data, store="memory:")) as hub:
        yield Site(hub, build_app(hub, ServerOptions(data=data, port=7420, **{"token": TOKEN, **options})), work)
