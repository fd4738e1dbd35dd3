"""A session of a program that somebody else runs, by a file that a test writes; and the program's end of a live line."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.aio import eventually, run
from trunkline.dialects.context.envelope import decode_event
from trunkline.hub import Decision, Hub, HubOptions
from trunkline.reach.lines.live import LiveLine
from trunkline.reach.sessions import TerminalSessions
from trunkline.session.driver.elsewhere import Answered, Decided

OWN = "01a1e4d7-2d1e-7cb1-84c4-54f2b21811b0"
AGENT = "codex-acp"


def stored(kind: str, /, **payload: Any) -> str:
    """A line of the session's file."""
    return json.dumps({"timestamp": "2026-11-18T00:00:00.000Z", "type": kind, "payload": payload}) + "\n"


def prompted(text: str) -> str:
    return stored("response_item", type="message", role="user", id=f"m-{text}", content=[{"type": "input_text", "text": text}])


def said(text: str, message_id: str) -> str:
    return stored("response_item", type="message", role="assistant", id=message_id,
                  content=[{"type": "output_text", "text": text}])


def called(command: str, call_id: str) -> str:
    return stored("response_item", type="function_call", name="exec_command", call_id=call_id,
                  arguments=json.dumps({"cmd": command}))


ENDED = stored("event_msg", type="task_complete")


class Elsewhere:
    """The program's end; what it was told."""

    def __init__(self) -> None:
        self.decisions: list[tuple[str, Decided]] = []
        self.answers: list[tuple[str, Answered]] = []
        self.prompts: list[tuple[str, str]] = []
        self.cancels = 0
        self.words = ""

    def decided(self, key: str, decided: Decided) -> str:
        self.decisions.append((key, decided))
        return self.words

    def answered(self, key: str, answered: Answered) -> None:
        self.answers.append((key, answered))

    def check_prompt(self, blocks: Sequence[msgspec.Raw]) -> None:
        pass

    def prompt(self, turn_id: str, blocks: Sequence[msgspec.Raw]) -> None:
        self.prompts.append((turn_id, "".join(json.loads(bytes(raw))["text"] for raw in blocks)))

    def cancel(self) -> None:
        self.cancels += 1


class Lined:
    """A followed session, and a line to its program."""

    def __init__(self, root: Path, hub: Hub) -> None:
        self.root = root
        self.hub = hub
        self.file = root / ".codex" / "sessions" / "2026" / "11" / "18" / f"rollout-2026-11-18T00-00-00-{OWN}.jsonl"
        self.program = Elsewhere()
        self.session: Any = None
        self.line: Any = None

    def writes(self, *lines: str) -> None:
        """The program writes its file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write("".join(lines))

    async def follows(self) -> None:
        """Follow it, without a line."""
        self.session = await TerminalSessions(self.hub, "line").find(self.hub.agents[AGENT], OWN)
        assert self.session is not None

    async def connects(self) -> None:
        """Open a line to it."""
        await self.follows()
        self.line = LiveLine(self.hub, self.session, self.program)

    async def has_read(self) -> None:
        """The file is read to its end, and what the line told is taken."""
        if self.line is not None:
            await self.line._at_rest.wait()
        await self.session.agent.caught_up()

    async def asked(self) -> Any:
        await eventually(self.hub.pending)
        (ask,) = self.hub.pending()
        return ask

    async def decide(self, **decision: Any) -> None:
        ask = await self.asked()
        await self.session.approvals.decide(ask.approval.request_id, Decision(**decision), by="somebody")

    async def events(self, kind: str = "") -> list[Any]:
        await self.session.snapshot()
        events = [decode_event(entry.event) for entry in await self.session.feed.read(after=0)]
        return [event for event in events if not kind or type(event).__name__ == kind]

    async def messages(self) -> list[tuple[str, str]]:
        """Who said what, to its end."""
        done = [*await self.events("MessageCompleteEvent")]
        return [(event.role, "".join(part.text for part in event.content)) for event in done]

    async def deltas(self) -> str:
        return "".join(event.delta for event in await self.events("MessageDeltaEvent") if event.role == "assistant")


@asynccontextmanager
async def lined(root: Path, **options: Any) -> AsyncIterator[Lined]:
    """A hub in this folder, once more where there was one."""
    data = root / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    async with Hub(HubOptions(data=data, **options), environ={"HOME": str(root), "PATH": os.defpath}) as hub:
        there = Lined(root, hub)
        if not there.file.exists():
            there.writes(stored("session_meta", id=OWN, cwd="/home/dev/project"), prompted("Please."))
        yield there
        if there.line is not None:
            await there.line.close()


def check(scenario: Callable[[Lined], Any], policy: str = "", **options: Any) -> None:
    """Run it with a line that is open."""
    async def within(root: Path) -> None:
        async with lined(root, **options) as there:
            await there.connects()
            await scenario(there)

    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        data_folder(Path(name), policy)
        run(within(Path(name)))


def data_folder(root: Path, policy: str = "") -> Path:
    """A data folder with these rules."""
    data = root / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    (data / "policy.toml").write_text(policy)
    return data
