"""Clients that follow a session over one face and throw away what they are told: readers that keep up.

    with following("packets", session) as drain: ...
    drain.size
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.tooling.hub_process import Session
from tests.tooling.websocket import TEXT, WebSocket

FACES = ("packets", "events", "ws", "acp")


class Drain:
    """Reads a socket to nowhere, in a thread of its own."""

    def __init__(self, connection: socket.socket) -> None:
        self.size = 0
        self._connection = connection
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._connection.settimeout(None)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()

    def _read(self) -> None:
        room = bytearray(1 << 20)
        with suppress(OSError):
            while size := self._connection.recv_into(room):
                self.size += size


def following(face: str, session: Session) -> Drain:
    """Somebody who follows the session from now on."""
    after = session.view()["lastSeq"]
    if face in ("packets", "events"):
        return Drain(_asked(session, f"{session.path}/{face}?after={after}"))
    wire = session.wire
    link = WebSocket(wire.host, wire.port, f"/{face}", {"Authorization": f"Bearer {session.hub.token}"})
    if face == "ws":
        assert link.hello(None)["type"] == "welcome"
        link.say("subscribe", id="all", sessions=[session.id], after=after)
        link.until("ack", id="all")
    else:
        _ask(link, 1, "initialize", protocolVersion=1, clientCapabilities={})
        _ask(link, 2, "session/resume", sessionId=session.id, cwd=str(session.folder), mcpServers=[])
    return Drain(link._socket)


def _asked(session: Session, path: str) -> socket.socket:
    connection = socket.create_connection((session.wire.host, session.wire.port))
    host = f"{session.wire.host}:{session.wire.port}"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {session.hub.token}\r\n"
                       "Accept: text/event-stream\r\n\r\n".encode())
    assert connection.recv(15).startswith(b"HTTP/1.1 200")
    return connection


def _ask(link: WebSocket, number: int, method: str, **params: object) -> None:
    link.send(TEXT, json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
    while (heard := link.hear()).get("id") != number:
        pass
    assert "error" not in heard, heard
