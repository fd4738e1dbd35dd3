"""The bytes of a WebSocket: what breaks a rule ends the connection with its reason, and what is cut anywhere is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.aio import run
from tests.server.http.test_listen import AUTH, Served, listening
from trunkline.server.http import ws_protocol

GREETING = b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}'
CONT, TEXT, PING = 0x0, 0x1, 0x9


def frame(opcode: int, payload: bytes = b"", *, is_last: bool = True) -> bytes:
    """One short frame, masked as a client must."""
    assert len(payload) < 126
    return bytes([0x80 * is_last | opcode, 0x80 | len(payload)]) + b"\0\0\0\0" + payload


def greeted(tmp_path: Path, work: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
    """Run ``work`` on an editor's connection that was upgraded."""
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await upgraded(here)
            await work(reader, writer)
            writer.close()

    run(check())


async def upgraded(here: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await here.connect()
    writer.write(f"GET /acp HTTP/1.1\r\nHost: localhost\r\n{AUTH}Connection: Upgrade\r\nUpgrade: websocket\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
    return reader, writer


def test_a_message_that_comes_in_frames_and_bytes_is_whole(tmp_path: Path) -> None:
    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pieces = [GREETING[at:at + 20] for at in range(0, len(GREETING), 20)]
        frames = [frame(CONT if at else TEXT, piece, is_last=at == len(pieces) - 1) for at, piece in enumerate(pieces)]
        for byte in b"".join(frames):
            writer.write(bytes([byte]))
            await writer.drain()
        assert b'"id":7' in await reader.readuntil(b'"id":7')

    greeted(tmp_path, work)


def test_what_is_no_text_ends_the_connection_and_nothing_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(TEXT, b'{"id":"\xff"}'))
        assert (await reader.read())[2:4] == ws_protocol.NO_TEXT.to_bytes(2, "big")

    greeted(tmp_path, work)
    assert not caplog.records


def test_a_message_of_too_many_frames_ends_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ws_protocol, "FRAMES_MOST", 10)

    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(TEXT, is_last=False) + frame(CONT, is_last=False) * 20)
        assert (await reader.read())[2:4] == ws_protocol.TOO_BIG.to_bytes(2, "big")

    greeted(tmp_path, work)


def test_frames_that_come_at_once_are_all_read_though_others_have_their_turn_between(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ws_protocol, "FED_S", 0.0)

    async def work(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(PING, b"p") * 2000 + frame(TEXT, GREETING))
        assert b'"id":7' in await reader.readuntil(b'"id":7')

    greeted(tmp_path, work)
