"""A program whose hook hides its own prompt: asked here only while its person is away, and left to who sits there."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.reach.test_desk import DENY, Terminal, check
from tests.tooling.processes import eventually
from tests.tooling.stores import copilot
from trunkline.agents import catalog
from trunkline.discovery.processes import idle_seconds
from trunkline.reach.desk import BACK
from trunkline.reach.install import Hooks
from trunkline.reach.socket import SOCKET_FILE
from trunkline.reach.trunkline_hook import WAITS


class Copilot:
    """A session of a program that asks before its prompt is shown."""

    def __init__(self, there: Terminal) -> None:
        self.hub = there.hub
        self.there = there
        self.session_id = copilot(there.root).session_id
        self.was_held = False
        """Whether its hook was told that a person is waited for."""

    async def asks(self, command: str, pid: int = 0) -> Any:
        """What its hook prints."""
        given = {"hookName": "permissionRequest", "sessionId": self.session_id, "cwd": "/home/dev/project", "toolName": "bash",
                 "toolInput": {"command": command}}
        body = json.dumps(given).encode()
        reader, writer = await asyncio.open_unix_connection(str(self.there.data / SOCKET_FILE))
        writer.write(f"trunkline 1 copilot ask {pid} {len(body)}\n".encode() + body)
        got = await reader.read()
        writer.close()
        self.was_held = got.startswith(WAITS)
        got = got.removeprefix(WAITS)
        return json.loads(got.partition(b"\n")[2]) if got else None

    async def leaves(self, away: bool = True) -> None:
        await self.hub.away.set(away, at=1, by="somebody")


def with_copilot(scenario: Callable[[Copilot], Any], policy: str = "", **options: Any) -> None:
    check(lambda there: scenario(Copilot(there)), policy, **options)


def test_who_is_away_is_asked_here_and_the_answer_is_the_programs() -> None:
    async def scenario(there: Copilot) -> None:
        await there.leaves()
        asked = asyncio.create_task(there.asks("touch a1"))
        ask = await there.there.pending()
        session = await there.hub.session(ask.session_id)
        assert session.fold.waits.approval_s == 295.0, "sooner than the program ends its hook"
        await there.there.decide(ask, decision="deny", reason="use b")
        assert await asked == {"behavior": "deny", "message": "use b"} and there.was_held

    with_copilot(scenario)


def test_who_comes_back_while_it_is_asked_here_is_asked_in_the_terminal() -> None:
    async def scenario(there: Copilot) -> None:
        await there.leaves()
        asked = asyncio.create_task(there.asks("touch a1"))
        ask = await there.there.pending()
        await there.leaves(False)
        assert await asked is None, "the program goes on, and shows its prompt"
        (end,) = await there.there.ends(ask.session_id)
        assert (end.approved, end.reason) == (False, BACK) and not there.hub.pending()

    with_copilot(scenario)


def test_who_sits_there_is_asked_by_the_program_alone_and_nothing_is_written_down() -> None:
    async def scenario(there: Copilot) -> None:
        assert await there.asks("touch a1") is None and not there.was_held
        assert not there.hub.pending()
        (session,) = [each for each in there.hub._memory if each.fold.agent_session_id == there.session_id]
        assert not await there.there.ends(session.id) and not session.fold.approvals

    with_copilot(scenario)


def test_rules_that_deny_answer_who_sits_there_at_once() -> None:
    async def scenario(there: Copilot) -> None:
        denied = await there.asks("touch forbidden")
        assert denied["behavior"] == "deny" and "not that one" in denied["message"]

    with_copilot(scenario, DENY)


def test_rules_that_allow_answer_only_where_the_person_wants_that() -> None:
    rule = '[[rules]]\ncommand = ["touch *"]\naction = "allow"\n'

    async def silent(there: Copilot) -> None:
        assert await there.asks("touch a1") is None

    async def allowed(there: Copilot) -> None:
        assert await there.asks("touch a1") == {"behavior": "allow"}
        theirs = there.there.root / ".copilot" / "hooks" / "theirs.json"
        theirs.parent.mkdir()
        theirs.write_text('{"version":1,"hooks":{"permissionRequest":[{"type":"command","bash":"theirs"}]}}')
        assert await there.asks("touch a2") is None

    with_copilot(silent, rule)
    with_copilot(allowed, rule, terminal_rules=True)


@contextmanager
def in_terminal() -> Iterator[tuple[int, str]]:
    """A process, and its terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execlp("sleep", "sleep", "60")
    try:
        eventually(lambda: idle_seconds(pid) is not None, "it has its terminal")
        yield pid, os.readlink(f"/proc/{pid}/fd/0")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_a_terminal_without_keys_for_long_enough_is_one_that_nobody_sits_at() -> None:
    async def scenario(there: Copilot) -> None:
        os.utime(name, (time.time(), time.time()))
        assert await there.asks("touch a1", pid) is None
        os.utime(name, (time.time() - 700, time.time()))
        asked = asyncio.create_task(there.asks("touch a2", pid))
        await there.there.decide(await there.there.pending(), decision="allow")
        assert await asked == {"behavior": "allow"}
        asked = asyncio.create_task(there.asks("touch a3", pid))
        await there.there.pending()
        os.utime(name, (time.time(), time.time()))  # a key is pressed
        assert await asked is None and not there.hub.pending()

    with in_terminal() as (pid, name):
        with_copilot(scenario, away_after=600.0)


def test_hooks_that_were_taken_out_are_not_answered() -> None:
    async def scenario(there: Copilot) -> None:
        await there.leaves()
        (there.there.data / "hooks" / "copilot.json").unlink()
        assert await there.asks("touch a1") is None
        assert not there.hub.pending()

    with_copilot(scenario)


def installed(tmp_path: Path) -> Hooks:
    return Hooks(catalog.load()["copilot"], tmp_path / "data", {"HOME": str(tmp_path)})


@pytest.mark.parametrize("others", [False, True])
def test_a_file_of_our_own_comes_and_goes_with_its_folder(tmp_path: Path, others: bool) -> None:
    folder = tmp_path / ".copilot" / "hooks"
    if others:
        folder.mkdir(parents=True)
    hooks = installed(tmp_path)
    change = hooks.installing()
    hooks.install(change)
    read = json.loads((folder / "trunkline.json").read_text())
    assert read["version"] == 1 and set(read["hooks"]) == {"permissionRequest", "userPromptSubmitted"}
    (ask,) = read["hooks"]["permissionRequest"]
    assert ask["timeoutSec"] == 300 and ask["bash"].endswith(" 2>/dev/null || true") and hooks.state() == "installed"
    assert "copilot ask" in change.diff and hooks.installing().after == hooks.installing().before
    hooks.remove(hooks.removing())
    assert folder.exists() is others and not (folder / "trunkline.json").exists() and hooks.state() == "absent"


def test_what_somebody_added_to_our_file_stays(tmp_path: Path) -> None:
    hooks = installed(tmp_path)
    hooks.install(hooks.installing())
    path = tmp_path / ".copilot" / "hooks" / "trunkline.json"
    read = json.loads(path.read_text())
    read["hooks"]["agentStop"] = [{"type": "command", "bash": "theirs"}]
    read["hooks"]["permissionRequest"].append({"type": "command", "bash": "theirs"})
    path.write_text(json.dumps(read, indent=2))
    hooks.remove(hooks.removing())
    theirs = [{"type": "command", "bash": "theirs"}]
    assert json.loads(path.read_text()) == {"version": 1, "hooks": {"permissionRequest": theirs, "agentStop": theirs}}
