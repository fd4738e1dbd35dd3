"""A Claude driver with the fake CLI behind it, and somebody who writes down what it hears."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.aio import eventually, run
from tests.tooling import fake_claude
from tests.virtual_time import MovableTimeLoop
from trunkline.agents import catalog
from trunkline.agents.daemons import Daemon
from trunkline.agents.environment import clean_env
from trunkline.agents.process import Exit
from trunkline.dialects.signals import PermissionAsk, Signal, TurnEnd, Update
from trunkline.session.driver.stream_json.driver import StreamJsonDriver

Json = dict[str, Any]


class Ears:
    """Implements ``DriverSink``."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []
        self.exits: list[tuple[Exit, str]] = []
        self.pids: list[int] = []
        self._news = asyncio.Event()

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        self.pids.append(pid)

    def on_signals(self, signals: list[Signal]) -> None:
        self.signals += signals
        self._news.set()

    def text_run(self, update: bytes) -> None:
        """Nothing is taken here."""

    def exited(self, exit: Exit, stderr: str) -> None:
        self.exits.append((exit, stderr))
        self._news.set()

    async def until(self, kind: type[Signal], count: int = 1) -> Any:
        """The signal of that kind, once that many were heard."""
        def found() -> list[Signal]:
            return [signal for signal in self.signals if isinstance(signal, kind)]

        await self.hear(lambda: len(found()) >= count)
        return found()[count - 1]

    async def until_exit(self) -> tuple[Exit, str]:
        await self.hear(lambda: self.exits)
        return self.exits[0]

    async def hear(self, enough: Callable[[], object]) -> None:
        """Listen until it is enough."""
        while not enough():
            self._news.clear()
            await self._news.wait()

    def updates(self, kind: str) -> list[Json]:
        told = [msgspec.json.decode(signal.raw) for signal in self.signals if isinstance(signal, Update)]
        return [update for update in told if update["sessionUpdate"] == kind]

    async def until_text(self, wanted: str = "") -> str:
        """What was said, once that was."""
        await self.hear(lambda: self.text() and wanted in self.text())
        return self.text()

    def text(self) -> str:
        return "".join(update["content"]["text"] for update in self.updates("agent_message_chunk"))


class ClaudeStage:
    """One driver."""

    def __init__(self, folder: Path, *, mcp_servers: Sequence[Json] = (), history: dict[str, list[Signal]] | None = None,
                 fork: bool = False, is_known: bool = False, daemons: Sequence[Daemon] = (), **options: Any) -> None:
        self.folder = folder
        self.log_file = folder / "log.jsonl"
        self.ears = Ears()
        self.free: int | None = None
        self._ids = 0
        self._history = history or {}
        program = fake_program(folder, self.log_file, options)
        env = {"PATH": f"{program.parent}{os.pathsep}/usr/bin:/bin"}
        self.spec = msgspec.structs.replace(catalog.load()["claude-code"], daemons=tuple(daemons))
        self.driver = StreamJsonDriver(
            self.spec, cwd=str(folder), env=clean_env([], env), sink=self.ears, new_id=self._new_id,
            mcp_servers=[msgspec.Raw(msgspec.json.encode(server)) for server in mcp_servers],
            new_uuid=lambda: str(uuid.uuid4()), past=self, fork=fork, is_known=is_known,
            waits=lambda: any(isinstance(signal, PermissionAsk) for signal in self.ears.signals))

    def play(self, *steps: Sequence[Any]) -> None:
        """Send a prompt of these steps."""
        text = json.dumps(steps)
        self.driver.prompt([msgspec.Raw(msgspec.json.encode({"type": "text", "text": text}))])

    async def turn(self, *steps: Sequence[Any]) -> TurnEnd:
        """Play steps to their end."""
        before = sum(isinstance(signal, TurnEnd) for signal in self.ears.signals)
        self.play(*steps)
        end: TurnEnd = await self.ears.until(TurnEnd, before + 1)
        return end

    def log(self) -> list[Json]:
        """What the CLI read so far."""
        return [json.loads(line) for line in self.log_file.read_text().splitlines()] if self.log_file.exists() else []

    def argv(self, start: int = 0) -> list[str]:
        """The arguments of the CLI's first, second, … start."""
        words: list[str] = [entry["argv"] for entry in self.log() if "argv" in entry][start]
        return words

    def sent(self, kind: str) -> list[Json]:
        """Lines of that type, or control requests of that subtype, that the CLI read."""
        return [entry for entry in self.log() if kind in (entry.get("type"), entry.get("request", {}).get("subtype"))]

    async def until_sent(self, kind: str, count: int = 1) -> list[Json]:
        await eventually(lambda: len(self.sent(kind)) >= count)
        return self.sent(kind)

    async def has(self, session_id: str) -> bool:
        """Implements ``Past``."""
        return session_id in self._history

    async def free_bytes(self) -> int | None:
        """Implements ``Past``."""
        return self.free

    async def replay(self, session_id: str) -> AsyncIterator[list[Signal]]:
        """Implements ``Past``."""
        for signal in self._history.get(session_id, []):
            yield [signal]

    def _new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids}"


def fake_program(folder: Path, log_file: Path, options: Json) -> Path:
    """The fake CLI under the name of the real one."""
    settings = f"FAKE_CLAUDE_LOG={shlex.quote(str(log_file))} FAKE_CLAUDE_OPTIONS={shlex.quote(json.dumps(options))}"
    program = folder / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\n{settings} exec "{sys.executable}" -S "{fake_claude.__file__}" "$@"\n')
    program.chmod(0o755)
    return program


def played(stage: ClaudeStage, play: Coroutine[Any, Any, None]) -> None:
    """Run a play and end the CLI afterwards, whatever happened."""

    async def both() -> None:
        try:
            await play
        finally:
            await stage.driver.stop()

    run(both(), timeout_s=30, loop=MovableTimeLoop)
