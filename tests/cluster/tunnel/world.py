"""Two nodes with a tunnel between them, on a real server: an application at the owner, a client at the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.cluster.connecting import connected
from trunkline.cluster.connection import Connection
from trunkline.cluster.tunnel.gateway import Gateway, Owner, TunnelReply
from trunkline.cluster.tunnel.heads import Claim
from trunkline.cluster.tunnel.link import PACE, Pace
from trunkline.cluster.tunnel.owner import OwnerEnd
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import NotOwner

CLAIM = Claim("t1", "phone (t1)", "control")
GUEST = "tests.guest"
"""Where the application finds who sent a request, and for whom."""


def admit(sender: str, claim: Claim | None) -> Mapping[str, Any]:
    """Let everybody in."""
    return {GUEST: (sender, claim)}


def owns_epoch_3(session: str, epoch: int) -> None:
    """A node that owns every session, in epoch 3."""
    if epoch not in (0, 3):
        raise NotOwner(f"session {session} is in epoch 3, not {epoch}", details={"epoch": 3})


class Client:
    """Whoever asks the gateway: sends a body in pieces, reads an answer, leaves."""

    def __init__(self, gateway: Gateway, method: str, path: str, body: list[bytes] | None = None, *,
                 headers: list[tuple[bytes, bytes]] | None = None, goes_on: bool = False, owner: Owner | None = None,
                 claim: Claim | None = CLAIM) -> None:
        """``goes_on``: the body has no end yet; ``more`` adds to it."""
        self.scope: Scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers or [],
                             "scheme": "http"}
        self._gateway = gateway
        self._owner = owner or Owner("owner", 3)
        self._claim = claim
        self._incoming: asyncio.Queue[Message] = asyncio.Queue()
        parts = body or [b""]
        for number, part in enumerate(parts):
            self.more(part, is_last=not goes_on and number == len(parts) - 1)
        self.got = bytearray()
        self.is_whole = False
        self.flows = asyncio.Event()
        self.flows.set()
        self.reply: TunnelReply

    def more(self, part: bytes, *, is_last: bool = False) -> None:
        self._incoming.put_nowait({"type": "http.request", "body": part, "more_body": not is_last})

    def leave(self) -> None:
        self._incoming.put_nowait({"type": "http.disconnect"})

    @property
    def body_waiting(self) -> int:
        """Pieces of the body that nobody has asked for."""
        return self._incoming.qsize()

    async def ask(self) -> TunnelReply:
        """Wait for the answer's head."""
        async def find() -> Owner:
            return self._owner

        self.reply = await self._gateway.ask(find, self._claim, self.scope, self._incoming.get, session="s1")
        return self.reply

    async def read(self) -> bytes:
        """The rest of it; ``is_whole`` says whether it came to its end."""
        await self.reply(self.scope, self._incoming.get, self._take)
        return bytes(self.got)

    async def whole(self) -> tuple[int, bytes]:
        """Ask, and read it all."""
        await self.ask()
        return self.reply.status, await self.read()

    async def _take(self, message: Message) -> None:
        await self.flows.wait()
        if message["type"] == "http.response.body":
            self.got += message["body"]
            self.is_whole = not message["more_body"]


class World:
    """A gateway and an owner."""

    def __init__(self, gateway: Gateway, at_gateway: Switch, at_owner: Switch, links: tuple[Connection, Connection]) -> None:
        self.gateway = gateway
        self.at_gateway, self.at_owner = at_gateway, at_owner
        self.gateway_connection, self.owner_connection = links

    def client(self, method: str, path: str, body: list[bytes] | None = None, **options: Any) -> Client:
        return Client(self.gateway, method, path, body, **options)


@asynccontextmanager
async def world(url: str, app: ASGIApp, *, sender: str = "gateway", reply_s: float = 30.0, pace: Pace = PACE
                ) -> AsyncIterator[World]:
    """Both nodes, in this process, each with a connection of its own."""
    async with AsyncExitStack() as stack:
        near = await stack.enter_async_context(connected(url, node=sender))
        far = await stack.enter_async_context(connected(url, node="owner"))
        at_owner = await stack.enter_async_context(started(Switch(far, OwnerEnd(app, admit, owns_epoch_3).serve, pace)))
        at_gateway = await stack.enter_async_context(started(Switch(near, pace=pace)))
        yield World(Gateway(at_gateway, reply_s=reply_s), at_gateway, at_owner, (near, far))


@asynccontextmanager
async def started(switch: Switch) -> AsyncIterator[Switch]:
    """It listens; behind that it has nothing open."""
    await switch.start()
    try:
        yield switch
    finally:
        await switch.stop()
        assert len(switch) == 0


def application(answer: Callable[[Scope, Receive, Send], Awaitable[None]]) -> ASGIApp:
    """For type checkers: a function that is an application."""
    return answer


async def answer_with(send: Send, body: bytes, status: int = 200) -> None:
    """A whole answer."""
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def body_of(receive: Receive) -> bytes | None:
    """All of a request's body; None where its sender left before its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message["body"]
        if not message["more_body"]:
            return bytes(body)
