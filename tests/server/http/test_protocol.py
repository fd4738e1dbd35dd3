"""Deadlines of a connection: what a client may leave us waiting for, as a stranger and as a friend."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.server.http.test_listen import AUTH, Served, answer, listening, request
from tests.virtual_time import MovableTimeLoop, time_passes
from trunkline.server import page
from trunkline.server.auth.tries import TRIES
from trunkline.server.http import protocol
from trunkline.server.http.connections import ConnectionPlace
from trunkline.server.http.exchange import Exchange
from trunkline.server.http.protocol import HubProtocol
from trunkline.server.http.ws_protocol import ROOMY_BYTES, QuietProtocol, RoomyProtocol
from trunkline.server.page import File

STRANGER = "Host: localhost\r\n"
FRIEND = f"Host: localhost\r\n{AUTH}"
LIMITS = ("HEAD_S", "BODY_S", "BODY_IDLE_S", "STALL_S", "KEEP_ALIVE_S", "STRANGER_IDLE_S", "CLOSE_S")
LONG_S = 60.0
SHORT_S = 0.15
BIG = 8 << 20


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """These deadlines are short, all others too long for any test."""
    for name in LIMITS:
        monkeypatch.setattr(protocol, name, SHORT_S if name in names else LONG_S)


def served(tmp_path: Path, work: Callable[[Served], Awaitable[None]], **options: object) -> None:
    """Run ``work`` against a served site."""
    async def check() -> None:
        async with listening(tmp_path, **options) as here:  # type: ignore[arg-type]
            await work(here)

    run(check(), loop=MovableTimeLoop)


async def ended(here: Served, said: bytes) -> bytes:
    """What is answered until the server ends the connection."""
    reader, writer = await here.connect()
    writer.write(said)
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def held_objects() -> int:
    """What there is of connections: nothing is collected meanwhile."""
    return sum(isinstance(each, (HubProtocol, Exchange, ConnectionPlace, QuietProtocol)) for each in gc.get_objects())


@pytest.mark.parametrize("said", [
    b"", b"GET /he", f"GET /healthz HTTP/1.1\r\n{STRANGER}\r\n".encode(), f"GET /sessions HTTP/1.1\r\n{FRIEND}\r\n".encode() * 3,
    f"POST /auth/login HTTP/1.1\r\n{STRANGER}Content-Length: 100\r\n\r\n{{".encode(),
    f"GET /ws HTTP/1.1\r\n{STRANGER}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {'A' * 22}==\r\n\r\n".encode(),
], ids=["silent", "half a head", "stranger", "friend", "half a body", "WebSocket"])
def test_a_connection_that_has_ended_leaves_nothing_to_collect(tmp_path: Path, said: bytes) -> None:
    async def work(here: Served) -> None:
        gc.collect()
        gc.disable()
        try:
            before = held_objects()
            for _ in range(3):
                reader, writer = await here.connect()
                writer.write(said)
                if said.endswith(b"\r\n\r\n"):
                    await reader.read(1)
                writer.close()
                await writer.wait_closed()
            await eventually(lambda: held_objects() <= before)
        finally:
            gc.enable()

    served(tmp_path, work)


@pytest.mark.parametrize("said", [b"", b"\r\n", b"GET /he"])
def test_a_head_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    only(monkeypatch, "HEAD_S")

    async def work(here: Served) -> None:
        assert await ended(here, said) == b""

    served(tmp_path, work)


@pytest.mark.parametrize("path", ["/auth/login", "/pair/claim"])
@pytest.mark.parametrize("length", ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
def test_a_strangers_body_has_a_deadline_and_it_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, length: str,
) -> None:
    only(monkeypatch, "BODY_S")

    async def work(here: Served) -> None:
        head, _, body = (await ended(here, f"POST {path} HTTP/1.1\r\n{STRANGER}{length}".encode())).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408") and json.loads(body)["code"] == "too_slow"

    served(tmp_path, work)


def test_a_stranger_that_sends_a_drop_now_and_then_is_not_waited_for_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "BODY_S")

    async def work(here: Served) -> None:
        reader, writer = await here.connect()
        writer.write(f"POST /auth/login HTTP/1.1\r\n{STRANGER}Content-Length: 10000\r\n\r\n".encode())
        reading = asyncio.ensure_future(reader.read())
        while not reading.done():
            writer.write(b" ")
            await asyncio.wait([reading], timeout=SHORT_S / 10)
        with suppress(ConnectionError):  # what it was still sending took the answer with it
            assert (await reading).startswith(b"HTTP/1.1 408")
        writer.close()

    served(tmp_path, work)


@pytest.mark.parametrize("said", ["GET /healthz HTTP/1.1\r\n{}Content-Length: 100\r\n\r\nx", "POST /nothing HTTP/1.1\r\n{}"
                                  "Content-Length: 100\r\n\r\nx"])
def test_who_was_answered_already_does_not_go_on_with_its_body_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str,
) -> None:
    only(monkeypatch, "BODY_S")
    monkeypatch.setattr("trunkline.server.http.listen.LINGER_S", 0.05)

    async def work(here: Served) -> None:
        found = await ended(here, said.format(STRANGER).encode())
        assert found.count(b"HTTP/1.1") == 1 and found.startswith((b"HTTP/1.1 200", b"HTTP/1.1 404"))

    served(tmp_path, work)


def test_a_friends_body_may_take_its_time_as_long_as_something_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "BODY_S")
    monkeypatch.setattr(protocol, "BODY_IDLE_S", 10 * SHORT_S)

    async def work(here: Served) -> None:
        body = b'{"agent":"demo","command":"ls"}'
        reader, writer = await here.connect()
        writer.write(f"POST /policy/explain HTTP/1.1\r\n{FRIEND}Content-Length: {len(body)}\r\n\r\n".encode())
        for at in range(0, len(body), 2):
            writer.write(body[at:at + 2])
            await time_passes(SHORT_S * 0.8)  # in all longer than both limits
        assert (await answer(reader))[0].startswith("HTTP/1.1 200")
        writer.close()

    served(tmp_path, work)


def test_a_friend_that_stops_in_the_middle_of_its_body_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "BODY_S", "BODY_IDLE_S")

    async def work(here: Served) -> None:
        said = f"POST /policy/explain HTTP/1.1\r\n{FRIEND}Content-Length: 9\r\n\r\n{{"
        assert (await ended(here, said.encode())).startswith(b"HTTP/1.1 408")

    served(tmp_path, work)


def test_a_wrong_token_makes_no_friend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "BODY_S")
    monkeypatch.setattr("trunkline.server.http.listen.LINGER_S", 0.05)

    async def work(here: Served) -> None:
        wrong = f"POST /sessions HTTP/1.1\r\n{STRANGER}Authorization: Bearer wrong\r\nContent-Length: 100\r\n\r\nx"
        assert (await ended(here, wrong.encode())).startswith(b"HTTP/1.1 401")

    served(tmp_path, work)


def test_a_connection_of_a_friend_is_a_strangers_for_a_request_without_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "BODY_S")

    async def work(here: Served) -> None:
        slow = f"POST /auth/login HTTP/1.1\r\n{STRANGER}Content-Length: 100\r\n\r\nx".encode()
        found = await ended(here, request("GET", "/sessions") + slow)
        assert found.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 408" in found

    served(tmp_path, work)


@pytest.mark.parametrize(("headers", "limit"), [(STRANGER, "STRANGER_IDLE_S"), (FRIEND, "KEEP_ALIVE_S")])
@pytest.mark.parametrize("after", [b"", b"\r\n"])
def test_an_idle_connection_has_a_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: str, limit: str, after: bytes,
) -> None:
    only(monkeypatch, limit)

    async def work(here: Served) -> None:
        path = "/sessions" if headers is FRIEND else "/healthz"
        reader, writer = await here.connect()
        writer.write(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
        assert (await answer(reader))[0].startswith("HTTP/1.1 200")
        writer.write(after)
        assert await reader.read() == b""
        writer.close()

    served(tmp_path, work)


def test_a_stranger_that_does_not_take_its_answer_is_dropped_and_a_friend_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "STALL_S", "STRANGER_IDLE_S")
    big = File(bytes(BIG), "application/octet-stream", "no-store", {})
    monkeypatch.setattr(page, "_files", lambda *_: {"assets/big.bin": big})
    turned, late = calls_of(monkeypatch, "_turned"), calls_of(monkeypatch, "_late")

    async def work(here: Served) -> None:
        (here.hub.folder / "big.bin").write_bytes(bytes(BIG))
        session = await here.hub.session()
        friend = await silent(here.port, f"GET /sessions/{session.id}/files/content?path=big.bin HTTP/1.1\r\n{FRIEND}"
                              "Connection: close\r\n\r\n")
        while not (await turned.get()).flow.write_paused:
            continue
        stranger = await silent(here.port, f"GET /assets/big.bin HTTP/1.1\r\n{STRANGER}\r\n")
        while (await late.get()).place.is_friend:  # it stalled first: if it were late too, then before the stranger
            continue
        assert await rest(stranger) < BIG
        assert await rest(friend) > BIG

    served(tmp_path, work)


def calls_of(monkeypatch: pytest.MonkeyPatch, name: str) -> asyncio.Queue[HubProtocol]:
    """The connections whose method of that name is called, in their order."""
    called: asyncio.Queue[HubProtocol] = asyncio.Queue()
    real = getattr(HubProtocol, name)

    def call(connection: HubProtocol) -> None:
        real(connection)
        called.put_nowait(connection)

    monkeypatch.setattr(HubProtocol, name, call)
    return called


async def silent(port: int, said: str) -> socket.socket:
    """A client that asks and does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", port))
    await loop.sock_sendall(connection, said.encode())
    return connection


async def rest(connection: socket.socket) -> int:
    """How much there is to read until the end."""
    size = 0
    try:
        async with asyncio.timeout(60):
            while data := await asyncio.get_running_loop().sock_recv(connection, 1 << 20):
                size += len(data)
    except ConnectionError:
        pass
    finally:
        connection.close()
    return size


def test_a_websocket_without_a_hello_is_a_strangers_and_may_say_nothing_long(tmp_path: Path) -> None:
    async def work(here: Served) -> None:
        reader, writer = await here.connect()
        writer.write(f"GET /ws HTTP/1.1\r\n{STRANGER}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        size = 100_000
        writer.write(b"\x81\xff" + size.to_bytes(8, "big") + b"\0\0\0\0")  # its length is enough
        assert (await reader.read())[2:4] == (1009).to_bytes(2, "big")
        writer.close()

    served(tmp_path, work)


def test_tries_are_counted_for_whom_a_configured_proxy_names(tmp_path: Path) -> None:
    async def guess(here: Served, client: str) -> int:
        said = '{"token":"no"}'
        forwarded = f"X-Forwarded-For: {client}\r\nConnection: close\r\nContent-Length: {len(said)}\r\n"
        return int((await ended(here, f"POST /auth/login HTTP/1.1\r\n{STRANGER}{forwarded}\r\n{said}".encode())).split()[1])

    async def behind(here: Served) -> None:
        assert [await guess(here, "203.0.113.1") for _ in range(TRIES + 1)] == [401] * TRIES + [429]
        assert await guess(here, "203.0.113.2") == 401

    async def alone(here: Served) -> None:
        assert [await guess(here, f"203.0.113.{number}") for number in range(TRIES + 1)] == [401] * TRIES + [429]

    served(tmp_path, behind, trusted_proxy=(ipaddress.ip_network("127.0.0.0/8"),))
    served(tmp_path, alone)


async def pass_on(turns: list[int]) -> None:
    """Count how often somebody else has a turn."""
    while True:
        turns[0] += 1
        await asyncio.sleep(0)


def test_very_small_chunks_are_parsed_in_turns_and_nothing_of_them_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "PARSED_S", 0.0)
    said = json.dumps({"token": "x" * 30_000}).encode()
    chunked = b"".join(b"1\r\n%c\r\n" % byte for byte in said) + b"0\r\n\r\n"
    before: list[int] = []
    turns = [0]
    receive = protocol.HubProtocol.data_received

    def received(self: protocol.HubProtocol, data: bytes) -> None:
        before.append(turns[0])
        receive(self, data)

    async def work(here: Served) -> None:
        reader, writer = await here.connect()
        passing = asyncio.create_task(pass_on(turns))
        monkeypatch.setattr(protocol.HubProtocol, "data_received", received)
        writer.write(f"POST /auth/login HTTP/1.1\r\n{STRANGER}Transfer-Encoding: chunked\r\n\r\n".encode() + chunked
                     + f"GET /healthz HTTP/1.1\r\n{STRANGER}\r\n".encode())
        head, body = await answer(reader)
        assert head.startswith("HTTP/1.1 401") and json.loads(body)["code"] == "unauthorized"
        assert (await answer(reader))[1] == b'{"status":"ok"}'
        passing.cancel()
        writer.close()
        assert turns[0] - before[0] >= len(chunked) // protocol.PARSED_BYTES

    served(tmp_path, work)


@pytest.mark.parametrize("large", [5_000, 300_000])
def test_what_comes_behind_a_large_body_is_answered_in_its_order(tmp_path: Path, large: int) -> None:
    async def work(here: Served) -> None:
        reader, writer = await here.connect()
        asks = [request("GET", "/healthz", headers=f"X-Long: {'x' * 3000}\r\n") for _ in range(8)]
        writer.write(request("POST", "/sessions/none/send-message", b" " * large) + b"".join(asks))
        assert (await answer(reader))[0].startswith("HTTP/1.1 4")
        for _ in asks:
            assert (await answer(reader))[1] == b'{"status":"ok"}'
        writer.close()

    served(tmp_path, work)


def test_a_message_on_acp_that_is_too_long_ends_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert RoomyProtocol.message_bytes == ROOMY_BYTES
    monkeypatch.setattr(RoomyProtocol, "message_bytes", 1000)

    async def work(here: Served) -> None:
        reader, writer = await here.connect()
        writer.write(f"GET /acp HTTP/1.1\r\n{FRIEND}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        said = b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}'
        writer.write(b"\x81\xfe" + (1000).to_bytes(2, "big") + b"\0\0\0\0" + said + b" " * (1000 - len(said)))
        assert b'"id":7' in await reader.readuntil(b'"id":7')
        writer.write(b"\x81\xfe" + (1001).to_bytes(2, "big") + b"\0\0\0\0")  # its length is enough
        assert (1009).to_bytes(2, "big") in await reader.read()
        writer.close()

    served(tmp_path, work)
