"""Sockets become requests: real connections, good ones and bad ones."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.site import TOKEN, Site, site
from trunkline.errors import StorageError
from trunkline.hub import Hub, Session
from trunkline.server.http import listen, protocol
from trunkline.server.http.listen import Tls, serve
from trunkline.server.http.protocol import PIPELINED

AUTH = f"Authorization: Bearer {TOKEN}\r\n"


class Served:
    """A site behind a real port."""

    def __init__(self, hub: Site, port: int, stop: asyncio.Event, server: asyncio.Task[None]) -> None:
        self.hub = hub
        self.port = port
        self.stop = stop
        self.server = server

    async def connect(self, **options: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A new connection."""
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22, **options)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """One request on a connection of its own."""
        reader, writer = await self.connect()
        writer.write(request(method, path, body, "Connection: close\r\n"))
        head, rest = await answer(reader)
        writer.close()
        await writer.wait_closed()
        return int(head.split()[1]), rest

    async def stream(self, session: Session, after: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A reader of a session's packets, behind the head of its answer."""
        reader, writer = await self.connect()
        writer.write(request("GET", f"/sessions/{session.id}/packets?after={after}"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        return reader, writer


def request(method: str, path: str, body: bytes = b"", headers: str = "") -> bytes:
    """A request as bytes."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{AUTH}{length}{headers}\r\n".encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """Head and body of an answer that has a length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
    return head, await reader.readexactly(length)


@asynccontextmanager
async def listening(folder: Path, *, tls: Tls | None = None, connections: int = 100, **options: Any) -> AsyncIterator[Served]:
    """A site that listens on a free port."""
    async with site(folder, **options) as hub:
        listener = socket.create_server(("127.0.0.1", 0))
        stop = asyncio.Event()
        server = asyncio.create_task(serve(hub.app, sockets=[listener], stop=stop, tls=tls, connections=connections))
        yield Served(hub, listener.getsockname()[1], stop, server)
        stop.set()
        await server


def test_a_request_is_answered_and_the_connection_kept_for_the_next(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            for _ in range(3):
                writer.write(request("GET", "/healthz"))
                head, body = await answer(reader)
                assert head.startswith("HTTP/1.1 200")
                assert json.loads(body) == {"status": "ok"}
                assert "server:" not in head.lower()
                assert "date:" not in head.lower()
            writer.close()

    run(check())


def test_head_and_empty_answers_keep_the_connection_in_step(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(request("HEAD", "/") + request("OPTIONS", "/sessions") + request("GET", "/healthz"))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")
            assert (await answer(reader))[1] == b'{"status":"ok"}'
            writer.close()

    run(check())


def test_a_stream_flows_over_a_socket_and_stopping_ends_it_properly(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            session = await here.hub.session()
            reader, writer = await here.stream(session, session.feed.last_seq)
            await here.hub.turn(session, "/echo over the wire")
            assert b"over the wire" in await reader.readuntil(b"prompt_response")
            here.stop.set()
            rest = await reader.read()
            assert rest.endswith(b"0\r\n\r\n")
            await here.server
            writer.close()

    run(check())


def test_a_reader_that_hangs_up_is_noticed(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path, keepalive_s=0.05) as here:
            session = await here.hub.session()
            reader, writer = await here.stream(session)
            await reader.readuntil(b"keepalive")
            assert len(here.hub.app.parts.streams) == 1
            writer.close()
            pumps = set(here.hub.app.parts.streams._pumps)
            await asyncio.wait(pumps)
            assert len(here.hub.app.parts.streams) == 0

    run(check())


def test_a_stalled_reader_delays_nobody_and_gets_everything_when_it_comes_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            session = await here.hub.session()
            small = socket.socket()
            small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            small.setblocking(False)
            await asyncio.get_running_loop().sock_connect(small, ("127.0.0.1", here.port))
            await asyncio.get_running_loop().sock_sendall(small, request("GET", f"/sessions/{session.id}/packets"))
            found = await here.hub.turn(session, "/burst 20000 100")
            assert sum(packet["type"] == "agent_message_chunk" for _, packet in found) == 20000
            seen = b""
            while b'"prompt_response"' not in seen[-2000:]:
                seen += await asyncio.get_running_loop().sock_recv(small, 1 << 16)
            assert seen.count(b'"type":"agent_message_chunk"') == 20000
            small.close()

    run(check(), 60)


def test_a_body_that_is_announced_as_too_large_is_refused_without_waiting_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listen, "LINGER_S", 0.2)

    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(f"POST /sessions HTTP/1.1\r\nHost: localhost\r\n{AUTH}Content-Length: 99999999\r\n\r\n{{".encode())
            head, body = await answer(reader)
            assert head.startswith("HTTP/1.1 413")
            assert json.loads(body)["code"] == "too_large"
            assert await reader.read() == b""
            writer.close()

    run(check())


def ask_simply(port: int, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """As most clients do: send everything, then read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/sessions", body, {"Host": "localhost", **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.mark.parametrize(("headers", "status"), [
    ({"Authorization": f"Bearer {TOKEN}"}, 413), ({"Authorization": f"Bearer {TOKEN}", "Connection": "close"}, 413),
    ({"Connection": "close"}, 401),
])
def test_a_client_that_reads_only_when_it_has_sent_all_gets_its_refusal(
    tmp_path: Path, headers: dict[str, str], status: int,
) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            for _ in range(3):
                found, body = await asyncio.to_thread(ask_simply, here.port, b"x" * (33 << 20), headers)
                assert found == status
                assert json.loads(body)["code"]

    run(check())


def test_a_body_without_end_is_not_listened_to_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "LINGER_S", 60.0)
    monkeypatch.setattr(listen, "LINGER_BYTES", 1 << 20)

    async def check() -> None:
        async with listening(tmp_path) as here:
            _, writer = await here.connect()
            writer.write(f"POST /sessions HTTP/1.1\r\nHost: localhost\r\n{AUTH}Content-Length: 99999999999\r\n\r\n".encode())
            with pytest.raises(ConnectionError):
                while True:
                    writer.write(b"x" * (1 << 20))
                    await writer.drain()
            writer.close()
            assert (await here.ask("GET", "/healthz"))[0] == 200

    run(check())


async def never_done(*_: object, **__: object) -> None:
    """A hub that is still at it when the server stops."""
    await asyncio.Event().wait()


async def fails_when_stopped(*_: object, **__: object) -> None:
    """The same, and what it does on its way out goes wrong."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise StorageError("the journal is closed") from None


@pytest.mark.parametrize("create", [never_done, fails_when_stopped])
def test_who_still_waits_when_the_server_stops_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, create: Callable[..., Awaitable[None]],
) -> None:
    began = asyncio.Event()

    async def begin(*_: object, **__: object) -> None:
        began.set()
        await create()

    monkeypatch.setattr(listen, "GRACE_S", 0.2)
    monkeypatch.setattr(Hub, "create", begin)

    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(request("POST", "/sessions", json.dumps({"agent": "demo", "cwd": str(tmp_path)}).encode()))
            await began.wait()
            here.stop.set()
            head, body = await answer(reader)
            assert head.startswith("HTTP/1.1 503")
            assert (json.loads(body)["code"], json.loads(body)["recoverable"]) == ("hub_stopping", True)
            writer.close()

    run(check())


def test_a_chunked_body_is_counted_too(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path, json_limit=1000) as here:
            reader, writer = await here.connect()
            writer.write(f"POST /sessions HTTP/1.1\r\nHost: localhost\r\n{AUTH}Transfer-Encoding: chunked\r\n\r\n".encode())
            for _ in range(3):
                writer.write(b"200\r\n" + b"x" * 0x200 + b"\r\n")
            assert (await answer(reader))[0].startswith("HTTP/1.1 413")
            writer.close()

    run(check())


@pytest.mark.parametrize("junk", [
    b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
])
def test_junk_is_answered_with_400_and_the_server_goes_on(tmp_path: Path, junk: bytes) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(junk)
            assert (await reader.read()).startswith(b"HTTP/1.1 400")
            writer.close()
            assert (await here.ask("GET", "/healthz"))[0] == 200

    run(check())


@pytest.mark.parametrize("piece", [b"X-Pad: " + b"x" * 1000 + b"\r\n", b"x" * 1000])
def test_a_head_without_end_is_cut_off(tmp_path: Path, piece: bytes) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Endless: ")
            with suppress(ConnectionError):
                for _ in range(1000):
                    writer.write(piece)
                    await writer.drain()
            with suppress(ConnectionError):
                assert (await reader.read()).startswith(b"HTTP/1.1 400")
            assert (await here.ask("GET", "/healthz"))[0] == 200
            writer.close()

    run(check())


def test_a_head_of_a_reasonable_size_passes_also_when_a_large_body_comes_with_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            body = json.dumps({"agent": "demo", "cwd": "/does/not/exist", "title": "x" * 200_000}).encode()
            for _ in range(2):
                writer.write(request("POST", "/sessions", body, "X-Pad: " + "y" * 20_000 + "\r\n"))
                assert (await answer(reader))[0].startswith("HTTP/1.1 400")
            writer.close()

    run(check())


@pytest.mark.parametrize("first", [b"", b"GET /hea", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea"])
def test_who_does_not_finish_asking_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.1)

    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(first)
            seen = await reader.read()
            assert seen.count(b"HTTP/1.1") == first.count(b"\r\n\r\n")
            writer.close()

    run(check())


def test_a_slow_answer_is_not_cut_by_the_deadline_for_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.05)

    async def check() -> None:
        async with listening(tmp_path, keepalive_s=0.04) as here:
            session = await here.hub.session()
            reader, writer = await here.stream(session)
            for _ in range(5):
                await reader.readuntil(b": keepalive")
            writer.close()

    run(check())


def test_more_friends_than_allowed_are_turned_away_and_welcome_again_later(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path, connections=3) as here:
            session = await here.hub.session()
            held = [await here.stream(session) for _ in range(3)]
            status, body = await here.ask("GET", "/sessions")
            assert (status, json.loads(body)["code"]) == (503, "unavailable")
            assert (await here.ask("GET", "/healthz"))[0] == 200  # who needs no token is answered
            for _, writer in held:
                writer.close()
                await writer.wait_closed()
            status = 503
            while status == 503:
                status, _ = await here.ask("GET", "/sessions")
            assert status == 200

    run(check())


def test_stopping_does_not_wait_for_a_reader_that_stalls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "GRACE_S", 0.2)

    async def check() -> None:
        async with listening(tmp_path) as here:
            session = await here.hub.session()
            _, writer = await here.connect()
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # asyncio's own transport has it
            writer.write(request("GET", f"/sessions/{session.id}/packets"))
            await here.hub.turn(session, "/burst 40000 200")
            here.stop.set()
            await here.server
            writer.close()

    run(check(), 60)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_a_refused_upgrade_is_answered_and_is_no_fault_of_the_hub(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with listening(tmp_path) as served:
            reader, writer = await served.connect()
            writer.write(request("GET", "/ws?token=x", headers="Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
            head, body = await answer(reader)
            assert head.startswith("HTTP/1.1 400") and b'"code":"invalid"' in body
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
        assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []

    run(check())


def test_it_speaks_tls(tmp_path: Path) -> None:
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem",
    ], cwd=tmp_path, check=True, capture_output=True)

    async def check() -> None:
        async with listening(tmp_path, tls=Tls(tmp_path / "cert.pem", tmp_path / "key.pem")) as here:
            trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
            reader, writer = await here.connect(ssl=trusting, server_hostname="localhost")
            writer.write(request("GET", "/healthz"))
            assert (await answer(reader))[0].startswith("HTTP/1.1 200")
            writer.close()
            await writer.wait_closed()

    run(check())


def test_requests_behind_one_another_are_bounded(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(request("GET", "/healthz") * 2 * PIPELINED)
            said = (await reader.read()).split(b"HTTP/1.1 ")[1:]
            assert [answer[:3] for answer in said] == [b"200"] * (PIPELINED + 1) + [b"400"], "in their order, and each once"
            assert b"connection: close" in said[-1]
            writer.close()

    run(check())


def test_what_is_no_request_is_refused_when_those_before_it_are_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(request("GET", "/healthz") * 3 + b"\x00nonsense\r\n\r\n" + request("GET", "/healthz"))
            said = (await reader.read()).split(b"HTTP/1.1 ")[1:]
            assert [answer[:3] for answer in said] == [b"200", b"200", b"200", b"400"]
            writer.close()

    run(check())


@pytest.mark.parametrize("piece", [b"1;" + b"x" * 1000 + b"\r\n{\r\n", b"X-Pad: " + b"x" * 1000 + b"\r\n"])
def test_what_stands_around_a_chunked_body_is_bounded(tmp_path: Path, piece: bytes) -> None:
    async def check() -> None:
        async with listening(tmp_path) as here:
            reader, writer = await here.connect()
            writer.write(b"POST /auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            if piece.startswith(b"X"):
                writer.write(b"1\r\n{\r\n0\r\n")
            with suppress(ConnectionError):
                for _ in range(1000):
                    writer.write(piece)
                    await writer.drain()
            with suppress(ConnectionError):
                assert (await reader.read()).startswith(b"HTTP/1.1 400")
            writer.close()

    run(check())
