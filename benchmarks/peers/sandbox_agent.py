"""sandbox-agent: JSON-RPC by POST, whose answer ends the turn, and everything that the agent says by SSE.

It has a fixed list of agents. The stub is put where it keeps the program of one of them, the one that is meant for tests.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.peers.places import INSTALLED, connect, first_answer_s, free_port, until
from benchmarks.relays.bare import INITIALIZE, NEW_SESSION, prompt
from benchmarks.relays.relay import SETTLE_S, Relay

SLOT = "mock"


class SandboxAgent(Relay):
    """A server with a data folder of its own."""

    name = "sandbox-agent 0.4.2"

    def __enter__(self) -> Self:
        self._port = free_port()
        self._streams: list[socket.socket] = []
        self._prompts: dict[int, socket.socket] = {}
        self._pending: set[int] = set()
        self._made = 0
        begin = time.monotonic()
        self._server = subprocess.Popen(
            [str(program()), "server", "--no-token", "--no-telemetry", "--port", str(self._port)],
            env=self._env(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self._server.pid
        self.start_s = first_answer_s(self._health, begin)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.kill()  # it would wait for its agents, which end when their pipes do
        self._server.wait()
        for connection in (*self._streams, *self._prompts.values()):
            connection.close()
        super().__exit__(kind, error, trace)

    def add(self, count: int) -> None:
        with connect(self._port) as line:
            for _ in range(count):
                self.streams.append(self._open(self._new(line)))

    def add_reader(self) -> int | None:
        return self._open(1)

    def send(self, index: int, text: str) -> None:
        if index not in self._prompts:
            self._prompts[index] = connect(self._port)
        self._prompts[index].sendall(post(index + 1, prompt(text)))
        self._pending.add(index)

    def settle(self, sessions: int) -> bool:
        ended = super().settle(sessions)
        for index in sorted(self._pending):
            self._prompts[index].settimeout(SETTLE_S)
            until(self._prompts[index], b"end_turn")
        self._pending.clear()
        return ended

    def create_s(self) -> float:
        with connect(self._port) as line:
            begin = time.perf_counter()
            self._new(line)
            return time.perf_counter() - begin

    def _new(self, line: socket.socket) -> int:
        self._made += 1
        line.sendall(post(self._made, INITIALIZE))
        until(line, b'"protocolVersion"')
        line.sendall(post(self._made, NEW_SESSION))
        until(line, b'"bench-1"')
        return self._made

    def _open(self, number: int) -> int:
        stream = connect(self._port)
        stream.sendall(b"GET /v1/acp/s%d HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n" % number)
        until(stream, b"\r\n\r\n")
        self._streams.append(stream)
        return stream.fileno()

    def _health(self) -> None:
        with connect(self._port) as line:
            line.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            until(line, b'"ok"')

    def _env(self) -> dict[str, str]:
        slot = self.folder / "data" / "sandbox-agent" / "bin" / "agent_processes"
        slot.mkdir(parents=True)
        (slot / f"{SLOT}-acp").hardlink_to(self.stub)
        return {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"),
                "SANDBOX_AGENT_REQUIRE_PREINSTALL": "1"}


def program() -> Path:
    """The program itself, without the script that looks for it."""
    [found] = (INSTALLED / "node_modules" / "@sandbox-agent").glob("cli-*/bin/sandbox-agent")
    if not os.access(found, os.X_OK):
        found.chmod(0o755)
    return found


def post(number: int, message: bytes) -> bytes:
    """One request to one of its servers of agents; the first one starts the agent."""
    return (b"POST /v1/acp/s%d?agent=%b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (number, SLOT.encode(), len(message), message))
