"""The hub's socket for hooks: whose it is, what it takes, and when it hangs up."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from tests.tooling.rows import every_row
from trunkline.reach import socket as hook_socket
from trunkline.reach.socket import SOCKET_FILE, UNREAD_MOST, Call, Gone, HookSocket, Wire, is_same_user, read_head


class Desk:
    """Answers with the body, when it may."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.may = asyncio.Event()
        self.hung_up = 0
        self.lines: list[bytes] = []
        self.says = b""

    async def take(self, call: Call, gone: Gone) -> bytes:
        self.calls.append(call)
        waiting = asyncio.ensure_future(self.may.wait())
        await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        self.hung_up += gone.done()
        return call.body


    async def hold(self, call: Call, wire: Wire) -> None:
        self.calls.append(call)
        async for line in wire.lines():
            self.lines.append(line)
            wire.send(self.says or line + b"\n")
        self.hung_up += 1


@asynccontextmanager
async def listening(desk: Desk, folder: str = "") -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        path = await asyncio.to_thread(_made, name, folder)
        hooks = HookSocket(path, desk.take, desk.hold)
        await hooks.start()
        try:
            yield path / SOCKET_FILE
        finally:
            await hooks.close()
        assert not hooks.path.exists()


def _made(name: str, folder: str) -> Path:
    path = Path(name, folder)
    path.mkdir(exist_ok=True)
    return path


async def called(path: Path, said: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with hook_socket.Short(path) as address:
        reader, writer = await asyncio.open_unix_connection(address)
    writer.write(said)
    return reader, writer


HEAD = b"trunkline 1 claude-code ask 7 2\n"


@pytest.mark.parametrize("folder", ["", "d" * 120])
def test_a_call_is_answered_by_whoever_it_is_for(folder: str) -> None:
    async def check() -> None:
        desk = Desk()
        desk.may.set()
        async with listening(desk, folder) as path:
            assert path.stat().st_mode & 0o777 == 0o600
            reader, writer = await called(path, HEAD + b"{}")
            assert await reader.read() == b"trunkline 1 2\n{}"
            assert [call[:4] for call in desk.calls] == [("claude-code", "ask", 7, b"{}")]
            writer.close()

    run(check())


def test_who_hangs_up_is_waited_for_no_longer() -> None:
    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            _, writer = await called(path, HEAD + b"{}")
            await eventually(lambda: desk.calls)
            writer.close()
            await eventually(lambda: desk.hung_up)

    run(check())


def test_a_hub_that_closes_hangs_up_on_everybody() -> None:
    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            reader, writer = await called(path, HEAD + b"{}")
            await eventually(lambda: desk.calls)
        assert await reader.read() == b""
        writer.close()

    run(check())


def test_calls_beyond_the_bound_are_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_socket, "CALLS_MOST", 2)

    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            first = [await called(path, HEAD + b"{}") for _ in range(2)]
            await eventually(lambda: len(desk.calls) == 2)
            reader, writer = await called(path, HEAD + b"{}")
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
            assert len(desk.calls) == 2
            for _, each in (*first, (reader, writer)):
                each.close()

    run(check())


def test_calls_that_say_too_much_together_are_hung_up_on_and_their_room_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_socket, "CALLS_BYTES", 5)

    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            first = [await called(path, HEAD + b"{}") for _ in range(2)]
            await eventually(lambda: len(desk.calls) == 2)
            reader, writer = await called(path, HEAD + b"{}")
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
            assert len(desk.calls) == 2
            writer.close()
            desk.may.set()
            for reader, writer in first:
                assert (await reader.read()).endswith(b"{}")
                writer.close()
            reader, writer = await called(path, HEAD + b"{}")
            assert (await reader.read()).endswith(b"{}")
            writer.close()

    run(check())


def test_who_says_half_a_call_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_socket, "READ_S", 0.05)

    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            for half in (b"", HEAD[:10], HEAD + b"{", b"x" * 200_000):
                reader, writer = await called(path, half)
                try:
                    assert await reader.read() == b""
                except ConnectionResetError:
                    pass
                writer.close()
            assert desk.calls == []

    run(check())


@every_row(("line", "read"), [
    (HEAD, ("claude-code", "ask", 7, 2)), (b"trunkline 2 a ask 7 2\n", None), (b"trunkline 1 a ask 7\n", None), (b"", None),
    (b"trunkline 1 a ask -7 2\n", None), (b"trunkline 1 a ask 7 2", None), (b"GET / HTTP/1.1\r\n", None), (b"\xff" * 40, None),
    (b"trunkline 1 a ask 7 99999999999\n", None), (b"trunkline 1 " + b"a" * 500 + b" ask 7 2\n", None)])
def test_a_first_line_is_read_or_refused(line: bytes, read: Any) -> None:
    assert read_head(line) == read


def test_another_user_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(socket, "SO_PEERCRED"):
        pytest.skip("this system does not say who connects")

    async def check() -> None:
        desk = Desk()
        desk.may.set()
        async with listening(desk) as path:
            monkeypatch.setattr(os, "getuid", lambda: 12345)
            reader, writer = await called(path, HEAD + b"{}")
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
            assert desk.calls == [] and not is_same_user(writer)
            writer.close()

    run(check())


def test_a_socket_that_a_killed_hub_left_is_replaced() -> None:
    async def check() -> None:
        desk = Desk()
        desk.may.set()
        async with listening(desk) as path:
            again = HookSocket(path.parent, desk.take, desk.hold)
            await again.start()
            reader, writer = await called(path, HEAD + b"{}")
            assert await reader.read() == b"trunkline 1 2\n{}"
            writer.close()
            await again.close()

    run(check())


LINE = b"trunkline 1 opencode line 7 0\n"


def test_a_line_goes_both_ways_until_somebody_hangs_up_and_its_process_is_the_kernels_word() -> None:
    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            reader, writer = await called(path, LINE + b"one\nt")
            assert await reader.readline() == b"one\n"
            writer.write(b"wo\n\n" + b"x" * 200_000 + b"\n")
            assert [await reader.readline() for _ in range(2)] == [b"two\n", b"\n"]
            assert await reader.readexactly(200_001) == b"x" * 200_000 + b"\n"
            assert desk.calls == [Call("opencode", "line", os.getpid(), b"")]
            writer.close()
            await eventually(lambda: desk.hung_up)

    run(check())


def test_a_line_without_an_end_and_one_that_nobody_reads_are_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        desk = Desk()
        async with listening(desk) as path:
            _, writer = await called(path, LINE + b"x" * 70_000)
            await eventually(lambda: desk.hung_up)
            writer.close()
            desk.says = b"y" * UNREAD_MOST
            reader, writer = await called(path, LINE + b"1\n2\n3\n")
            await eventually(lambda: desk.hung_up == 2)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(UNREAD_MOST * 3)
            writer.close()

    monkeypatch.setattr(hook_socket, "INPUT_MOST", 65_536)
    run(check())
