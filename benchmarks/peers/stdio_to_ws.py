"""stdio-to-ws: an agent per WebSocket, its lines as messages. Who connects starts an agent, so nobody else can read it."""

from __future__ import annotations

import socket
import subprocess
import time
from types import TracebackType
from typing import Self

from benchmarks.peers.places import INSTALLED, connect, first_answer_s, free_port, until
from benchmarks.relays.bare import INITIALIZE, NEW_SESSION, prompt
from benchmarks.relays.relay import Relay

UPGRADE = (b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n\r\n")


class StdioToWs(Relay):
    """One process for all sessions; what it prints of each message goes nowhere."""

    name = "stdio-to-ws 0.2.0"

    def __enter__(self) -> Self:
        self._port = free_port()
        self._sockets: list[socket.socket] = []
        main = INSTALLED / "node_modules" / "stdio-to-ws" / "dist" / "main.js"
        begin = time.monotonic()
        self._server = subprocess.Popen(["node", str(main), "--quiet", "--port", str(self._port), str(self.stub)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.pid = self._server.pid
        self.start_s = first_answer_s(lambda: connect(self._port).close(), begin)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for connection in self._sockets:
            connection.close()
        self._server.kill()
        self._server.wait()
        super().__exit__(kind, error, trace)

    def add(self, count: int) -> None:
        for _ in range(count):
            connection = self._open()
            self._sockets.append(connection)
            self.streams.append(connection.fileno())

    def send(self, index: int, text: str) -> None:
        self._sockets[index].sendall(message(prompt(text)))

    def create_s(self) -> float:
        begin = time.perf_counter()
        connection = self._open()
        took = time.perf_counter() - begin
        connection.close()
        return took

    def _open(self) -> socket.socket:
        connection = connect(self._port)
        connection.sendall(UPGRADE)
        until(connection, b"\r\n\r\n")
        connection.sendall(message(INITIALIZE))
        until(connection, b'"protocolVersion"')
        connection.sendall(message(NEW_SESSION))
        until(connection, b'"bench-1"')
        return connection


def message(text: bytes) -> bytes:
    """One WebSocket message of a client. Its mask is zero, so that it reads as it is."""
    size = len(text)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return b"\x81" + length + b"\0\0\0\0" + text
