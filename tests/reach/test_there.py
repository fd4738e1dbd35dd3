"""Asks that only their terminals can answer: denied by rule before, watched while they wait, ended when their program goes on."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import POLL_S, eventually, run
from tests.dialects.gemini.test_hooks import screen
from tests.reach.test_desk import ALLOW, DENY, data_folder
from tests.tooling.stores import gemini
from tests.tooling.tmux import Terminal as Pane
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.elsewhere.hooks import HookCall
from trunkline.dialects.gemini.hooks import HOOKS
from trunkline.errors import Unsupported
from trunkline.hub import Decision, Hub, HubOptions
from trunkline.reach import there as hooks_there
from trunkline.reach.desk import TerminalDesk
from trunkline.reach.door import Door
from trunkline.reach.ending import Program
from trunkline.reach.socket import SOCKET_FILE
from trunkline.reach.there import CHECKED_BYTES, CHECKED_MOST, READ_MOST, SESSIONS_MOST, AsksThere
from trunkline.session.driver.elsewhere import ASK_S
from trunkline.threads import Lane


class There:
    """A home with a session of a program whose hooks cannot wait, and a hub that listens."""

    def __init__(self, root: Path, hub: Hub, data: Path, session_id: str, file: Path) -> None:
        self.root = root
        self.hub = hub
        self.data = data
        self.session_id = session_id
        self.file = file
        self.pid = os.getpid()
        self.door: Any = None

    @property
    def desk(self) -> TerminalDesk:
        """What serves the hooks."""
        desk = self.door._desk
        assert isinstance(desk, TerminalDesk)
        return desk

    async def hook(self, kind: str, event: str, **given: Any) -> Any:
        """One call of the hook to its end: what it prints, None where it has no opinion."""
        body = json.dumps({"session_id": self.session_id, "cwd": "/home/dev/project", "hook_event_name": event, **given}).encode()
        reader, writer = await asyncio.open_unix_connection(str(self.data / SOCKET_FILE))
        writer.write(f"trunkline 1 gemini {kind} {self.pid} {len(body)}\n".encode() + body)
        got = await reader.read()
        writer.close()
        return json.loads(got.partition(b"\n")[2]) if got else None

    async def checks(self, command: str) -> Any:
        given = {"command": command, "dir_path": "."}
        return await self.hook("check", "BeforeTool", tool_name="run_shell_command", tool_input=given)

    async def asks(self, command: str) -> None:
        details = {"type": "exec", "title": "Confirm Shell Command", "command": command, "rootCommand": command.split()[0]}
        asked = {"notification_type": "ToolPermission", "message": "Tool Confirm Shell Command requires execution"}
        assert await self.hook("report", "Notification", details=details, **asked) is None

    async def ran(self, command: str) -> None:
        given = {"command": command, "dir_path": "."}
        await self.hook("report", "AfterTool", tool_name="run_shell_command", tool_input=given, tool_response={})

    async def pending(self) -> Any:
        await eventually(self.hub.pending)
        (ask,) = self.hub.pending()
        return ask

    def waiting(self) -> list[Any]:
        return [ask.approval for ask in self.hub.pending()]

    async def decide(self, ask: Any, **decision: Any) -> None:
        session = await self.hub.session(ask.session_id)
        await session.approvals.decide(ask.approval.request_id, Decision(**decision), by="somebody")

    async def events(self, session_id: str, name: str) -> list[Any]:
        session = await self.hub.session(session_id)
        await session.snapshot()
        read = [decode_event(entry.event) for entry in await session.feed.read(after=0)]
        return [event for event in read if type(event).__name__ == name]

    async def told(self, session_id: str, name: str) -> Any:
        """The one event of that name, as soon as it is stored; the test's deadline bounds it."""
        while not (found := await self.events(session_id, name)):  # noqa: ASYNC110 - no event of ours tells of it
            await asyncio.sleep(POLL_S)
        (told,) = found
        return told

    async def end(self, session_id: str) -> Any:
        await eventually(lambda: not self.hub.pending())
        return (await self.events(session_id, "ApprovalResolvedEvent"))[-1]


@asynccontextmanager
async def there(policy: str = "", **options: Any) -> AsyncIterator[There]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        data, made = data_folder(name, policy), gemini(Path(name))
        async with Hub(HubOptions(data=data, **options), environ={"HOME": name, "PATH": os.defpath}) as hub:
            door = Door(hub, data)
            await door.open()
            try:
                one = There(Path(name), hub, data, made.session_id, made.file)
                one.door = door
                yield one
            finally:
                await door.close()


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub on a busy machine takes its time; only who wants to see it give up does not wait for it."""
    if "has_no_answer" not in request.node.name:
        monkeypatch.setattr(hooks_there, "CHECK_S", 30.0)


def check(scenario: Callable[[There], Any], policy: str = "", **options: Any) -> None:
    async def within() -> None:
        async with there(policy, **options) as somebody:
            await scenario(somebody)

    run(within())


def test_a_rule_that_denies_answers_the_check_and_is_written_down() -> None:
    async def scenario(there: There) -> None:
        denied = await there.checks("touch forbidden")
        assert denied["decision"] == "deny" and "not that one" in denied["reason"]
        (session,) = there.hub._memory
        (end,) = await there.events(session.id, "ApprovalResolvedEvent")
        assert (end.approved, end.resolved_by) == (False, "policy")
        assert await there.checks("touch a1") is None and not there.hub.pending()
        assert len(await there.events(session.id, "ApprovalRequestedEvent")) == 1, "what no rule denies is not asked here"

    check(scenario, DENY + ALLOW, terminal_rules=True)


def test_a_check_of_a_session_that_nobody_knows_has_no_answer() -> None:
    async def scenario(there: There) -> None:
        there.session_id = "00000000-0000-4000-8000-000000000000"
        assert await there.checks("touch forbidden") is None

    check(scenario, DENY)


def test_a_prompt_is_shown_and_cannot_be_answered_here() -> None:
    async def scenario(there: There) -> None:
        await there.checks("touch a1")
        await there.asks("touch a1")
        ask = await there.pending()
        assert (ask.approval.answer_there, ask.approval.options, ask.approval.about.command) == (True, [], "touch a1")
        assert json.loads(bytes(ask.approval.tool_input)) == {"command": "touch a1", "dir_path": "."}, "the check had all of it"
        for decision in ("allow", "deny"):
            with pytest.raises(Unsupported, match="in the terminal"):
                await there.decide(ask, decision=decision)
        asked = await there.told(ask.session_id, "ApprovalRequestedEvent")
        assert asked.meta["answerThere"] is True
        await there.ran("touch a1")
        end = await there.end(ask.session_id)
        assert (end.approved, end.reason, end.meta["by"]) == (True, "answered in the terminal: allowed", "terminal")

    check(scenario)


def test_a_prompt_waits_for_its_person_however_soon_its_hook_has_to_end() -> None:
    async def scenario(there: There) -> None:
        await there.asks("touch a1")
        ask = await there.pending()
        assert (await there.hub.session(ask.session_id)).fold.waits.approval_s == ASK_S

    check(scenario)


@pytest.mark.parametrize("event", ["AfterAgent", "BeforeAgent", "SessionEnd"])
def test_work_that_went_on_ends_it(event: str) -> None:
    async def scenario(there: There) -> None:
        await there.asks("touch a1")
        ask = await there.pending()
        await there.hook("report", event)
        end = await there.end(ask.session_id)
        assert (end.approved, end.reason) == (False, "answered in the terminal")

    check(scenario)


@pytest.mark.parametrize(("status", "approved", "reason"), [
    ("cancelled", False, "answered in the terminal"), ("success", True, "answered in the terminal: allowed")])
def test_a_call_that_its_file_tells_of_ends_it_where_no_hook_does(status: str, approved: bool, reason: str) -> None:
    async def scenario(there: There) -> None:
        await there.asks("touch never")
        ask = await there.pending()
        call = {"id": "c9", "name": "run_shell_command", "args": {"command": "touch never"}, "status": status, "result": [],
                "timestamp": "2026-11-18T06:54:13.175Z"}
        record = {"id": "r9", "timestamp": "2026-11-18T06:54:10.372Z", "type": "gemini", "content": "", "toolCalls": [call]}
        with there.file.open("a") as file:
            file.write(json.dumps(record) + "\n")
        end = await there.end(ask.session_id)
        assert (end.approved, end.reason) == (approved, reason)

    check(scenario)


def test_the_next_prompt_and_another_tool_end_the_one_before() -> None:
    async def scenario(there: There) -> None:
        await there.asks("touch a1")
        first = await there.pending()
        await there.asks("touch a2")
        await eventually(lambda: there.waiting() and there.waiting()[0].request_id != first.approval.request_id)
        second = await there.pending()
        assert second.approval.about.command == "touch a2"
        await there.ran("touch other")
        assert (await there.end(second.session_id)).reason == "answered in the terminal"

    check(scenario)


def test_a_program_that_is_gone_takes_its_prompt_along() -> None:
    async def scenario(there: There) -> None:
        there.pid = 2**22 + 12345
        await there.asks("touch a1")
        await eventually(lambda: there.hub._memory)
        (session,) = there.hub._memory
        await eventually(lambda: session.fold.decided)
        assert (await there.end(session.id)).reason == "the program that asked has ended"

    check(scenario)


def test_a_deny_rule_that_comes_later_does_not_answer_for_the_terminal() -> None:
    async def scenario(there: There) -> None:
        await there.asks("touch forbidden")
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        (there.data / "policy.toml").write_text(DENY)
        there.hub.policies.refresh()
        session.rules.on_change()
        assert session.fold.approvals

    check(scenario)


def test_a_call_of_another_kind_is_no_answer() -> None:
    async def scenario(there: There) -> None:
        given = {"tool_name": "run_shell_command", "tool_input": {"command": "touch forbidden"}}
        assert await there.hook("ask", "BeforeTool", **given) is None
        assert await there.hook("report", "BeforeTool", **given) is None
        assert await there.hook("check", "AfterTool", **given) is None

    check(scenario, DENY)


def test_what_is_kept_of_checks_is_bounded() -> None:
    async def scenario(there: There) -> None:
        kept = AsksThere(there.hub, nobody, lambda spec, pid: Program(pid, lambda: None, Lane()), Lane())
        call = HookCall(does="checks", session_id="s", cwd="/", tool="x")
        for number in range(SESSIONS_MOST + 5):
            for _ in range(CHECKED_MOST + 3):
                kept._keep(("gemini", str(number)), call, 10)
        assert len(kept._checked) == SESSIONS_MOST and {len(calls) for calls in kept._checked.values()} == {CHECKED_MOST}
        kept._keep(("gemini", "huge"), call, CHECKED_BYTES + 1)
        assert ("gemini", "huge") not in kept._checked and kept._checked_bytes == SESSIONS_MOST * CHECKED_MOST * 10
        for number in range(5):
            kept._keep(("gemini", f"long{number}"), call, CHECKED_BYTES // 2)
        assert [name for _, name in kept._checked] == ["long3", "long4"] and kept._checked_bytes == CHECKED_BYTES
        for number in range(SESSIONS_MOST + 5):
            one = HookCall(does="asks_there", session_id=str(number), cwd="/", tool="x")
            kept.asked(there.hub.agents["gemini"], HOOKS, one, 0)
        assert len(kept._watching) == SESSIONS_MOST
        await kept.close()

    async def nobody(spec: AgentSpec, session_id: str) -> None:
        return None

    check(scenario)


def test_a_call_that_has_ended_is_compared_once_and_a_very_long_one_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    compare = hooks_there.has_input

    def note(raw: bytes, given: Any) -> bool:
        compared.append(len(raw))
        return compare(raw, given)

    monkeypatch.setattr(hooks_there, "has_input", note)

    def ended(raw: bytes) -> Any:
        return SimpleNamespace(finished=True, state=SimpleNamespace(raw_input=raw, status="completed"))

    async def scenario() -> None:
        watched = hooks_there._Watched(HookCall(does="asks_there", session_id="s", cwd="/", tool="x", given={"a": "b"}))
        long = b'{"a": "b", "c": "%s"}' % (b"x" * READ_MOST)
        session: Any = SimpleNamespace(fold=SimpleNamespace(calls={"long": ended(long), "other": ended(b'{"a": "c"}')}))
        for _ in range(3):
            watched.look(session)
        assert len(compared) == 2 and not watched.over.done()
        session.fold.calls["one"] = ended(b'{"a": "b"}')
        watched.look(session)
        assert watched.over.result()

    run(scenario())


# By a key in its pane

PROGRAM = """
import sys, termios, tty
sys.stdout.write(open(sys.argv[1]).read()); sys.stdout.flush()
tty.setcbreak(0)
key = sys.stdin.read(1)
open(sys.argv[2], "a").write(repr(key))
print("\\033[2J\\033[Hit went on"); sys.stdin.read(1)
"""


@asynccontextmanager
async def in_pane(there: There, shown: str) -> AsyncIterator[Pane]:
    """A program that shows this in a pane, and writes down the key that it gets."""
    for name, text in (("program.py", PROGRAM), ("shown", shown)):
        (there.root / name).write_text(text)
    words = ["/usr/bin/env", "python3", *(str(there.root / name) for name in ("program.py", "shown", "pressed"))]
    with Pane(there.root, words, {"PATH": os.defpath, "LANG": "C.UTF-8", "TERM": "xterm"}, there.root) as pane:
        await eventually(lambda: "Allow" in pane.screen or "nothing" in pane.screen)
        there.pid = int(pane._tmux("list-panes", "-F", "#{pane_pid}"))
        yield pane


def pressed(there: There) -> str:
    file = there.root / "pressed"
    return file.read_text() if file.exists() else ""


needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux is on this machine")


@needs_tmux
@pytest.mark.parametrize(("decision", "key"), [("allow", "'\\n'"), ("deny", "'\\x1b'")])
def test_a_prompt_is_answered_by_one_key_where_the_person_wants_that(decision: str, key: str) -> None:
    async def scenario(there: There) -> None:
        async with in_pane(there, screen("touch a1")) as pane:
            await there.asks("touch a1")
            ask = await there.pending()
            assert [option.option_id for option in ask.approval.options] == ["allow", "reject"] and not ask.approval.answer_there
            await there.decide(ask, decision=decision)
            await eventually(lambda: "it went on" in pane.screen)
            assert pressed(there) == key and not there.hub.pending()

    check(scenario, terminal_keys=True)


@needs_tmux
def test_an_answer_that_comes_with_one_in_the_terminal_presses_no_key() -> None:
    async def scenario(there: There) -> None:
        async with in_pane(there, screen("touch a1")) as pane:
            await there.asks("touch a1")
            ask = await there.pending()
            asks_there = there.desk._there
            assert asks_there._watching
            there.hub.asks_elsewhere.decide(ask.approval.request_id, "allow", None, None)
            asks_there.go_on(("gemini", there.session_id))  # the prompt that is shown by now asks the same once more
            await eventually(lambda: not asks_there._watching)
            assert pressed(there) == "" and "Allow once" in pane.screen

    check(scenario, terminal_keys=True)


@needs_tmux
def test_a_screen_that_changed_gets_no_key_and_it_is_said() -> None:
    async def scenario(there: There) -> None:
        async with in_pane(there, screen("touch a1")) as pane:
            await there.asks("touch a1")
            ask = await there.pending()
            pane._tmux("copy-mode")  # a key would go to tmux's own view of the history
            await there.decide(ask, decision="allow")
            await eventually(lambda: [each for each in there.waiting() if each.answer_there])
            assert pressed(there) == ""
            notices = await there.events(ask.session_id, "NotificationEvent")
            assert any("did not reach" in str(notice) for notice in notices)

    check(scenario, terminal_keys=True)


@needs_tmux
@pytest.mark.parametrize(("keys", "shown"), [(False, screen("touch a1")), (True, screen("touch other")), (True, "nothing\n")])
def test_without_the_switch_or_the_prompt_it_is_only_watched(keys: bool, shown: str) -> None:
    async def scenario(there: There) -> None:
        async with in_pane(there, shown):
            await there.asks("touch a1")
            assert (await there.pending()).approval.answer_there

    check(scenario, terminal_keys=keys)
