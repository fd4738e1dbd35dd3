"""An agent's end of the wire in tests: a process that only notes what is written to it, and the lines that the agent writes."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from trunkline.agents.catalog import adhoc
from trunkline.agents.process import AgentProcess
from trunkline.session.driver.acp.connection import AgentConnection

PIPE_BYTES = 1 << 20
"""As much comes at once."""


class NotedProcess:
    """Stands for the agent's process."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.is_reading = True
        self.drained = 0
        self.wrote = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.written += [json.loads(line) for line in data.splitlines()]
        self.wrote.set()

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def stderr_tail(self, lines: int) -> str:
        return "out of paper"

    async def drain(self) -> None:
        self.drained += 1


class Wire:
    """A connection to an agent that is no process."""

    def __init__(self) -> None:
        self.spec = adhoc("quiet", "quiet")
        self.process = NotedProcess()
        self.messages: list[Any] = []
        self.has_read = asyncio.Event()
        self.connection = AgentConnection(self.spec, self._read)
        self.connection.process = cast("AgentProcess", self.process)

    def write(self, **message: Any) -> list[Any]:
        """The agent writes a message; what of it was read."""
        self.messages.clear()
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        for begin in range(0, len(line), PIPE_BYTES):
            self.connection.receive_data(line[begin:begin + PIPE_BYTES])
        return list(self.messages)

    def _read(self, data: bytes) -> None:
        self.messages += self.connection.peer.messages_received()
        self.has_read.set()
