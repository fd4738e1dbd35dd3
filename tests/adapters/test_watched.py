"""A session that another program runs, followed by the file that it writes: told like any other, but nobody can act in it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.agents import library
from tests.adapters.test_catalog_adapter import history, kind_of, said, types_of, until
from tests.aio import eventually, run
from trunkline.adapters import ACPSession, Library
from trunkline.agents.catalog.features import flags_of
from trunkline.dialects.context.commands import (
    AnswerQuestionCommand,
    ApproveToolCallCommand,
    CancelCommand,
    Command,
    DenyToolCallCommand,
    PauseCommand,
    ResumeCommand,
    SendMessageCommand,
    TerminateCommand,
)
from trunkline.dialects.context.types import SessionDiscoveryEvent
from trunkline.errors import Invalid, NotFound, Unsupported

DATA = Path(__file__).parents[1] / "data" / "claude" / "projects"
REAL = "11111111-2222-4333-8444-555555555555"
AGENT = "claude-agent-acp"


def files(tmp_path: Path) -> Path:
    """The store of a home, with the recorded session in it; returns that session's file."""
    projects = tmp_path / "home" / ".claude" / "projects"
    if not projects.exists():
        shutil.copytree(DATA, projects)
    return projects / "-home-dev-project" / f"{REAL}.jsonl"


def at_home(tmp_path: Path, data_dir: Path | None = None) -> Library:
    """A library on a machine that has the files, and no agent."""
    return library(tmp_path, data_dir, {"PATH": str(tmp_path)})


def written(kind: str, text: str, stop: str | None = None, **message: Any) -> str:
    body = {"role": kind, "content": [{"type": "text", "text": text}], "stop_reason": stop, **message}
    return json.dumps({"type": kind, "uuid": f"u-{text}", "cwd": "/home/dev/project", "timestamp": "2027-01-01T00:00:00.000Z",
                       "message": body}) + "\n"


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.write("".join(lines))


def statuses(events: list[Any]) -> list[str]:
    return [event.to for event in events if kind_of(event) == "session:status_changed"]


async def attached(line: Library) -> ACPSession:
    return await line.adapter(AGENT).attach_to_session(REAL)


def test_a_session_in_the_files_is_discovered_where_no_agent_is_installed(tmp_path: Path) -> None:
    files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            (found,) = await line.adapter(AGENT).discover_sessions()
            assert (found.id, found.project_path, found.project_name) == (REAL, "/home/dev/project", "project")
            assert (found.session_name, found.last_message) == ("Please do the work.", "It counted.")
            assert found.created_at.endswith("Z") and found.created_at < found.last_activity

    run(scenario())


def test_its_history_is_told_in_full_as_of_its_own_time(tmp_path: Path) -> None:
    path = files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            events = await history(session)
            assert said(events, "user") == ["Please do the work.", "And a sub agent."]
            assert said(events, "assistant") == ["I will read the file.", "All done: a.txt says moon now.", "It counted."]
            kinds = set(types_of(events))
            assert {"thinking:complete", "tool:start", "tool:result", "tool:error", "progress:todo_update",
                    "resource:token_usage", "session:started", "session:resumed"} <= kinds
            first = json.loads(path.read_text().splitlines()[0])["timestamp"]
            prompt = next(event for event in events if kind_of(event) == "message:start")
            assert events[0].timestamp[:16] == prompt.timestamp[:16] == first[:16], "not as of now"
            spent = [event for event in events if kind_of(event) == "resource:token_usage"]
            assert spent[-1].cumulative.input_tokens == sum(event.delta.input_tokens for event in spent) == 600

    run(scenario())


def test_what_is_written_later_is_told_as_it_comes(tmp_path: Path) -> None:
    path = files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            changes = len(statuses(await history(session)))
            append(path, written("user", "And now?"))
            events = await until(session, "session:status_changed", changes + 1)
            assert said(events, "user")[-1] == "And now?" and statuses(events)[-1] == "running"
            append(path, written("assistant", "Nothing.", "end_turn", id="m9"))
            events = await until(session, "session:status_changed", changes + 2)
            assert said(events, "assistant")[-1] == "Nothing." and statuses(events)[-1] == "idle"

    run(scenario())


def test_half_a_line_is_not_told_before_its_end(tmp_path: Path) -> None:
    path = files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            before = len(await history(session))
            append(path, whole[:30])
            await session.refresh()
            append(path, whole[30:])
            events = await until(session, "message:complete", 6)
            assert said(events, "user")[-1] == "In two pieces"
            assert "malformed" not in [event.event_name for event in events[before:] if kind_of(event) == "custom"]

    whole = written("user", "In two pieces")
    run(scenario())


def test_every_command_is_refused_and_the_capabilities_said_so(tmp_path: Path) -> None:
    files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            assert session.capabilities.agent.integration_method == "file-watch"
            flags = flags_of(session.capabilities.features)
            assert not {flag for flag in flags if flag.startswith(("approval", "sessionControl"))}
            assert "multimodal" not in flags and "userInteraction.questions" not in flags
            before = len(await history(session))
            commands: list[Command] = [
                SendMessageCommand(message="hi"), CancelCommand(), PauseCommand(),
                ResumeCommand(), TerminateCommand(),
                ApproveToolCallCommand(request_id="r", tool_call_id="c"),
                DenyToolCallCommand(request_id="r", tool_call_id="c"),
                AnswerQuestionCommand(question_id="q", answer="a"),
            ]
            for command in commands:
                with pytest.raises(Unsupported, match="only watched"):
                    await session.execute(command)
            spoken = said((await history(session))[before:], "user")
            assert spoken == []
            await session.detach()

    run(scenario())


def test_a_restart_goes_on_where_it_was_and_repeats_nothing(tmp_path: Path) -> None:
    path, data = files(tmp_path), tmp_path / "data"

    async def first() -> tuple[str, list[int]]:
        async with at_home(tmp_path, data) as line:
            session = await attached(line)
            return session.session_id, [event.seq for event in await history(session)]

    async def second(session_id: str, seqs: list[int]) -> None:
        async with at_home(tmp_path, data) as line:
            session = await attached(line)
            assert session.session_id == session_id, "it is the same session"
            events = await until(session, "message:complete", 6)
            assert said(events, "user") == ["Please do the work.", "And a sub agent.", "While you were away"]
            assert [event.seq for event in events] == list(range(1, len(events) + 1)) and len(events) > len(seqs)
            append(path, written("user", "And live"))
            events = await until(session, "message:complete", 7)
            assert said(events, "user")[-1] == "And live"

    session_id, seqs = run(first())
    append(path, written("user", "While you were away"))
    run(second(session_id, seqs))


def test_a_session_is_listed_once_when_it_is_followed(tmp_path: Path) -> None:
    files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            assert [found.id for found in await line.adapter(AGENT).discover_sessions()] == [session.session_id]
            assert (await attached(line)).session_id == session.session_id
            with pytest.raises(NotFound):
                await line.adapter(AGENT).attach_to_session("22222222-2222-4333-8444-555555555555", watch=True)

    run(scenario())


def test_a_session_that_another_program_has_open_is_only_watched_even_with_the_agent_here(tmp_path: Path) -> None:
    files(tmp_path)
    program = tmp_path / AGENT
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    registry = tmp_path / "home" / ".claude" / "sessions"
    registry.mkdir()
    (registry / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": REAL}))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await attached(line)
            assert session.capabilities.agent.integration_method == "file-watch"

    run(scenario())


def test_a_watcher_hears_of_the_vendors_files(tmp_path: Path) -> None:
    path = files(tmp_path)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            heard: list[SessionDiscoveryEvent] = []
            stop = line.adapter(AGENT).watch_sessions(heard.append)

            def written() -> bool:
                append(path, "\n")
                return bool(heard)

            await eventually(written)  # when a watch is on, nobody says
            assert heard[0] == SessionDiscoveryEvent(type="session_updated", session_id=REAL, agent=AGENT)
            stop()

    run(scenario())


def test_a_file_that_names_no_folder_cannot_be_attached_to_and_it_is_said_why(tmp_path: Path) -> None:
    path = files(tmp_path)
    path.write_text(path.read_text().replace("/home/dev/project", "/home/dev\\u0000/project"))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            with pytest.raises(Invalid, match="cwd must be an absolute path"):
                await attached(line)

    run(scenario())
