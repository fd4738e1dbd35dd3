"""A program that uses the official client: agents are its children, and what they say reaches a callback of its own.

Runs in an environment that has only that client: ``python -m benchmarks.peers.sdk_client STUB``. Takes one JSON object per line
on stdin (``{"do": "grow" | "window" | "echo" | "create", …}``) and answers each with one line.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block

from benchmarks.relays.relay import LEAD_S, PHASES, TAIL_S, WARM_S


class Callbacks:
    """What the client calls: an update is a chunk with its stamp."""

    def __init__(self) -> None:
        self.arrivals: list[tuple[int, int]] = []
        self.came = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """A chunk has come."""
        now = time.monotonic_ns()
        stamp = int(update.content.text[1:20])
        self.arrivals.append((stamp, now - stamp))
        self.came.set()

    def on_connect(self, connection: Any) -> None:
        """The client tells who asks; nobody does here."""


class Program:
    """Its sessions, and what is asked of them."""

    def __init__(self, stub: str, stack: AsyncExitStack) -> None:
        self._stub = stub
        self._stack = stack
        self._callbacks = Callbacks()
        self._sessions: list[tuple[Any, str]] = []

    async def grow(self, sessions: int) -> dict[str, Any]:
        """Have so many sessions."""
        while len(self._sessions) < sessions:
            self._sessions.append(await self._open(self._stack))
        return {}

    async def create(self) -> dict[str, Any]:
        """How long a new session takes."""
        async with AsyncExitStack() as stack:
            begin = time.perf_counter()
            await self._open(stack)
            return {"took_s": time.perf_counter() - begin}

    async def echo(self) -> dict[str, Any]:
        """From a prompt to the first word of its answer."""
        self._callbacks.came.clear()
        begin = time.monotonic_ns()
        turn = asyncio.ensure_future(self._prompt(0, "echo"))
        await self._callbacks.came.wait()
        took = time.monotonic_ns() - begin
        await turn
        return {"took_s": took / 1e9}

    async def window(self, sessions: int, per_second: float, size: int, seconds: float) -> dict[str, Any]:
        """Let the first sessions write for a while."""
        gc.collect()
        gc.disable()
        chunks = int(per_second * (WARM_S + seconds + TAIL_S)) + 1
        self._callbacks.arrivals.clear()
        begin = time.monotonic_ns() + int((LEAD_S + 0.002 * sessions) * 1e9)
        starts = [begin + int(phase / per_second * 1e9) for phase in PHASES[:sessions]]
        turns = [asyncio.ensure_future(self._prompt(index, f"paced {chunks} {size} {per_second} {start}"))
                 for index, start in enumerate(starts)]
        await self._until(begin + int(WARM_S * 1e9))
        used, from_ns = time.process_time(), time.monotonic_ns()
        await self._until(begin + int((WARM_S + seconds) * 1e9))
        used, to_ns = time.process_time() - used, time.monotonic_ns()
        await asyncio.gather(*turns)
        gc.enable()
        took = sorted(took / 1e6 for stamp, took in self._callbacks.arrivals if from_ns <= stamp < to_ns) or [0.0]
        share = used / (to_ns - from_ns) * 1e9
        return {"p50_ms": took[len(took) // 2], "p99_ms": took[int(len(took) * 0.99)], "chunks": len(took),
                "lost": sessions * chunks - len(self._callbacks.arrivals), "cpu_us": used / len(took) * 1e6, "helpers_us": 0.0,
                "share": share, "waited": 0.0, "reader_share": share}

    async def _open(self, stack: AsyncExitStack) -> tuple[Any, str]:
        callbacks: Any = self._callbacks
        connection, _ = await stack.enter_async_context(spawn_agent_process(callbacks, self._stub))
        await connection.initialize(protocol_version=PROTOCOL_VERSION)
        session = await connection.new_session(cwd="/", mcp_servers=[])
        return connection, session.session_id

    async def _prompt(self, index: int, text: str) -> None:
        connection, session_id = self._sessions[index]
        await connection.prompt(session_id=session_id, prompt=[text_block(text)])

    async def _until(self, deadline_ns: int) -> None:
        await asyncio.sleep(max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9))


async def main() -> None:
    """Answer until stdin ends."""
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        program = Program(sys.argv[1], stack)
        print("{}", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            asked = json.loads(line)
            print(json.dumps(await getattr(program, asked.pop("do"))(**asked)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
