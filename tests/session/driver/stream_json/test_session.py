"""Sessions of a hub with a scripted Claude CLI: prompted, restarted, forked."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.aio import run
from tests.session.driver.stream_json.stage import ClaudeStage
from trunkline.agents import catalog
from trunkline.agents.daemons import Daemon
from trunkline.dialects.acp.content import TextContent
from trunkline.errors import Invalid, Unsupported
from trunkline.hub import Hub, HubOptions, NewSession, Session
from trunkline.session.driver.stream_json import opening
from trunkline.session.interpret.asks import waiting


@asynccontextmanager
async def claude_hub(folder: Path, **options: Any) -> AsyncIterator[tuple[Hub, ClaudeStage]]:
    """A hub whose Claude is the scripted one; the stage reads its log."""
    stage = ClaudeStage(folder, **options)
    spec = msgspec.structs.replace(stage.spec, env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "CLAUDE_CONFIG_DIR": str(folder)})
    agents = {"claude-code": spec, "demo": catalog.load()["demo"]}
    async with Hub(HubOptions(data=folder / "data", store="memory:", agents=agents)) as hub:
        yield hub, stage


async def turn(session: Session, *steps: Any) -> list[dict[str, Any]]:
    """Play steps; returns the events of the turn."""
    return await said(session, json.dumps(steps))


async def said(session: Session, words: str) -> list[dict[str, Any]]:
    """Say something; returns the events of the turn."""
    accepted = await session.turns.send([TextContent(text=words)], by="ann")
    while session.fold.turn is not None:
        await session.feed.wait(session.feed.last_seq)
    return [msgspec.json.decode(entry.event) for entry in await session.feed.read(after=accepted.seq)]


def test_a_session_is_played_and_knows_its_agents_modes_models_and_commands(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path), mode="plan"), by="ann")
            events = await turn(session, ["say", "Hello"])
            assert "Hello" in [event["delta"] for event in events if event["type"] == "message:delta"]
            view = session.view()
            assert view.mode == "default", "the CLI says so at the turn's beginning"
            assert [command["name"] for command in await session.commands() or []] == ["compact"]

    run(check())


def test_a_turn_that_needs_a_login_ends_with_the_error_of_that_name(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            events = await turn(session, ["result", {"is_error": True, "result": "Not logged in · Please run /login"}])
            (error,) = [event["error"] for event in events if event["type"] == "session:error"]
            assert error["code"] == "agent_auth_required" and "ANTHROPIC_API_KEY" in error["message"]

    run(check())


def test_a_fork_begins_with_its_sources_conversation_under_an_id_of_its_own(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, stage):
            source = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path), title="The tree"), by="ann")
            with pytest.raises(Invalid, match="nothing was said"):
                await hub.fork(source.id, by="ann")
            await turn(source, ["say", "Hello"])
            branch = await hub.fork(source.id, by="ann")
            assert branch.fold.agent_start == "forked" and branch.fold.title == "The tree"
            assert branch.fold.agent_session_id not in (None, source.fold.agent_session_id)
            assert f"--resume={source.fold.agent_session_id}" in stage.argv(1) and "--fork-session" in stage.argv(1)
            await branch.turns.terminate(by="ann")
            await branch.turns.resume(by="ann")
            assert stage.argv(2)[-1] == f"--resume={branch.fold.agent_session_id}", "it is forked once"

    run(check())


def test_a_session_of_another_agent_cannot_be_forked(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            session = await hub.create(NewSession(agent="demo", cwd=str(tmp_path)), by="ann")
            with pytest.raises(Unsupported, match="cannot be forked"):
                await hub.fork(session.id, by="ann")

    run(check())


def test_a_cancelled_turn_whose_cli_does_not_react_is_ended_all_the_same(tmp_path: Path) -> None:
    async def check() -> None:
        async with claude_hub(tmp_path, silent=["interrupt"]) as (hub, stage):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            await session.turns.send([TextContent(text=json.dumps([["say", "one"], ["hang"]]))], by="ann")
            await stage.until_sent("user")
            await session.turns.cancel(by="ann")
            assert await session.turns.cancel(by="ann"), "asked again, the CLI is ended"
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            events = await turn(session, ["say", "two"])
            assert "two" in [event["delta"] for event in events if event["type"] == "message:delta"]
            assert any(word.startswith("--resume=") for word in stage.argv(1))
            await asyncio.sleep(0)

    run(check(), 60)


FRAMES = """
import json, sys
if "--version" in sys.argv:
    sys.exit(print("no version"))

def tell(**frame):
    print(json.dumps(frame), flush=True)

tell(type="system", subtype="init", session_id="uuid", tools=["Read"], model="claude-opus-4-5-20251101")
tell(type="system", subtype="hook_response", hook_name="SessionStart:startup", stdout="", stderr="", exit_code=0)
for line in sys.stdin:
    frame = json.loads(line)
    if frame["type"] != "user":
        continue
    said = "You said: " + frame["message"]["content"]
    if said.endswith("hang"):
        continue
    content = [{"type": "text", "text": said}, {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}]
    tell(type="assistant", message={"role": "assistant", "content": content}, session_id="uuid")
    tell(type="result", subtype="success", result=said, duration_ms=1, session_id="uuid")
"""
"""A CLI that knows the frames of the document and nothing else: prompts are texts, and no control request is answered."""


def test_a_cli_that_knows_only_the_documented_frames_works_without_what_it_lacks(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "GREETING_S", 0.3)

    async def check() -> None:
        async with claude_hub(tmp_path) as (hub, _):
            (tmp_path / "frames.py").write_text(FRAMES)
            (tmp_path / "bin" / "claude").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{tmp_path}/frames.py" "$@"\n')
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            for words in ("hello", "again"):
                events = await said(session, words)
                texts = [event["content"][0]["text"] for event in events if event["type"] == "message:complete"]
                assert texts == [words, f"You said: {words}"], "told once, though the result has it as well"
                assert [event["name"] for event in events if event["type"] == "tool:start"] == ["read"]
                assert session.fold.status == "idle"
            await session.turns.send([TextContent(text="hang")], by="ann")
            assert await session.turns.cancel(by="ann") and await session.turns.cancel(by="ann")
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)
            events = await said(session, "after that")
            assert "You said: after that" in [event["delta"] for event in events if event["type"] == "message:delta"]

    run(check(), 60)


def test_a_shared_daemon_that_the_cli_leaves_running_is_written_down(tmp_path: Path) -> None:
    async def check() -> None:
        daemons = [Daemon(name="The sleeper", command=("sleep", "180"))]
        async with claude_hub(tmp_path, daemons=daemons) as (hub, _):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            events = await turn(session, ["child"])
            daemon = int(next(event["delta"] for event in events
                              if event["type"] == "message:delta" and event["delta"].isdecimal()))
            try:
                await turn(session, ["die", 0])
                left = await left_running(session)
                assert left["daemons"] == [{"process": daemon, "name": "The sleeper"}]
                os.kill(daemon, 0)  # it is there
            finally:
                os.kill(daemon, signal.SIGKILL)

    run(check())


async def left_running(session: Session) -> dict[str, Any]:
    """What the note of daemons says, once it is there."""
    while True:
        last = session.feed.last_seq
        for entry in await session.feed.read(after=0):
            if b'"daemons_left_running"' in entry.event:
                data: dict[str, Any] = msgspec.json.decode(entry.event)["data"]
                return data
        await session.feed.wait(last)


def test_permissions_over_the_bound_are_denied_and_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CLI has no answer that is an error: it is a denial, and the CLI goes on."""
    async def check() -> None:
        monkeypatch.setattr(waiting, "PENDING_PERMISSIONS", 2)
        async with claude_hub(tmp_path) as (hub, stage):
            session = await hub.create(NewSession(agent="claude-code", cwd=str(tmp_path)), by="ann")
            steps = [*(["frame", permission(number)] for number in range(4)), ["wait"]]
            await session.turns.send([TextContent(text=json.dumps(steps))], by="ann")
            answers = [each["response"] for each in await stage.until_sent("control_response", 2)]
            assert {each["request_id"] for each in answers} == {"ask-2", "ask-3"}
            assert all(each["response"]["behavior"] == "deny" and "2 permissions" in each["response"]["message"]
                       for each in answers)
            assert len(session.fold.approvals) == 2
            told = [entry.event for entry in await session.feed.read(after=0)]
            assert sum(b'"permission_refused"' in event for event in told) == 2, "each is written down"
            await session.turns.cancel(by="ann")
            while session.fold.turn is not None:
                await session.feed.wait(session.feed.last_seq)

    run(check())


def permission(number: int) -> dict[str, Any]:
    """The CLI asks, and goes on without waiting for the answer."""
    return {"type": "control_request", "request_id": f"ask-{number}", "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": f"make part-{number}"},
        "permission_suggestions": [], "tool_use_id": f"toolu-{number}"}}
