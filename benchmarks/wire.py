"""The smallest client that can drive a hub: one keep-alive connection for requests, raw sockets for streams."""

from __future__ import annotations

import http.client
import json
import socket
import time
from typing import Any

from benchmarks.machine import HubProcess


class Api:
    """JSON requests on one kept connection."""

    def __init__(self, hub: HubProcess) -> None:
        self._hub = hub
        self._connection = http.client.HTTPConnection(hub.host, hub.port, timeout=120)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request; anything but success is an error here."""
        headers = {"Authorization": f"Bearer {self._hub.token}", "Content-Type": "application/json",
                   "Accept": "application/json"}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self._connection.getresponse()
        raw = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status} {raw[:500]!r}")
        return json.loads(raw) if raw else None

    def new_session(self) -> str:
        """Start a session of the benchmark's agent."""
        session_id: str = self.call("POST", "/sessions", {"agent": "bench", "cwd": self._hub.work})["id"]
        return session_id

    def send(self, session_id: str, text: str) -> Any:
        """Send a prompt without a stream; returns the turn."""
        return self.call("POST", f"/sessions/{session_id}/send-message", {"content": text})

    def wait_idle(self, session_id: str, within_s: float = 120.0) -> dict[str, Any]:
        """The session once no turn runs."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            view: dict[str, Any] = self.call("GET", f"/sessions/{session_id}")
            if view["status"] == "idle":
                return view
            time.sleep(0.02)
        raise RuntimeError(f"session {session_id} is still {view['status']}")


def stream_request(hub: HubProcess, session_id: str, after: int) -> bytes:
    """The request that attaches to a session's packets."""
    return (f"GET /sessions/{session_id}/packets?after={after} HTTP/1.1\r\nHost: {hub.host}:{hub.port}\r\n"
            f"Authorization: Bearer {hub.token}\r\nAccept: text/event-stream\r\n\r\n").encode()


def prompt_request(hub: HubProcess, session_id: str, text: str) -> bytes:
    """The request that sends a prompt without a stream."""
    return _post(hub, f"/sessions/{session_id}/send-message", {"content": text})


def new_session_request(hub: HubProcess) -> bytes:
    """The request that starts a session of the benchmark's agent."""
    return _post(hub, "/sessions", {"agent": "bench", "cwd": hub.work})


def _post(hub: HubProcess, path: str, content: object) -> bytes:
    body = json.dumps(content)
    return (f"POST {path} HTTP/1.1\r\nHost: {hub.host}:{hub.port}\r\n"
            f"Authorization: Bearer {hub.token}\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
            f"{body}").encode()


def connect(hub: HubProcess) -> socket.socket:
    """A plain connection."""
    connection = socket.create_connection((hub.host, hub.port), timeout=120)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def open_stream(hub: HubProcess, session_id: str, after: int, *, receive_buffer: int | None = None) -> socket.socket:
    """A socket on which a session's packets arrive."""
    stream = socket.socket()
    if receive_buffer is not None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    stream.connect((hub.host, hub.port))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.sendall(stream_request(hub, session_id, after))
    stream.settimeout(120)
    return stream
