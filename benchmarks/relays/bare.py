"""Nothing in between: each agent's own pipe is what is read."""

from __future__ import annotations

import json
import subprocess
import time
from types import TracebackType

from benchmarks.relays.relay import Relay


class Bare(Relay):
    """Agents that are children of the reader."""

    name = "bare pipe"

    def __init__(self) -> None:
        super().__init__()
        self._agents: list[subprocess.Popen[bytes]] = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for agent in self._agents:
            end(agent)
        super().__exit__(kind, error, trace)

    def add(self, count: int) -> None:
        for _ in range(count):
            agent = self._open()
            self._agents.append(agent)
            assert agent.stdout is not None
            self.streams.append(agent.stdout.fileno())

    def send(self, index: int, text: str) -> None:
        write(self._agents[index], prompt(text))

    def create_s(self) -> float:
        begin = time.perf_counter()
        agent = self._open()
        took = time.perf_counter() - begin
        end(agent)
        return took

    def _open(self) -> subprocess.Popen[bytes]:
        agent = subprocess.Popen([str(self.stub)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert agent.stdout is not None
        for ask in (INITIALIZE, NEW_SESSION):
            write(agent, ask)
            agent.stdout.readline()
        return agent


def request(number: int, method: str, params: object) -> bytes:
    """One request of the protocol."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def prompt(text: str) -> bytes:
    """A prompt to the only session that an agent has."""
    return request(3, "session/prompt", {"sessionId": "bench-1", "prompt": [{"type": "text", "text": text}]})


INITIALIZE = request(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
NEW_SESSION = request(2, "session/new", {"cwd": "/", "mcpServers": []})


def write(agent: subprocess.Popen[bytes], message: bytes) -> None:
    """One line to an agent."""
    assert agent.stdin is not None
    agent.stdin.write(message + b"\n")


def end(agent: subprocess.Popen[bytes]) -> None:
    """Stop an agent and wait for it."""
    agent.kill()
    agent.wait()
    for pipe in (agent.stdin, agent.stdout):
        if pipe is not None:
            pipe.close()
