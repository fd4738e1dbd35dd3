"""Nothing in between: each agent's own pipe is what is read."""

from __future__ import annotations

import json
import subprocess
from types import TracebackType
from typing import Any

from benchmarks.relays.relay import Relay


class Bare(Relay):
    """Agents that are children of the reader."""

    name = "bare pipe"

    def __init__(self) -> None:
        super().__init__()
        self._agents: list[subprocess.Popen[bytes]] = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        for agent in self._agents:
            agent.kill()
        for agent in self._agents:
            agent.wait()
            for pipe in (agent.stdin, agent.stdout):
                if pipe is not None:
                    pipe.close()

    def add(self, count: int) -> None:
        for _ in range(count):
            agent = self.open_agent()
            self._agents.append(agent)
            assert agent.stdout is not None
            self.streams.append(agent.stdout.fileno())

    def open_agent(self) -> subprocess.Popen[bytes]:
        """An agent with a session: what any relay has to do to get one."""
        agent = subprocess.Popen([str(self.stub)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        ask(agent, 1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        ask(agent, 2, "session/new", {"cwd": "/", "mcpServers": []})
        return agent

    def prompt(self, index: int, text: str) -> None:
        send(self._agents[index], 3, "session/prompt", {"sessionId": "bench-1", "prompt": [{"type": "text", "text": text}]})


def send(agent: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> None:
    """One request."""
    assert agent.stdin is not None
    agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")


def ask(agent: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> None:
    """One request and its answer."""
    send(agent, number, method, params)
    assert agent.stdout is not None
    agent.stdout.readline()
