"""Programs that write what they do into one file and read what to do from another: every way in which that can go."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.aio import eventually, run
from trunkline.agents import catalog
from trunkline.agents.process_table import start_time
from trunkline.dialects.acp.content import TextContent
from trunkline.dialects.context.envelope import decode_event
from trunkline.errors import Unsupported
from trunkline.hub import Decision, Hub, HubOptions
from trunkline.reach.door import Door
from trunkline.reach.lines import file_pairs, live
from trunkline.reach.lines.consent import LineConsent
from trunkline.reach.lines.file_pairs import LINE_MOST, PIECE, STOPPED, pairs_folder
from trunkline.reach.socket import SOCKET_FILE

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

    def registers(self, pid: int) -> None:
        """A program says that it has the session."""
        record = self.root / ".qwen" / "sessions" / f"{pid}.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"pid": pid, "sessionId": OWN, "procStart": f"boot:{start_time(pid)}"}))

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


def data_folder(root: str, policy: str) -> Path:
    data = Path(root, "data")
    data.mkdir(mode=0o700)
    (data / "policy.toml").write_text(policy)
    LineConsent(catalog.load()["qwen"], data).give()
    pairs_folder(data, "qwen").mkdir(parents=True)
    return data


@asynccontextmanager
async def program(policy: str = "", before: Callable[[Program], None] | None = None, **options: Any) -> AsyncIterator[Program]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        root, data = Path(name), data_folder(name, policy)
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


def test_a_denial_goes_out_and_its_reason_is_the_next_prompt() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        await there.decide(await there.pending(), decision="deny", reason="use b")
        await eventually(there.was_told)
        assert there.was_told() == [{"type": "confirmation_response", "request_id": "k1", "allowed": False}]
        there.ends("k1", "cancelled")
        await eventually(lambda: len(there.was_told()) == 2)
        assert there.was_told()[1] == {"type": "submit", "text": "That was not allowed: use b"}

    check(scenario)


def test_a_denial_without_a_reason_only_ends_the_turn() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        await there.decide(ask, decision="deny")
        there.ends("k1", "cancelled")
        session = await there.session()
        await eventually(lambda: session.fold.turn is None)
        assert [line["type"] for line in there.was_told()] == ["confirmation_response"]

    check(scenario)


def test_what_is_answered_in_the_terminal_is_taken_back_and_a_late_answer_does_nothing() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        there.answers("k1", True)
        end = await there.ended(ask)
        assert (end.approved, end.reason) == (True, "answered in the terminal: allowed")
        there.ends("k1", "success")
        there.asks("touch a2", "k2")
        ask = await there.pending()
        there.ends("k2", "cancelled")  # nothing else says that somebody pressed Escape
        end = await there.ended(ask)
        assert (end.approved, end.reason) == (False, "answered in the terminal: not allowed")
        there.asks("touch a3", "k3")
        ask = await there.pending()
        there.is_prompted("Something else.")
        end = await there.ended(ask)
        assert end.reason.startswith("answered in the terminal")
        assert not there.was_told()

    check(scenario)


def test_rules_that_deny_answer_at_once_and_rules_that_allow_only_where_that_is_wanted() -> None:
    allow = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'

    async def denied(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch forbidden")
        await eventually(there.was_told)
        assert there.was_told()[0]["allowed"] is False
        there.asks("touch a1", "k2")
        await there.pending()

    async def allowed(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        await eventually(there.was_told)
        assert there.was_told()[0]["allowed"] is True

    async def beside_another(there: Program) -> None:
        hook = {"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [{"type": "command", "command": "theirs"}]}]}}
        (there.root / ".qwen" / "settings.json").write_text(json.dumps(hook))
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        await there.pending()
        assert not there.was_told()

    check(denied, DENY + allow)
    check(allowed, allow, terminal_rules=True)
    check(beside_another, allow, terminal_rules=True, before=lambda there: (there.root / ".qwen").mkdir(exist_ok=True))


def test_a_prompt_is_typed_and_comes_back_by_the_file_and_no_interrupt_is_taken() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.stores("assistant", {"text": "Done."})
        session = await there.session()
        await eventually(lambda: session.fold.turn is None)
        accepted = await session.turns.send([TextContent(text="say\nhello")], by="somebody")
        await eventually(there.was_told)
        assert there.was_told() == [{"type": "submit", "text": "say\nhello"}]
        there.is_prompted("say\nhello")
        await eventually(lambda: session.fold.turn is not None)
        assert (session.fold.turn.turn_id, session.fold.turn.by) == (accepted.turn_id, "somebody")
        with pytest.raises(Unsupported, match="Escape"):
            await session.turns.cancel(by="somebody")
        assert not session.fold.turn.cancelled

    check(scenario)


def test_text_is_told_before_the_file_has_it_and_not_again() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        session = await there.session()
        there.streams("message_start", message={"id": "m1"})
        there.streams("content_block_start", content_block={"type": "text", "text": ""})
        there.streams("content_block_delta", delta={"type": "text_delta", "text": "Hello "})
        await eventually(lambda: session.fold.text is not None)
        there.streams("content_block_delta", delta={"type": "text_delta", "text": "there."})
        there.streams("message_stop")
        there.stores("assistant", {"text": "Hello there."})
        await eventually(lambda: session.fold.turn is None)
        said = await there.events(session.id, "MessageCompleteEvent")
        assert [event.content[0].text for event in said if event.role == "assistant"] == ["Hello there."]

    check(scenario)


def test_what_is_asked_when_the_hub_starts_is_asked_and_what_was_said_before_is_old() -> None:
    def before(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1", "k1")
        there.answers("k1", True)
        there.ends("k1", "success")
        there.streams("message_start", message={"id": "m1"})
        there.streams("content_block_start", content_block={"type": "text", "text": ""})
        there.streams("content_block_delta", delta={"type": "text_delta", "text": "Old."})
        there.streams("message_stop")
        there.stores("assistant", {"text": "Old."})
        there.asks("touch a2", "k2")

    async def scenario(there: Program) -> None:
        ask = await there.pending()
        assert ask.approval.about.command == "touch a2"
        said = await there.events(ask.session_id, "MessageCompleteEvent")
        assert [event.content[0].text for event in said if event.role == "assistant"] == ["Old."]
        await there.decide(ask, decision="allow")
        await eventually(there.was_told)
        assert there.was_told() == [{"type": "confirmation_response", "request_id": "k2", "allowed": True}]

    check(scenario, before=before)


def test_torn_lines_junk_and_lines_that_are_too_long_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "WRITTEN_S", 0.2)  # the call that it asks about is in no file

    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        ask = {"type": "control_request", "request_id": "k1", "request": {
            "subtype": "can_use_tool", "tool_name": "run_shell_command", "tool_use_id": "c", "input": {"command": "touch a1"}}}
        whole = json.dumps(ask).encode() + b"\n"
        with (there.pair / "events.jsonl").open("ab", buffering=0) as file:
            file.write(b"{\n[]\n\xff\xfe\nnull\n" + b"x" * (LINE_MOST + PIECE * 2) + b"\n" + whole[:40])
            await there.session()
            file.write(whole[40:])
        await there.decide(await there.pending(), decision="allow")
        await eventually(there.was_told)

    check(scenario)


def test_a_program_that_is_gone_takes_its_asks_and_its_files_with_it() -> None:
    shell = subprocess.Popen(["sleep", "600"])

    async def scenario(there: Program) -> None:
        there.starts(shell.pid)
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        session = await there.session()
        shell.kill()
        await asyncio.to_thread(shell.wait)
        end = await there.ended(ask)
        assert (end.approved, end.reason) == (False, "the program that asked has ended")
        await eventually(lambda: not session.fold.line and not there.pair.exists())

    check(scenario)


def test_another_program_with_the_same_session_does_not_take_the_line_along_when_it_ends() -> None:
    here = subprocess.Popen(["sleep", "600"])
    other = subprocess.Popen(["sleep", "600"])

    async def scenario(there: Program) -> None:
        there.registers(other.pid)
        there.starts(here.pid)
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        other.kill()
        await asyncio.to_thread(other.wait)
        await asyncio.sleep(file_pairs.LOOK_S * 2)  # it is looked at meanwhile
        await there.decide(ask, decision="allow")
        await eventually(there.was_told)
        assert there.pair.exists()

    try:
        check(scenario)
    finally:
        here.kill()
        here.wait()


def test_files_that_are_gone_end_the_line() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        for name in ("events.jsonl", "input.jsonl"):
            (there.pair / name).unlink()
        there.pair.rmdir()
        assert (await there.ended(ask)).reason == "the program that asked has ended"

    check(scenario)


def test_consent_that_is_taken_back_leaves_asks_to_the_terminal() -> None:
    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.asks("touch a1")
        ask = await there.pending()
        LineConsent(catalog.load()["qwen"], there.data).take_back()
        reader, writer = await asyncio.open_unix_connection(str(there.data / SOCKET_FILE))
        writer.write(b"trunkline 1 - lines 0 0\n")
        await reader.read()
        writer.close()
        assert (await there.ended(ask)).reason == STOPPED
        assert there.pair.exists() and not there.was_told()

    check(scenario)


def test_a_pipe_that_comes_in_the_place_of_the_input_file_is_told_nothing(tmp_path: Path) -> None:
    place = tmp_path / "input.jsonl"
    os.mkfifo(place)
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    file_pairs._append(place, b"yes")
    assert os.read(reader, 10) == b""
    os.close(reader)


def test_what_is_no_pair_is_left_alone() -> None:
    def before(there: Program) -> None:
        (there.folder / "1.half").mkdir()
        (there.folder / "1.half" / "events.jsonl").touch()
        (there.folder / "a file").write_text("x")
        (there.folder / "1.link").symlink_to(there.root)

    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        await there.session()
        assert {path.name for path in there.folder.iterdir()} == {"1.half", "a file", "1.link", there.pair.name}

    check(scenario, before=before)


def test_programs_beyond_the_bound_wait_until_another_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_pairs, "PAIRS_MOST", 1)

    def before(there: Program) -> None:
        idle = there.folder / f"{os.getpid()}.aaa"
        idle.mkdir()
        for name in ("events.jsonl", "input.jsonl"):
            (idle / name).touch()

    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        await asyncio.sleep(file_pairs.LOOK_S * 2)  # it is looked at, and not listened to
        assert not [each for each in there.hub._memory if each.fold.line]
        shutil.rmtree(there.folder / f"{os.getpid()}.aaa")
        await there.session()

    check(scenario, before=before)


def test_an_ask_whose_call_is_not_in_the_file_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "WRITTEN_S", 0.2)

    async def scenario(there: Program) -> None:
        there.starts()
        there.is_prompted("Please.")
        there.tells({"type": "control_request", "request_id": "k1", "request": {
            "subtype": "can_use_tool", "tool_name": "run_shell_command", "tool_use_id": "c", "input": {"command": "touch a1"}}})
        assert (await there.pending()).approval.about.command == "touch a1"

    check(scenario)
