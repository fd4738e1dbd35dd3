"""The door: connections are counted before they say a word, and none are accepted while descriptors are short."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.server.http.test_listen import answer, listening, request
from trunkline.server.http import door
from trunkline.server.http.connections import ConnectionPlace, Connections
from trunkline.server.http.door import Door
from trunkline.server.http.listen import Tls

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")


class Echo(asyncio.Protocol):
    """Says "here" and stays."""

    def __init__(self, place: ConnectionPlace) -> None:
        self._place = place

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is here."""
        assert isinstance(transport, asyncio.Transport)
        self._place.drop = transport.abort
        transport.write(b"here")

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody left."""
        self._place.leave()


class Listener(socket.socket):
    """A listening socket that cannot accept at first."""

    refusals = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """As the system does it when there are no descriptors left."""
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def opened(connections: Connections, files_most: int = 1 << 20) -> tuple[Door, Listener]:
    """A door that is open."""
    listener = Listener()
    listener.bind(("127.0.0.1", 0))
    made = Door(listener, connections, Echo, files_most=files_most)
    made.open(100)
    return made, listener


def certificate(folder: Path) -> Tls:
    """A certificate for localhost."""
    subprocess.run([
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem",
    ], cwd=folder, check=True, capture_output=True)
    return Tls(folder / "cert.pem", folder / "key.pem")


def test_without_descriptors_accepting_rests_and_then_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "REST_S", 0.05)

    async def check() -> None:
        connections = Connections(100)
        made, listener = opened(connections)
        listener.refusals = 3
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        assert await reader.readexactly(4) == b"here"
        assert listener.refusals == 0
        made.close()
        listener.close()
        writer.close()

    run(check())


def test_the_last_descriptors_are_not_for_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "REST_S", 0.05)

    async def check() -> None:
        connections = Connections(1_000)
        free = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]  # some that are higher are in use
        for each in free:
            os.close(each)
        made, listener = opened(connections, files_most=max(free))
        crowd = [await asyncio.open_connection(*listener.getsockname()) for _ in range(15)]
        assert await crowd[-1][0].readexactly(4) == b"here"
        assert connections.dropped > 0 and connections.strangers < 15
        made.close()
        listener.close()
        for _, writer in crowd:
            writer.close()

    run(check())


def test_nobody_is_dropped_while_there_is_room() -> None:
    async def check() -> None:
        connections = Connections(1_000)
        made, listener = opened(connections)
        crowd = [await asyncio.open_connection(*listener.getsockname()) for _ in range(100)]
        for reader, _ in crowd:
            assert await reader.readexactly(4) == b"here"
        assert (connections.strangers, connections.dropped) == (100, 0)
        made.close()
        listener.close()
        for _, writer in crowd:
            writer.close()

    run(check())


@needs_openssl
def test_a_handshake_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "HANDSHAKE_S", 0.2)

    async def check() -> None:
        async with listening(tmp_path, tls=certificate(tmp_path)) as here:
            reader, writer = await here.connect()
            assert await reader.read() == b""
            writer.close()

    run(check())


@needs_openssl
def test_who_does_not_begin_its_handshake_makes_room_for_who_does(tmp_path: Path) -> None:
    async def check() -> None:
        tls = certificate(tmp_path)
        async with listening(tmp_path, tls=tls, connections=40) as here:
            silent = [await here.connect() for _ in range(30)]
            trusting = ssl.create_default_context(cafile=str(tls.certificate))
            reader, writer = await here.connect(ssl=trusting, server_hostname="localhost")
            writer.write(request("GET", "/sessions"))
            assert (await answer(reader))[0].startswith("HTTP/1.1 200")
            assert await silent[0][0].read() == b""  # the first to come is the first to go
            for _, other in [*silent, (reader, writer)]:
                other.close()

    run(check())


def test_few_are_accepted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "AT_ONCE", 3)

    async def check() -> None:
        connections = Connections(100)
        made, listener = opened(connections)
        crowd = [socket.create_connection(listener.getsockname()) for _ in range(7)]  # the loop has no turn meanwhile
        counts = []
        for _ in range(3):
            made._ready()
            counts.append(connections.strangers)
        assert counts == [3, 6, 7]
        made.close()
        listener.close()
        for each in crowd:
            each.close()
        await made.wait_closed()

    run(check())
