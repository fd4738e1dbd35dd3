"""Asks of programs in terminals, from the hook's connection to the answer: every way in which one can end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.aio import eventually, run
from trunkline.agents.process_table import start_time
from trunkline.dialects.claude.hooks import HOOKS
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.elsewhere.hooks import HookCall
from trunkline.dialects.signals import Update
from trunkline.errors import AlreadyResolved
from trunkline.hub import Answer, Decision, Hub, HubOptions
from trunkline.reach import desk as desk_module
from trunkline.reach import ending, trunkline_hook
from trunkline.reach.desk import READ_ON_LOOP, TerminalDesk
from trunkline.reach.door import Door
from trunkline.reach.foreign import SETTINGS_MOST
from trunkline.reach.install import RECORDS
from trunkline.reach.socket import SOCKET_FILE
from trunkline.reach.trunkline_hook import WAITS
from trunkline.session.driver.elsewhere import ASK_S
from trunkline.session.interpret.asks.asks import CHANGES_MOST
from trunkline.threads import Lane

OWN = "11111111-2222-4333-8444-555555555555"
AGENT = "claude-code"
DENY = '[[rules]]\ncommand = ["touch forbidden"]\nreason = "not that one"\naction = "deny"\n'
ALLOW = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'


def line(kind: str, *blocks: Any, **more: Any) -> str:
    message = {"role": kind, "content": list(blocks), **more}
    return json.dumps({"type": kind, "uuid": f"u{json.dumps(message)}", "cwd": "/home/dev/project", "sessionId": OWN,
                       "timestamp": "2026-11-18T00:00:00.000Z", "message": message}) + "\n"


def used(command: str, call_id: str = "toolu_1") -> str:
    return line("assistant", {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}, id=f"m{call_id}")


class Terminal:
    """A home with a session that runs, and a hub that listens."""

    def __init__(self, root: Path, hub: Hub, data: Path) -> None:
        self.root = root
        self.hub = hub
        self.data = data
        self.door: Door | None = None
        self.transcript = root / ".claude" / "projects" / "-home-dev-project" / f"{OWN}.jsonl"
        self.registry = root / ".claude" / "sessions" / f"{os.getpid()}.json"

    @property
    def desk(self) -> TerminalDesk:
        """What serves the hooks."""
        assert self.door is not None and self.door._desk is not None
        return self.door._desk

    def writes(self, *lines: str) -> None:
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a") as file:
            file.write("".join(lines))

    def says(self, status: str) -> None:
        """What the program says of itself."""
        self.registry.parent.mkdir(parents=True, exist_ok=True)
        half = self.registry.with_suffix(".part")
        half.write_text(json.dumps({"pid": os.getpid(), "sessionId": OWN, "procStart": str(start_time(os.getpid())),
                                    "status": status}))
        half.replace(self.registry)

    async def hook(self, kind: str = "ask", pid: int | None = None, agent: str = AGENT, **given: Any) -> Hook:
        body = json.dumps({"session_id": OWN, "cwd": "/home/dev/project"} | given).encode()
        reader, writer = await asyncio.open_unix_connection(str(self.data / SOCKET_FILE))
        writer.write(f"trunkline 1 {agent} {kind} {os.getpid() if pid is None else pid} {len(body)}\n".encode() + body)
        return Hook(reader, writer)

    async def asks(self, command: str, **more: Any) -> Hook:
        return await self.hook(hook_event_name="PermissionRequest", tool_name="Bash", tool_input={"command": command}, **more)

    async def pending(self) -> Any:
        await eventually(self.hub.pending)
        (ask,) = self.hub.pending()
        return ask

    async def decide(self, ask: Any, **decision: Any) -> None:
        session = await self.hub.session(ask.session_id)
        await session.approvals.decide(ask.approval.request_id, Decision(**decision), by="somebody")

    async def ends(self, session_id: str) -> list[Any]:
        """How approvals of the session ended, oldest first."""
        session = await self.hub.session(session_id)
        await session.snapshot()
        events = [decode_event(entry.event) for entry in await session.feed.read(after=0)]
        return [event for event in events if type(event).__name__ == "ApprovalResolvedEvent"]


class Hook:
    """The hook's end of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def printed(self) -> Any:
        """What it prints; None where it has no opinion."""
        got = (await self._reader.read()).removeprefix(WAITS)
        self._writer.close()
        if not got:
            return None
        head, _, body = got.partition(b"\n")
        assert head == b"trunkline 1 %d" % len(body)
        return json.loads(body)["hookSpecificOutput"]["decision"]

    def killed(self) -> None:
        self._writer.close()


def data_folder(root: str, policy: str = "") -> Path:
    data = Path(root, "data")
    data.mkdir(mode=0o700)
    (data / "policy.toml").write_text(policy)
    (data / RECORDS).mkdir()
    for agent in (AGENT, "copilot", "gemini", "goose", "opencode"):
        (data / RECORDS / f"{agent}.json").write_text("{}")
    return data


@asynccontextmanager
async def terminal(policy: str = "", **options: Any) -> AsyncIterator[Terminal]:
    with tempfile.TemporaryDirectory(prefix="tl-") as name:
        root, data = Path(name), data_folder(name, policy)
        async with Hub(HubOptions(data=data, **options), environ={"HOME": name, "PATH": os.defpath}) as hub:
            door = Door(hub, data)
            await door.open()
            there = Terminal(root, hub, data)
            there.door = door
            there.writes(line("user", {"type": "text", "text": "Please."}))
            try:
                yield there
            finally:
                await door.close()


def check(scenario: Callable[[Terminal], Any], policy: str = "", **options: Any) -> None:
    async def within() -> None:
        async with terminal(policy, **options) as there:
            await scenario(there)

    run(within())


def test_an_ask_joins_its_call_and_is_allowed_here() -> None:
    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        assert (ask.approval.tool_call_id, ask.approval.about.command, ask.approval.editable) == ("toolu_1", "touch a1", True)
        assert ask.approval.expires_at > ask.approval.requested_at and ASK_S > 3000
        await there.decide(ask, decision="allow")
        assert await hook.printed() == {"behavior": "allow"}
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.resolved_by, end.meta["by"]) == (True, "user", "somebody")

    check(scenario)


def test_an_ask_is_not_about_a_call_of_another_tool_with_the_same_input() -> None:
    async def scenario(there: Terminal) -> None:
        given = {"file_path": "/home/dev/project/a"}
        write = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {**given, "content": "x"}}
        read = {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": given}
        there.writes(line("assistant", write, read, id="m1"))
        hook = await there.hook(hook_event_name="PermissionRequest", tool_name="Read", tool_input=given)
        assert (await there.pending()).approval.tool_call_id == "toolu_2"
        hook.killed()

    check(scenario)


def test_a_denial_and_a_changed_input_reach_the_program() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", agent_id="sub")
        await there.decide(await there.pending(), decision="deny", reason="use a2")
        assert await hook.printed() == {"behavior": "deny", "message": "use a2"}
        hook = await there.asks("touch a2", agent_id="sub")
        await there.decide(await there.pending(), decision="allow", updated_input={"command": "touch a3"})
        assert await hook.printed() == {"behavior": "allow", "updatedInput": {"command": "touch a3"}}

    check(scenario)


def test_a_question_is_answered_here() -> None:
    async def scenario(there: Terminal) -> None:
        asked = {"questions": [{"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}
        hook = await there.hook(hook_event_name="PermissionRequest", tool_name="AskUserQuestion", tool_input=asked, agent_id="s")
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        await session.approvals.answer(ask.question.question_id, Answer(action="accept", content={"answer": "Blue"}), by="me")
        assert (await hook.printed())["updatedInput"]["answers"] == {"Which?": "Blue"}

    check(scenario)


def test_a_yes_in_the_terminal_is_told_by_the_program_itself() -> None:
    async def scenario(there: Terminal) -> None:
        there.says("waiting")
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        await eventually(lambda: session.fold.approvals)
        await asyncio.sleep(0.6)  # the hub looks now and then whether it waits
        there.says("busy")
        assert await hook.printed() is None
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason, end.meta["by"]) == (True, "answered in the terminal: allowed", "terminal")
        assert not there.hub.pending() and session.fold.calls["toolu_1"].approved

    check(scenario)


def test_a_yes_in_the_terminal_is_told_by_the_result_where_the_program_says_nothing() -> None:
    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        there.writes(line("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}))
        assert await hook.printed() is None
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason) == (True, "answered in the terminal: allowed")

    check(scenario)


def test_a_no_in_the_terminal_ends_the_hook_and_the_ask() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        hook.killed()
        await eventually(lambda: not there.hub.pending())
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason, end.meta["by"]) == (False, "answered in the terminal: not allowed", "terminal")

    check(scenario)


def test_a_no_whose_call_has_ended_before_its_hook_is_none_the_less_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "LOOK_S", 0)

    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        there.writes(line("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rejected", "is_error": True}))
        await eventually(lambda: session.fold.calls["toolu_1"].finished)
        for _ in range(20):  # the next look sees it
            await asyncio.sleep(0)
        hook.killed()
        await eventually(lambda: not there.hub.pending())
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason) == (False, "answered in the terminal: not allowed")

    check(scenario)


def test_a_yes_to_a_command_that_fails_is_a_yes() -> None:
    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        there.writes(line("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Exit code 1", "is_error": True}))
        assert await hook.printed() is None
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason) == (True, "answered in the terminal: allowed")

    check(scenario)


def test_a_program_that_is_gone_takes_its_ask_along() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", pid=2**22 + 12345, agent_id="sub")
        ask = await there.pending()
        assert await hook.printed() is None
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason) == (False, "the program that asked has ended")

    check(scenario)


def test_an_answer_that_comes_late_does_nothing() -> None:
    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a1"))
        hook = await there.asks("touch a1")
        ask = await there.pending()
        there.writes(line("user", {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}))
        assert await hook.printed() is None
        for decision in ("allow", "deny"):
            with pytest.raises(AlreadyResolved):
                await there.decide(ask, decision=decision)
        (end,) = await there.ends(ask.session_id)
        assert end.reason == "answered in the terminal: allowed"

    check(scenario)


def test_a_process_whose_session_has_another_id_now_asks_under_that() -> None:
    async def scenario(there: Terminal) -> None:
        first = await there.asks("touch a1", agent_id="sub")
        before = await there.pending()
        first.killed()
        await eventually(lambda: not there.hub.pending())
        other = OWN.replace("1", "9")
        there.transcript = there.transcript.with_name(f"{other}.jsonl")
        there.writes(line("user", {"type": "text", "text": "Anew."}).replace(OWN, other))
        hook = await there.asks("touch a2", agent_id="sub", session_id=other)
        ask = await there.pending()
        assert ask.session_id != before.session_id
        assert (await there.hub.session(ask.session_id)).fold.agent_session_id == other
        hook.killed()

    check(scenario)


def test_what_a_hub_says_of_a_call_has_nothing_of_the_environment() -> None:
    """A hook's environment has a token of its program's. None of it comes here, so none of it is logged."""
    async def scenario(there: Terminal) -> None:
        os.environ["CLAUDE_CODE_MESSAGING_TOKEN"] = "secret-of-theirs"
        try:
            words = [sys.executable, "-I", "-S", trunkline_hook.__file__, AGENT, "report", str(there.data / SOCKET_FILE)]
            given = json.dumps({"session_id": OWN, "hook_event_name": "Notification", "message": "It waits"}).encode()
            await asyncio.to_thread(subprocess.run, words, input=given, check=True, timeout=120)
        finally:
            del os.environ["CLAUDE_CODE_MESSAGING_TOKEN"]
        await eventually(lambda: there.hub._memory)
        (session,) = there.hub._memory
        await session.snapshot()
        kept = b"".join(path.read_bytes() for path in there.data.rglob("*") if path.is_file())
        assert b"secret-of-theirs" not in kept

    check(scenario)


def test_work_that_went_on_ends_what_was_asked_before() -> None:
    async def scenario(there: Terminal) -> None:
        first = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        await (await there.hook("report", hook_event_name="UserPromptSubmit")).printed()
        assert await first.printed() is None
        (end,) = await there.ends(ask.session_id)
        assert (end.approved, end.reason) == (False, "answered in the terminal")
        second = await there.asks("touch a2", agent_id="sub")
        await there.pending()
        third = await there.asks("touch a3", agent_id="sub")
        assert await second.printed() is None, "one part of a session asks one thing after the other"
        await there.decide(await there.pending(), decision="allow")
        assert await third.printed() == {"behavior": "allow"}

    check(scenario)


def test_a_turn_that_ends_leaves_what_a_sub_agent_in_the_background_asks() -> None:
    async def scenario(there: Terminal) -> None:
        behind = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        spec, before = there.hub.agents[AGENT], frozenset({ask.approval.request_id})
        stopped = HOOKS.read(json.dumps({"session_id": OWN, "hook_event_name": "Stop"}).encode())
        assert stopped is not None
        await there.desk._reported(spec, stopped, os.getpid(), before)
        await there.decide(await there.pending(), decision="allow")
        assert await behind.printed() == {"behavior": "allow"}

    check(scenario)


def test_a_report_that_takes_long_does_not_end_what_was_asked_after_it() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        spec, went_on = there.hub.agents[AGENT], HookCall(does="goes_on", session_id=OWN, cwd="/home/dev/project")
        await there.desk._reported(spec, went_on, os.getpid(), frozenset())  # it came before the ask did
        assert there.hub.pending()
        await there.desk._reported(spec, went_on, os.getpid(), frozenset({ask.approval.request_id}))
        assert await hook.printed() is None and not there.hub.pending()

    check(scenario)


def test_work_that_went_on_in_another_process_with_the_same_session_leaves_what_this_one_asks() -> None:
    other = subprocess.Popen(["sleep", "600"])

    async def scenario(there: Terminal) -> None:
        first = await there.asks("touch a1")
        ask = await there.pending()
        await (await there.hook("report", pid=other.pid, hook_event_name="UserPromptSubmit")).printed()
        await eventually(lambda: not there.desk._following)
        second = await there.asks("touch a2", pid=other.pid)
        await eventually(lambda: len(there.hub.pending()) == 2)
        await there.decide(ask, decision="allow")
        assert await first.printed() == {"behavior": "allow"}
        await there.decide(await there.pending(), decision="deny")
        assert (await second.printed())["behavior"] == "deny"

    try:
        check(scenario)
    finally:
        other.kill()
        other.wait()


def test_a_rule_that_denies_answers_at_once_and_one_that_allows_does_not() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch forbidden", agent_id="sub")
        denied = await hook.printed()
        assert denied["behavior"] == "deny" and "not that one" in denied["message"]
        hook = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        assert not ask.approval.rules_allow
        hook.killed()
        await eventually(lambda: not there.hub.pending())

    check(scenario, DENY + ALLOW)


def test_rules_allow_where_the_person_wants_that_and_no_other_hook_decides() -> None:
    async def scenario(there: Terminal) -> None:
        assert await (await there.asks("touch a1", agent_id="sub")).printed() == {"behavior": "allow"}
        foreign = {"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}
        (there.root / ".claude" / "settings.json").write_text(json.dumps(foreign))
        hook = await there.asks("touch a2", agent_id="sub")
        await there.decide(await there.pending(), decision="allow")
        assert await hook.printed() == {"behavior": "allow"}
        (there.root / ".claude" / "settings.json").write_text(" " * (SETTINGS_MOST + 1))
        hook = await there.asks("touch a3", agent_id="sub")
        await there.decide(await there.pending(), decision="deny")
        assert (await hook.printed())["behavior"] == "deny"

    check(scenario, ALLOW, terminal_rules=True)


def test_settings_behind_a_link_are_read_and_one_that_is_no_file_may_have_a_hook() -> None:
    async def scenario(there: Terminal) -> None:
        real = there.root / "dotfiles.json"
        real.write_text('{"hooks": {}}')
        (there.root / ".claude" / "settings.json").symlink_to(real)
        assert await (await there.asks("touch a1", agent_id="sub")).printed() == {"behavior": "allow"}
        real.unlink()
        os.mkfifo(real)
        hook = await there.asks("touch a2", agent_id="sub")
        await there.decide(await there.pending(), decision="deny")
        assert (await hook.printed())["behavior"] == "deny"

    check(scenario, ALLOW, terminal_rules=True)


@pytest.mark.parametrize("flag", ["--settings=theirs.json", "--plugin-dir"])
def test_rules_do_not_allow_what_a_program_asks_that_was_started_with_hooks_of_others(flag: str) -> None:
    started = subprocess.Popen([sys.executable, "-c", "input()", flag, "theirs"], stdin=subprocess.PIPE)

    async def scenario(there: Terminal) -> None:
        for pid in (started.pid, 0):
            hook = await there.asks("touch a1", agent_id="sub", pid=pid)
            ask = await there.pending()
            assert not ask.approval.rules_allow
            await there.decide(ask, decision="deny")
            assert (await hook.printed())["behavior"] == "deny"

    try:
        check(scenario, ALLOW, terminal_rules=True)
    finally:
        started.kill()
        started.communicate()


def test_always_is_a_rule_of_ours_and_a_single_yes_to_the_program() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", agent_id="sub")
        await there.decide(await there.pending(), decision="allow", scope="always")
        assert await hook.printed() == {"behavior": "allow"}
        assert [rule.action for rule in there.hub.policies.policy.rules] == ["allow"]

    check(scenario)


def test_what_nobody_answers_is_left_to_the_terminal() -> None:
    async def scenario(there: Terminal) -> None:
        hook = await there.asks("touch a1", agent_id="sub")
        ask = await there.pending()
        session = await there.hub.session(ask.session_id)
        session.fold.waits.approval_s = 0.05
        hook.killed()
        await eventually(lambda: not there.hub.pending())
        hook = await there.asks("touch a2", agent_id="sub")
        assert await hook.printed() is None
        end = (await there.ends(ask.session_id))[-1]
        assert (end.approved, end.resolved_by) == (False, "timeout") and "waits in its terminal" in end.reason
        assert not any(call.denied for call in session.fold.calls.values() if "a2" in str(call.state.raw_input))

    check(scenario)


def test_a_call_that_changes_again_and_again_is_left_to_the_terminal() -> None:
    async def scenario(there: Terminal) -> None:
        there.writes(used("touch a0"))
        hook = await there.asks("touch a0")
        session = await there.hub.session((await there.pending()).session_id)
        for number in range(1, CHANGES_MOST + 1):
            asked = list(session.fold.approvals)
            changed = {"sessionUpdate": "tool_call_update", "toolCallId": "toolu_1", "rawInput": {"command": f"touch a{number}"}}
            session.agent.on_signals([Update(json.dumps(changed).encode())])
            await eventually(partial(_is_other, session, asked, number == CHANGES_MOST))
        assert await hook.printed() is None
        assert not there.hub.pending() and "again and again" in (await there.ends(session.id))[-1].reason

    check(scenario)


def _is_other(session: Any, asked: list[str], may_be_none: bool) -> bool:
    return list(session.fold.approvals) != asked and (may_be_none or bool(session.fold.approvals))


def test_what_is_no_call_has_no_answer() -> None:
    async def scenario(there: Terminal) -> None:
        for hook in (await there.hook(agent="demo"), await there.hook(agent="nobody"), await there.hook(),
                     await there.hook("what"), await there.hook(hook_event_name="Stop"),
                     await there.hook("report", hook_event_name="PermissionRequest")):
            assert await hook.printed() is None
        assert not there.hub.pending()

    check(scenario)


def test_a_prompt_has_its_session_followed() -> None:
    async def scenario(there: Terminal) -> None:
        await (await there.hook("report", hook_event_name="UserPromptSubmit")).printed()
        await eventually(lambda: [session for session in there.hub._memory if session.fold.agent_session_id == OWN])

    check(scenario)


def test_a_prompt_that_was_asked_when_no_hub_ran_is_told_of() -> None:
    async def scenario(there: Terminal) -> None:
        await (await there.hook("report", hook_event_name="Notification", notification_type="permission_prompt",
                                message="It needs your permission")).printed()
        await eventually(lambda: [session for session in there.hub._memory if session.fold.agent_session_id == OWN])
        (session,) = there.hub._memory

        async def told() -> str:
            return "".join(str(entry.event) for entry in await session.feed.read(after=0))

        while "waits for you in its terminal" not in await told():  # noqa: ASYNC110 - no event of ours tells of it
            await asyncio.sleep(0.01)

    check(scenario)


def test_a_hub_that_stops_leaves_what_waits_to_the_terminal() -> None:
    async def scenario() -> None:
        with tempfile.TemporaryDirectory(prefix="tl-") as name:
            data = data_folder(name)
            options, environ = HubOptions(data=data), {"HOME": name, "PATH": os.defpath}
            async with Hub(options, environ=environ) as hub:
                door = Door(hub, data)
                await door.open()
                there = Terminal(Path(name), hub, data)
                there.writes(line("user", {"type": "text", "text": "Please."}))
                hook = await there.asks("touch a1", agent_id="sub")
                ask = await there.pending()
                await door.close()
                assert await hook.printed() is None
            async with Hub(options, environ=environ) as hub:
                there.hub = hub
                (end,) = await there.ends(ask.session_id)
                assert end.approved is False and not hub.pending()

    run(scenario())


def test_each_of_very_many_long_calls_is_compared_once_and_none_on_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bool] = []

    def note(raw: bytes | None) -> Any:
        read.append(threading.current_thread() is threading.main_thread())
        return json.loads(raw or b"null")

    monkeypatch.setattr(desk_module, "_input", note)
    monkeypatch.setattr(desk_module, "JOIN_S", 0.1)
    long = json.dumps({"command": "x" * READ_ON_LOOP}).encode()
    calls = {f"long{number}": open_call(long) for number in range(20)} | {"short": open_call(b'{"command": "y"}')}
    desk = object.__new__(TerminalDesk)
    desk._lane = Lane()
    agent = SimpleNamespace(look_again=lambda: None)
    session: Any = SimpleNamespace(fold=SimpleNamespace(calls=calls, approvals={}), agent=agent)
    asked = HookCall(does="asks", session_id="s", cwd="/", tool="Bash", given={"command": "z"})
    assert run(desk._call_in(session, asked)) is None
    assert read.count(False) == 20 and read.count(True) == 1
    calls["new"] = open_call(b'{"command": "z"}')
    assert run(desk._call_in(session, asked)) == "new"


def open_call(raw: bytes) -> Any:
    return SimpleNamespace(finished=False, state=SimpleNamespace(name="Bash", raw_input=raw))
