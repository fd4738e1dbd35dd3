"""Programs that write what they do into one file and read what to do from another: every way in which that can go."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.aio import eventually, run
from trunkline.agents import catalog
from trunkline.dialects.context.envelope import decode_event
from trunkline.hub import Decision, Hub, HubOptions
from trunkline.reach.consent import LineConsent
from trunkline.reach.door import Door
from trunkline.reach.file_pairs import pairs_folder

OWN = "11111111-2222-4333-8444-555555555555"
DENY = '[[rules]]\ncommand = ["touch forbidden"]\nreason = "not that one"\naction = "deny"\n'


class Program:
    """A home with a session that runs, its pair of files, and a hub that may listen."""

    def __init__(self, root: Path, hub: Hub, data: Path) -> None:
        self.root = root
        self.hub = hub
        self.data = data
        self.folder = pairs_folder(data, "qwen")
        self.pair = self.folder / f"{os.getpid()}.abc"
        self.chat = root / ".qwen" / "projects" / "-home-dev-project" / "chats" / f"{OWN}.jsonl"
        self._number = 0

    def starts(self, shell: int | None = None) -> None:
        """The program is started by the shell's function."""
        self.pair = self.folder / f"{os.getpid() if shell is None else shell}.abc"
        self.pair.mkdir(mode=0o700, parents=True)
        (self.pair / "input.jsonl").touch()
        (self.pair / "events.jsonl").touch()
        self.tells({"type": "system", "subtype": "session_start", "data": {"cwd": "/home/dev/project"}})

    def stores(self, kind: str, *parts: Any, **more: Any) -> None:
        """A line of the session's own file."""
        self.chat.parent.mkdir(parents=True, exist_ok=True)
        self._number += 1
        line = {"uuid": f"u{self._number}", "sessionId": OWN, "type": kind, "timestamp": "2026-11-18T00:00:00.000Z",
                "cwd": "/home/dev/project", "message": {"parts": list(parts)}, **more}
        with self.chat.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def tells(self, *lines: Any) -> None:
        """Lines of the event file."""
        with (self.pair / "events.jsonl").open("a") as file:
            for line in lines:
                file.write(json.dumps({"session_id": OWN, **line}) + "\n")

    def streams(self, kind: str, **event: Any) -> None:
        self.tells({"type": "stream_event", "parent_tool_use_id": None, "event": {"type": kind, **event}})

    def is_prompted(self, text: str) -> None:
        self.stores("user", {"text": text})
        self.tells({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}})

    def asks(self, command: str, key: str = "k1") -> None:
        """It answers with a call, and asks about it."""
        given = {"command": command}
        self.stores("assistant", {"functionCall": {"id": f"call_{key}", "name": "run_shell_command", "args": given}})
        self.tells({"type": "control_request", "request_id": key, "session_id": "",
                    "request": {"subtype": "can_use_tool", "tool_name": "run_shell_command", "tool_use_id": f"call_{key}",
                                "input": given}})

    def ends(self, key: str, status: str) -> None:
        """The call has ended, by the session's own file."""
        answer = {"functionResponse": {"id": f"call_{key}", "name": "run_shell_command", "response": {"output": status}}}
        self.stores("tool_result", answer, toolCallResult={"callId": f"call_{key}", "status": status})

    def answers(self, key: str, allowed: bool) -> None:
        """Somebody answered, and the program says so."""
        self.tells({"type": "control_response", "session_id": "",
                    "response": {"subtype": "success", "request_id": key, "response": {"allowed": allowed}}})

    def was_told(self) -> list[Any]:
        """What stands in the file that the program reads."""
        return [json.loads(line) for line in (self.pair / "input.jsonl").read_text().splitlines()]

    async def pending(self) -> Any:
        await eventually(self.hub.pending)
        (ask,) = self.hub.pending()
        return ask

    async def decide(self, ask: Any, **decision: Any) -> None:
        session = await self.hub.session(ask.session_id)
        await session.approvals.decide(ask.approval.request_id, Decision(**decision), by="somebody")

    async def ended(self, ask: Any) -> Any:
        await eventually(lambda: not self.hub.pending())
        return (await self.events(ask.session_id, "ApprovalResolvedEvent"))[-1]

    async def events(self, session_id: str, kind: str) -> list[Any]:
        session = await self.hub.session(session_id)
        await session.snapshot()
        events = [decode_event(entry.event) for entry in await session.feed.read(after=0)]
        return [event for event in events if type(event).__name__ == kind]

    async def session(self) -> Any:
        """The session, once it has its line."""
        def joined() -> list[Any]:
            return [each for each in self.hub._memory if each.fold.agent_session_id == OWN and each.fold.line]

        await eventually(joined)
        return joined()[0]


@asynccontextmanager
async def program(policy: str = "", before: Callable[[Program], None] | None = None, **options: Any) -> AsyncIterator[Program]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        root, data = Path(name), Path(name, "data")
        data.mkdir(mode=0o700)
        (data / "policy.toml").write_text(policy)
        LineConsent(catalog.load()["qwen"], data).give()
        pairs_folder(data, "qwen").mkdir(parents=True)
        async with Hub(HubOptions(data=data, **options), environ={"HOME": name, "PATH": os.defpath}) as hub:
            there = Program(root, hub, data)
            if before is not None:
                before(there)
            door = Door(hub, data)
            await door.open()
            try:
                yield there
            finally:
                await door.close()


def check(scenario: Callable[[Program], Any], policy: str = "", before: Callable[[Program], None] | None = None,
          **options: Any) -> None:
    async def within() -> None:
        async with program(policy, before, **options) as there:
            await scenario(there)

    run(within())


def test_an_ask_joins_its_call_and_is_allowed_here() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        assert (ask.approval.tool_call_id, ask.approval.about.command) == ("call_k1", "touch a1")
        await there.decide(ask, decision="allow")
        await eventually(there.was_told)
        assert there.was_told() == [{"type": "confirmation_response", "request_id": "k1", "allowed": True}]
        assert (await there.ended(ask)).approved

    check(scenario)
