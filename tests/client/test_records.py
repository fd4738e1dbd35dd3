"""What the hub sends and nobody can read: an error of ours, for whoever looks into it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.aio import run
from trunkline.client import Client, ContextEvent, WatchSnapshot
from trunkline.client.records import Packet
from trunkline.errors import Unavailable

BROKEN = [b"", b"{", b"[]", b'{"type":"\xff","sessions":"\xff"}', b'{"type":"\\ud800', b'{"a":' + b"[" * 100_000]
LOOKS: list[Callable[[bytes], Any]] = [
    lambda raw: Packet(raw).type, lambda raw: Packet(raw).get("type"), lambda raw: len(Packet(raw)),
    lambda raw: ContextEvent(raw).seq, lambda raw: ContextEvent(raw).session_id,
    lambda raw: WatchSnapshot("s", 1, raw).session(), lambda raw: WatchSnapshot("*", 1, raw).sessions(),
]


@pytest.mark.parametrize("raw", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_json_object_is_told_as_unavailable_wherever_it_is_looked_into(raw: bytes) -> None:
    for look in LOOKS:
        with pytest.raises(Unavailable, match="cannot be read"):
            look(raw)


@asynccontextmanager
async def hub_that_answers(*frames: dict[str, Any]) -> AsyncIterator[str]:
    """A hub that welcomes, and answers each subscription with these frames."""
    async def talk(socket: ServerConnection) -> None:
        async for text in socket:
            frame = msgspec.json.decode(text)
            if frame["type"] == "hello":
                await socket.send('{"type":"welcome"}')
            elif frame["type"] == "subscribe":
                for answer in frames:
                    await socket.send(msgspec.json.encode({"subscription": frame["id"], **answer}).decode())

    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("frame", [
    {"type": "event", "event": {"type": "message:delta"}}, {"type": "event", "event": []},
    {"type": "event", "event": {"type": "approval:requested", "sessionId": "s", "seq": 3}},
    {"type": "snapshot", "sessionId": "*", "state": {"pending": 7}},
])
def test_a_frame_that_cannot_be_read_ends_its_watch_and_not_the_line(frame: dict[str, Any]) -> None:
    async def check() -> None:
        async with hub_that_answers(frame) as url, Client(url, "token") as client, client.connect() as link:
            watch = link.watch("s")
            with pytest.raises(Unavailable, match="cannot be read"):
                async with asyncio.timeout(60):
                    await anext(watch)
            assert link.connections == 1

    run(check())
