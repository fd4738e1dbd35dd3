"""A driver that tests play: it does what the test says and remembers what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process import Exit
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.commands import decode_command
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.signals import PermissionAsk, PermissionOption, Signal, TurnEnd, Update
from trunkline.errors import TrunklineError
from trunkline.feeds.session import TailBudget
from trunkline.journal.base import Journal, RowFilter, SessionRow
from trunkline.journal.committer import Committer
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.server.packets.frames import packet_of
from trunkline.session.driver.base import AgentSession, Started
from trunkline.session.fold import Fold
from trunkline.session.policy.file import PolicyBook
from trunkline.session.services import Limits, Services
from trunkline.session.session import Session

OPTIONS = (PermissionOption("yes", "Allow", "allow_once"), PermissionOption("forever", "Always", "allow_always"),
           PermissionOption("no", "Reject", "reject_once"))


class ScriptedDriver:
    """Implements ``Driver``; the test speaks for the agent through ``say``, ``end`` and ``die``."""

    modes_of_new: msgspec.Raw | None = None
    """What an agent says of its modes when it starts."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.told: list[tuple[Any, ...]] = []
        self.reasons: list[str | None] = []
        self.inputs: list[msgspec.Raw | None] = []
        self.refuses_to_start: TrunklineError | None = None
        self.how: Any = "new"
        self.paused = False

    async def start(self, previous: str | None, *, adopt: bool = False) -> Started:
        self.told.append(("adopt" if adopt else "start", previous))
        if self.refuses_to_start is not None:
            raise self.refuses_to_start
        await self._session.agent.spawned(1, 1, "marker")
        return Started(how=self.how, agent_session_id=previous or "agent-1", agent_info=None, capabilities=None,
                       modes=self.modes_of_new,
                       config_options=None)

    async def list_sessions(self, folders: Sequence[str] = ()) -> list[AgentSession]:
        return []

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        """Everything is fine."""

    def prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        self.told.append(("prompt", [bytes(block) for block in blocks]))

    def cancel(self) -> None:
        self.told.append(("cancel",))

    def cancel_late(self) -> None:
        self.told.append(("cancel_late",))

    def answer_permission(self, request_id: str, option_id: str | None, *, reason: str | None = None,
                          updated_input: msgspec.Raw | None = None) -> None:
        self.told.append(("permission", request_id, option_id))
        self.reasons.append(reason)
        self.inputs.append(updated_input)

    def refuse(self, request_id: str, reason: str) -> None:
        self.told.append(("refuse", request_id, reason))

    def answer_question(self, request_id: str, action: str, content: msgspec.Raw | None) -> None:
        self.told.append(("question", request_id, action, None if content is None else msgspec.json.decode(content)))

    async def set_mode(self, mode_id: str) -> None:
        self.told.append(("mode", mode_id))

    async def set_config(self, config_id: str, value: str | bool) -> msgspec.Raw | None:
        self.told.append(("config", config_id, value))
        return msgspec.Raw(b"[]")

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def look_again(self) -> None:
        self.told.append(("look_again",))

    async def stop(self, *, at_once: bool = False) -> None:
        self.told.append(("stop",))

    def say(self, *signals: Signal) -> None:
        self._session.agent.on_signals(list(signals))

    def end(self, stop: Any = "end_turn") -> None:
        self.say(TurnEnd(stop=stop))

    def ask(self, request_id: str = "req-1", **tool_call: Any) -> None:
        call = {"toolCallId": "call-1", "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}, **tool_call}
        self.say(PermissionAsk(request_id, msgspec.json.encode(call), OPTIONS))

    def die(self, code: int = 1, stderr: str = "boom") -> None:
        self._session.agent.exited(Exit(code=code), stderr)

    def known_call(self, what: str) -> list[tuple[Any, ...]]:
        return [each for each in self.told if each[0] == what]


class Stage:
    """A session with a scripted driver and a journal in memory."""

    def __init__(self, tmp_path: Path, *, limits: Limits | None = None, journal: Journal | None = None) -> None:
        self.journal = journal or MemoryJournal()
        self.drivers: list[ScriptedDriver] = []
        self.outcomes: list[str] = []
        self._ids = 0
        self._clock = 1_790_000_000_000_000
        self.committer = Committer(self.journal)
        self.services = Services(
            journal=self.journal, committer=self.committer, budget=TailBudget(), pids=PidFiles(None), clock=self._tick,
            new_id=self._new_id, limits=limits or Limits(), preview_url=lambda session_id, artifact: "/preview/key/",
            turn_ended=lambda outcome, fold: self.outcomes.append(outcome),
            policies=PolicyBook(None), chain_key=b"key", home="/home/ann")
        self.session = self.new(tmp_path)

    def new(self, folder: Path) -> Session:
        fold = Fold(session_id="ses-1", agent="scripted", cwd=str(folder), created_at=self._clock, updated_at=self._clock)
        return Session(fold, self.services, self._make_driver)

    @property
    def driver(self) -> ScriptedDriver:
        return self.drivers[-1]

    async def open(self) -> Session:
        await self.session.lifecycle.open(env={}, mode=None, title=None, by="test")
        return self.session

    async def send(self, text: str = "go", **how: Any) -> Any:
        return await self.session.turns.send([TextContent(text=text)], by="test", **how)

    async def packets(self, wanted: str | None = None, count: int = 1, *, after: int = 0) -> list[dict[str, Any]]:
        """All packets after a position, once ``count`` of type ``wanted`` are among them."""
        while True:
            entries = await self.session.feed.read(after=after)
            found = [msgspec.json.decode(packet) for entry in entries if (packet := packet_of(entry)) is not None]
            if wanted is None or sum(packet["type"] == wanted for packet in found) >= count:
                return found
            await self.session.feed.wait(self.session.feed.last_seq)

    async def until(self, true: Callable[[], bool]) -> None:
        """Let the loop run until something is so; the test's own deadline bounds it."""
        while not true():  # noqa: ASYNC110 - what is waited for is in the code under test, which has no event for it
            await asyncio.sleep(0)

    async def execute(self, command: str, command_id: str | None = None, by: str = "ann", **fields: Any) -> dict[str, Any]:
        """Carry out a command as clients write it."""
        read = decode_command(msgspec.json.encode({"command": command, **fields}))
        return (await self.session.execute(read, command_id=command_id, by=by)).result

    async def row(self) -> SessionRow:
        """The session's row as it is stored, once all that was written is."""
        await self.session.snapshot()
        return (await self.journal.rows(RowFilter(id="ses-1")))[0]

    async def types(self) -> list[str]:
        return [str(msgspec.json.decode(entry.event)["type"]) for entry in await self.session.feed.read(after=0)]

    async def events(self) -> list[Any]:
        return [decode_event(entry.event) for entry in await self.session.feed.read(after=0)]

    def _make_driver(self, session: Session) -> ScriptedDriver:
        self.drivers.append(ScriptedDriver(session))
        return self.drivers[-1]

    def _new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids}"

    def _tick(self) -> int:
        self._clock += 1000
        return self._clock


def text(words: str, kind: str = "agent_message_chunk", **more: Any) -> Update:
    """One chunk of text."""
    return update(sessionUpdate=kind, content={"type": "text", "text": words}, **more)


def update(**fields: Any) -> Update:
    """Any update."""
    return Update(msgspec.json.encode(fields))
