"""The hub, read by its packets: one SSE stream per session, prompts on a kept connection of their own."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from benchmarks.machine import HubProcess
from benchmarks.relays.relay import Relay
from benchmarks.wire import Api, connect, new_session_request, open_stream, prompt_request

AT_ONCE = 4
"""Sessions that are made at the same time."""

KEPT_S = 2.0
"""A connection that was idle for longer is opened anew: while others have their turn, the hub closes it."""


class TheHub(Relay):
    """A hub with a data folder of its own."""

    name = "Trunkline"

    def __enter__(self) -> Self:
        self.hub = HubProcess(agent=str(self.stub)).__enter__()
        self.pid = self.hub.pid
        Api(self.hub).call("GET", "/healthz")
        self.start_s = time.monotonic() - self.hub.started_at
        self._prompts = connect(self.hub)
        self._used_at = time.monotonic()
        self._sessions: list[str] = []
        self._sockets: list[socket.socket] = []
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for stream in (self._prompts, *self._sockets):
            stream.close()
        self.hub.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)

    def add(self, count: int) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for part in pool.map(self._make, [count // AT_ONCE + (number < count % AT_ONCE) for number in range(AT_ONCE)]):
                self._sessions += part
        api = Api(self.hub)
        self.streams += [self._open(session, api) for session in self._sessions[-count:]]

    def add_reader(self) -> int | None:
        return self._open(self._sessions[0], Api(self.hub))

    def send(self, index: int, text: str) -> None:
        if time.monotonic() - self._used_at > KEPT_S:
            self._prompts.close()
            self._prompts = connect(self.hub)
        self._used_at = time.monotonic()
        self._prompts.sendall(prompt_request(self.hub, self._sessions[index], text))

    def taken(self, index: int) -> None:
        _until(self._prompts, b'"turnId"')

    def create_s(self) -> float:
        with connect(self.hub) as line:  # a connection that is there and a plain socket, as with every other relay
            begin = time.perf_counter()
            line.sendall(new_session_request(self.hub))
            _until(line, b'"id"')
            return time.perf_counter() - begin

    def _make(self, count: int) -> list[str]:
        api = Api(self.hub)
        return [api.new_session() for _ in range(count)]

    def _open(self, session: str, api: Api) -> int:
        stream = open_stream(self.hub, session, api.wait_idle(session)["lastSeq"])
        self._sockets.append(stream)
        return stream.fileno()


def _until(line: socket.socket, mark: bytes) -> None:
    """Read one answer, which has this in it."""
    answer = b""
    while mark not in answer or not answer.endswith(b"}"):
        data = line.recv(1 << 16)
        if not data:
            raise RuntimeError(f"the hub ended the connection: {answer!r}")
        answer += data
