"""Connections of strangers: many at once, each with a few bytes, held open for as long as the server lets them."""

from __future__ import annotations

import resource
import socket
import threading
import time
from types import TracebackType
from typing import Self

CONNECT_S = 60.0
SPARE_FILES = 128


def room_for(count: int) -> int:
    """How many connections of ``count`` this process has descriptors for, after asking for as many as it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + SPARE_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(count, soft - SPARE_FILES)


class Strangers:
    """``count`` connections to one server, on each of which the same bytes are said, and nothing more."""

    def __init__(self, host: str, port: int, said: bytes, count: int) -> None:
        self._address = (host, port)
        self._said = said
        self._count = room_for(count)
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self._sockets.append(self._connect())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each in self._sockets:
            each.close()

    def __len__(self) -> int:
        return len(self._sockets)

    def held(self) -> int:
        """How many the server has not ended yet."""
        return sum(not _is_over(each) for each in self._sockets)

    def answers(self, last: bytes) -> list[bytes]:
        """Say the last bytes on all of them, then read what each is answered until the server ends it."""
        for each in self._sockets:
            each.settimeout(CONNECT_S)
            each.sendall(last)
        return [b"".join(iter(lambda each=each: each.recv(1 << 16), b"")) for each in self._sockets]  # type: ignore[misc]

    def come_again(self) -> int:
        """Connect anew in place of those that were ended; returns how many those were."""
        over = [at for at, each in enumerate(self._sockets) if _is_over(each)]
        for at in over:
            self._sockets[at].close()
            self._sockets[at] = self._connect()
        return len(over)

    def _connect(self) -> socket.socket:
        connection = socket.socket()
        connection.settimeout(CONNECT_S)
        try:
            connection.connect(self._address)
            connection.sendall(self._said)
        except (ConnectionError, TimeoutError):
            pass  # dropped already: that is what may happen to a stranger
        connection.setblocking(False)
        return connection


class Pest:
    """Strangers that come again and again, in a thread, until the block ends."""

    def __init__(self, strangers: Strangers) -> None:
        self._strangers = strangers
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.came_again = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join(CONNECT_S)

    def _run(self) -> None:
        while not self._over.is_set():
            self.came_again += self._strangers.come_again()


def talk(host: str, port: int, *pieces: bytes, within_s: float = 10.0) -> bytes:
    """Say something and return all that is answered until the server ends the connection, or nothing more comes in time."""
    answered = b""
    with socket.create_connection((host, port), timeout=within_s) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            until = time.monotonic() + within_s
            while data := _received(connection, until):
                answered += data
        except ConnectionError:
            pass
    return answered


def _received(connection: socket.socket, until: float) -> bytes:
    connection.settimeout(max(until - time.monotonic(), 0.001))
    try:
        return connection.recv(1 << 16)
    except TimeoutError:
        raise AssertionError("the server neither answered nor hung up") from None


def _is_over(connection: socket.socket) -> bool:
    try:
        while data := connection.recv(1 << 16):
            del data
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
