"""A WebSocket by hand (RFC 6455): the tests see the frames that any client would see, and decide when to read.

Rule 1: nothing here imports the project, nor the library that serves it.
Rule 2: every wait has a deadline.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from tests.tooling.wire import Broken

WAIT_S = 60.0
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    """The upgrade was answered with something else."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status}: {body[:300]!r}")
        self.status = status
        self.body = body


class Closed(Exception):
    """The other side closed the WebSocket."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code


class WebSocket:
    """One connection. Nothing is read until somebody asks for it."""

    def __init__(self, host: str, port: int, path: str = "/ws", headers: Mapping[str, str] | None = None, *,
                 wait_s: float = WAIT_S, receive_buffer: int | None = None) -> None:
        self._until = time.monotonic() + wait_s
        self._held = bytearray()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self._socket.connect((host, port))
            self._upgrade(f"{host}:{port}", path, headers or {})
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cut()

    def cut(self) -> None:
        """End the connection without a word."""
        self._socket.close()

    def allow(self, wait_s: float) -> None:
        """Give it this much time from now on."""
        self._until = time.monotonic() + wait_s

    def say(self, kind: str, **fields: Any) -> None:
        """Send a frame."""
        self.send(TEXT, json.dumps({"type": kind, **fields}).encode())

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one message, masked as a client must."""
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size) if size < 65536 \
            else b"\xff" + struct.pack("!Q", size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def hear(self) -> dict[str, Any]:
        """The next frame of the hub's; pings are answered on the way."""
        while True:
            opcode, payload = self._message()
            if opcode == TEXT:
                frame: dict[str, Any] = json.loads(payload)
                return frame
            if opcode == PING:
                self.send(PONG, payload)
            elif opcode == CLOSE:
                raise Closed(struct.unpack("!H", payload[:2])[0] if payload else 1005, payload[2:].decode())

    def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next frame of a type with these fields."""
        while True:
            frame = self.hear()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next event of a type with these fields."""
        while True:
            event: dict[str, Any] = self.until("event")["event"]
            if event["type"] == kind and all(event.get(name) == value for name, value in fields.items()):
                return event

    def hello(self, token: str | None) -> dict[str, Any]:
        """Say who we are; returns the hub's answer."""
        self.say("hello", versions=["1.0.0"], **({} if token is None else {"token": token}))
        return self.hear()

    def _upgrade(self, host: str, path: str, headers: Mapping[str, str]) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        given = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
                 "Sec-WebSocket-Version": "13", **headers}
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode("latin-1"))
        while b"\r\n\r\n" not in self._held:
            self._more()
        head, _, rest = bytes(self._held).partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        self._held = bytearray(rest)
        if status != 101:
            length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            raise Refused(status, self._take(length[0]) if length else b"")

    def _message(self) -> tuple[int, bytes]:
        opcode, payload, ended = 0, b"", False
        while not ended:
            first, second = self._take(2)
            ended, opcode = bool(first & 0x80), first & 0x0F or opcode
            assert not second & 0x80, "a server does not mask"
            assert not first & 0x70, "nothing is compressed"
            size = second & 0x7F
            if size == 126:
                size = struct.unpack("!H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._take(8))[0]
            payload += self._take(size)
        return opcode, payload

    def _take(self, size: int) -> bytes:
        while len(self._held) < size:
            self._more()
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def _more(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the frame did not come in time")
        self._socket.settimeout(left)
        data = self._socket.recv(1 << 18)
        if not data:
            raise Broken("the connection ended early")
        self._held += data
