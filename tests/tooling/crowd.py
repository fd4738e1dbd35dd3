"""Many clients that ask for the same at once, in a process of their own, each reading until it has seen what it came for.

    with Crowd(hub.wire, path, 250, until=b"id: 60000\\n") as crowd: ...
    crowd.done(60)
"""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

from tests.tooling.wire import Wire

KEPT = 4096
"""Bytes behind which what was come for is looked for: it may stand on both sides of a read."""


class Crowd:
    """``count`` clients who ask for ``path``; each is done when it has seen ``until``."""

    def __init__(self, wire: Wire, path: str, count: int, until: str, accept: str = "text/event-stream") -> None:
        self._said = {"host": wire.host, "port": wire.port, "token": wire.token, "path": path, "count": count, "until": until,
                      "accept": accept}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([sys.executable, "-m", "tests.tooling.crowd", json.dumps(self._said)],
                                         stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"asked\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def done(self, within_s: float) -> int:
        """How many have seen what they came for; waits for them."""
        try:
            out, _ = self._process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            return 0
        return int(json.loads(out)["done"])


def ask_all(host: str, port: int, token: str, path: str, count: int, until: str, accept: str) -> int:
    """Ask, and read until everybody is done or was cut off."""
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\r\n".encode()
    waiting = selectors.DefaultSelector()
    for _ in range(count):
        connection = socket.create_connection((host, port))
        connection.sendall(request)
        waiting.register(connection, selectors.EVENT_READ, bytearray())
    print("asked", flush=True)
    done, room = 0, bytearray(1 << 20)
    while waiting.get_map():
        for key, _ in waiting.select():
            is_over, has_seen = _heard(key, room, until.encode())
            if is_over:
                done += has_seen
                waiting.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
    return done


def _heard(key: selectors.SelectorKey, room: bytearray, until: bytes) -> tuple[bool, bool]:
    """Whether a client is done, and whether it has seen what it came for."""
    connection: Any = key.fileobj
    size = connection.recv_into(room)
    kept: bytearray = key.data
    kept += memoryview(room)[:size]
    if until in kept:
        return True, True
    del kept[:-KEPT]
    return size == 0, False


if __name__ == "__main__":
    began = time.monotonic()
    print(json.dumps({"done": ask_all(**json.loads(sys.argv[1])), "took_s": time.monotonic() - began}), flush=True)
