"""A WebSocket that is written to without a wait: frames as others make them, one write for all, and nothing after the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send
from websockets.frames import Frame, Opcode

from tests.aio import eventually, run
from tests.server.context.ws.socket import messages_in
from tests.server.http.test_listen import listening
from tests.server.http.test_ws_protocol import upgraded
from tests.tooling.rows import every_row
from trunkline.server import app
from trunkline.server.http.open_socket import OpenSocket, ProtocolSocket, binary_frame, open_socket, text_frame

CLOSE = bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8])
"""What a client says that goes, masked as it must."""


@every_row(("size",), [(0,), (1,), (125,), (126,), (127,), (65_535,), (65_536,), (100_000,)])
def test_a_frame_is_what_the_library_makes_of_the_message(size: int) -> None:
    payload = b"x" * size
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)
    assert binary_frame(payload) == Frame(Opcode.BINARY, payload).serialize(mask=False)


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=300))))
def test_messages_that_are_written_together_are_read_one_by_one(messages: list[tuple[bool, bytes]]) -> None:
    frames = [text_frame(payload) if is_text else binary_frame(payload) for is_text, payload in messages]
    assert list(messages_in(b"".join(frames))) == messages


def test_another_server_offers_none() -> None:
    assert open_socket({"type": "websocket"}) is None


class Here:
    """A hub on a port, with the open sockets of those who come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sockets: list[ProtocolSocket] = []
        self.before: list[bool] = []
        answer = app._editors_socket

        async def watched(parts: object, scope: Scope, receive: Receive, send: Send) -> None:
            found: OpenSocket | None = open_socket(scope)
            assert isinstance(found, ProtocolSocket)
            self.before.append(found.can_take)
            self.sockets.append(found)
            await answer(parts, scope, receive, send)

        monkeypatch.setattr(app, "_editors_socket", watched)


def test_what_is_written_arrives_in_its_order_from_the_upgrade_to_the_end(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        here = Here(monkeypatch)
        async with listening(tmp_path) as served:
            reader, writer = await upgraded(served)
            (socket,) = here.sockets
            assert here.before == [False], "not before it is let in"
            sent = text_frame(b"one") + text_frame(b"two") + binary_frame(b"three")
            socket.write(sent)
            assert await reader.readexactly(len(sent)) == sent
            writer.write(CLOSE)
            await eventually(lambda: not socket.can_take)
            with pytest.raises(OSError, match="ended"):
                await socket.room()
            assert (await reader.read())[:1] == b"\x88", "only its own goodbye"
            writer.close()

    run(check())


def test_a_client_that_does_not_read_takes_no_more_until_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        here = Here(monkeypatch)
        async with listening(tmp_path) as served:
            reader, writer = await upgraded(served)
            (socket,) = here.sockets
            frame, count = text_frame(b"x" * 60_000), 0
            while socket.can_take:
                socket.write(frame)
                count += 1
                await asyncio.sleep(0)
            waiting = asyncio.create_task(socket.room())
            await asyncio.sleep(0)
            assert not waiting.done()
            assert await reader.readexactly(count * len(frame)) == frame * count
            await waiting
            socket.write(frame)
            assert await reader.readexactly(len(frame)) == frame
            writer.close()

    run(check())
