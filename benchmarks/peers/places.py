"""Where the peers are installed, and what starting any of them needs."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

INSTALLED = Path(__file__).parents[2] / ".bench" / "peers"
START_S = 30.0


def free_port() -> int:
    """A port that nobody uses at the moment: none of them can choose one by itself and tell it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def connect(port: int) -> socket.socket:
    """A plain connection."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def until(connection: socket.socket, mark: bytes) -> bytes:
    """Read until a mark has come."""
    seen = b""
    while mark not in seen:
        data = connection.recv(1 << 16)
        if not data:
            raise RuntimeError(f"the connection ended before {mark!r}: {seen[-500:]!r}")
        seen += data
    return seen


def first_answer_s(ask: Callable[[], object], since: float) -> float:
    """Seconds since a start until something answers."""
    while time.monotonic() - since < START_S:
        try:
            ask()
            return time.monotonic() - since
        except OSError:
            time.sleep(0.002)
    raise RuntimeError("it never answered")
