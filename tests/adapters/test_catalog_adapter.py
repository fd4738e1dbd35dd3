"""An agent of the catalog as an adapter: what it is, which sessions it has, how they are joined."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.adapters.agents import HISTORY, library, store
from tests.aio import run
from tests.tooling.processes import processes_with
from trunkline.adapters import ACPAdapter, ACPSession, CatalogAdapter
from trunkline.adapters.capabilities import session_capabilities
from trunkline.agents.catalog import adhoc
from trunkline.agents.process import AgentProcess
from trunkline.dialects.context.commands import SendMessageCommand
from trunkline.dialects.context.types import (
    AgentDataPaths,
    DiscoveredSession,
    SessionDiscoveryEvent,
    StartSessionOptions,
    TokenUsage,
)
from trunkline.dialects.signals import PermissionAsk, PermissionOption
from trunkline.errors import AgentError, NotFound, Unsupported
from trunkline.session.fold import Fold, checkpoint, restore
from trunkline.session.interpret import Interpreter


def names(sessions: list[DiscoveredSession]) -> list[str]:
    return [session.id for session in sessions]


def kind_of(event: Any) -> str:
    return str(event.type)


def types_of(events: list[Any]) -> list[str]:
    return [kind_of(event) for event in events]


async def history(session: ACPSession) -> list[Any]:
    return list(await session.get_history())


async def until(session: ACPSession, kind: str, count: int = 1) -> list[Any]:
    """The history, once it has so many events of a type."""
    changed = asyncio.Event()
    stop = session.on_event(lambda event: changed.set())
    while True:
        changed.clear()
        events = await history(session)
        if types_of(events).count(kind) >= count:
            stop()
            return events
        await changed.wait()


def said(events: list[Any], role: str) -> list[str]:
    return ["".join(part.text for part in event.content) for event in events
            if kind_of(event) == "message:complete" and event.role == role]


def test_every_agent_of_the_catalog_has_an_adapter_with_all_methods(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            assert len(line.adapters) > 19
            for adapter in line.adapters:
                typed: ACPAdapter = adapter
                capabilities = typed.get_capabilities()
                assert capabilities.agent.name == adapter.name
                assert capabilities.agent.integration_method == "sdk"
                assert isinstance(typed.get_data_paths(), AgentDataPaths)
                assert isinstance(await typed.is_installed(), bool)
            with pytest.raises(NotFound, match="no agent 'nobody'; known are: "):
                line.adapter("nobody")

    run(scenario())


def test_an_installed_agent_tells_its_version_and_a_missing_one_has_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, missing="nowhere-to-be-found --acp") as line:
            demo = line.adapter("demo")
            assert demo.get_capabilities().agent.version is None, "nobody has asked yet"
            assert await demo.is_installed() and await demo.get_version()
            assert demo.get_capabilities().agent.version == await demo.get_version()
            missing = line.adapter("missing")
            assert not await missing.is_installed() and await missing.get_version() is None
            assert await missing.discover_sessions() == [], "what is not installed has no sessions, which is no error"

    run(scenario())


def test_data_paths_are_those_of_this_machine(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            assert line.adapter("demo").get_data_paths() == AgentDataPaths()
            assert line.adapter("claude-agent-acp").get_data_paths().sessions == str(tmp_path / "home" / ".claude" / "projects")
        async with library(tmp_path, environ={"CLAUDE_CONFIG_DIR": "/elsewhere"}) as line:
            assert line.adapter("claude-agent-acp").get_data_paths().sessions == "/elsewhere/projects"

    run(scenario())


def test_the_agents_own_sessions_are_asked_for_page_by_page_and_nothing_is_left_running(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", sessions=5, page_size=2)) as line:
            found = await line.adapter("puppet").discover_sessions()
            assert names(found) == ["own-4", "own-3", "own-2", "own-1", "own-0"], "all pages, newest activity first"
            assert found[0] == DiscoveredSession(
                id="own-4", agent="puppet", project_path=str(tmp_path / "project"), project_name="project",
                created_at="2026-01-05T00:00:00.000Z", last_activity="2026-01-05T00:00:00.000Z", session_name="Session 4")
            assert processes_with(f"HOME={tmp_path / 'home'}") == []

    run(scenario())


def test_an_agent_that_lists_only_a_named_folders_sessions_is_asked_for_the_folders_the_hub_knows(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", "load", scoped=True)) as line:
            adapter = line.adapter("puppet")
            assert await adapter.discover_sessions() == []
            started = StartSessionOptions(project_path=str(tmp_path / "project"), prompt="/echo here")
            await line.adapter("demo-fast").start_session(started)
            assert names(await adapter.discover_sessions()) == ["own-0"]
            session = await adapter.attach_to_session("own-0")
            assert said(await history(session), "assistant") == ["Blue it is. Done.", "Red too."]

    run(scenario())


def test_an_agent_that_does_not_offer_a_list_is_not_asked_and_that_is_no_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "load")) as line:
            assert await line.adapter("puppet").discover_sessions() == []

    run(scenario())


def test_an_agent_that_cannot_be_asked_still_leaves_the_hubs_sessions(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, broken="false") as line:
            assert await line.adapter("broken").discover_sessions() == []

    run(scenario())


def test_a_running_agent_is_asked_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spawn, started = AgentProcess.spawn, 0

    async def counted(*command: Any, **how: Any) -> AgentProcess:
        nonlocal started
        started += 1
        return await spawn(*command, **how)

    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", "resume", sessions=2)) as line:
            adapter = line.adapter("puppet")
            monkeypatch.setattr(AgentProcess, "spawn", counted)
            session = await adapter.attach_to_session("own-0")
            before = started
            assert before > 0, "a start is seen"
            assert names(await adapter.discover_sessions()) == [session.session_id, "own-1"], "what the hub has goes by its id"
            assert started == before

    run(scenario())


def test_a_session_of_the_agents_own_is_loaded_and_its_replay_is_our_history(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", "load")) as line:
            adapter = line.adapter("puppet")
            session = await adapter.attach_to_session("own-0")
            events = await history(session)
            assert types_of(events)[0] == "session:started"
            assert said(events, "user") == ["Make it blue.", "And red?"]
            assert said(events, "assistant") == ["Blue it is. Done.", "Red too."]
            assert "tool:result" in types_of(events)
            (resumed,) = [event for event in events if kind_of(event) == "session:resumed"]
            assert (resumed.previous_session_id, resumed.meta["how"]) == ("own-0", "loaded")
            assert types_of(events)[-1] == "session:status_changed" and events[-1].to == "idle"
            (listed,) = await adapter.discover_sessions()
            assert (listed.id, listed.session_name) == (session.session_id, "Session 0")
            again = await adapter.attach_to_session("own-0")
            assert again.session_id == session.session_id, "a second writer would spoil the agent's session"
            assert (await adapter.attach_to_session(session.session_id)).session_id == session.session_id

    run(scenario())


def test_where_the_agent_only_resumes_the_session_goes_on_without_its_history(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", "resume")) as line:
            session = await line.adapter("puppet").attach_to_session("own-0")
            events = await history(session)
            assert said(events, "user") == []
            assert [event.meta["how"] for event in events if kind_of(event) == "session:resumed"] == ["resumed"]

    run(scenario())


def test_what_cannot_be_joined_says_why_and_leaves_no_session_behind(tmp_path: Path) -> None:
    async def scenario() -> None:
        neither = store(tmp_path, "list", name="neither.json")
        refusing = store(tmp_path, "list", "load", history=None, name="refusing.json")
        async with library(tmp_path, neither=neither, refusing=refusing) as line:
            with pytest.raises(Unsupported, match="can neither load nor resume"):
                await line.adapter("neither").attach_to_session("own-0")
            with pytest.raises(NotFound, match="has no session own-7"):
                await line.adapter("refusing").attach_to_session("own-7")
            assert names(await line.adapter("neither").discover_sessions()) == ["own-0"]
            with pytest.raises(Unsupported, match="keeps no files that we can read"):
                await line.adapter("refusing").attach_to_session("own-0", watch=True)

    run(scenario())


def test_an_agent_that_refuses_its_own_session_is_told_as_it_said_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        command = store(tmp_path, "list", "load")
        path = tmp_path / "store.json"
        path.write_text(path.read_text().replace('"history": {"own-0"', '"history": {"other"'))
        async with library(tmp_path, puppet=command) as line:
            with pytest.raises(AgentError, match="refused session/load: no such session"):
                await line.adapter("puppet").attach_to_session("own-0")

    run(scenario())


def test_two_who_attach_at_once_get_one_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "list", "load")) as line:
            adapters = [line.adapter("puppet"), line.adapter("puppet")]
            one, two = await asyncio.gather(*(adapter.attach_to_session("own-0") for adapter in adapters))
            assert one.session_id == two.session_id

    run(scenario())


def test_a_long_replay_is_taken_whole(tmp_path: Path) -> None:
    long = [{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": f"{number} " + "x" * 200}}
            for number in range(3000)]

    async def scenario() -> None:
        async with library(tmp_path, tmp_path / "data", puppet=store(tmp_path, "list", "load", history=long)) as line:
            events = await history(await line.adapter("puppet").attach_to_session("own-0"))
            assert types_of(events).count("message:delta") == 3000
            assert [event.seq for event in events] == list(range(1, len(events) + 1))

    run(scenario(), 60)


def test_a_started_session_answers_its_prompt(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            options = StartSessionOptions(project_path=str(tmp_path), prompt="/echo hello there")
            session = await line.adapter("demo-fast").start_session(options)
            events = await until(session, "message:complete", 2)
            assert said(events, "assistant") == ["hello there"]
            assert session.capabilities.agent.version

    run(scenario())


def test_a_model_that_cannot_be_chosen_is_refused_and_no_session_is_left(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, puppet=store(tmp_path, "resume")) as line:
            adapter = line.adapter("puppet")
            options = StartSessionOptions(project_path=str(tmp_path), prompt="[]", model="best")
            with pytest.raises(Unsupported, match="no option to choose its model"):
                await adapter.start_session(options)
            assert await adapter.discover_sessions() == []

    run(scenario())


def test_agent_options_are_set_before_the_prompt(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            wanted = msgspec.Raw(b'{"mode":"plan"}')
            options = StartSessionOptions(project_path=str(tmp_path), prompt="/echo hi", agent_options=wanted)
            session = await line.adapter("demo-fast").start_session(options)
            events = await until(session, "message:complete", 2)
            mode = next(index for index, event in enumerate(events) if kind_of(event) == "progress:plan_mode")
            assert events[mode].active and mode < types_of(events).index("message:start")

    run(scenario())


def test_a_watcher_hears_of_sessions_that_come_change_and_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            adapter: CatalogAdapter = line.adapter("demo-fast")
            heard: asyncio.Queue[SessionDiscoveryEvent] = asyncio.Queue()
            stop = adapter.watch_sessions(heard.put_nowait)
            await asyncio.sleep(0)
            options = StartSessionOptions(project_path=str(tmp_path), prompt="/echo one")
            session = await adapter.start_session(options)
            created = await heard.get()
            assert created == SessionDiscoveryEvent(type="session_created", session_id=session.session_id, agent="demo-fast")
            await until(session, "message:complete", 2)
            await session.execute(SendMessageCommand(message="/echo two"))
            while (await heard.get()).type != "session_updated":
                continue
            await line.delete(session.session_id)
            while (await heard.get()).type != "session_removed":
                continue
            stop()
            stop()

    run(scenario())


def test_history_is_the_same_for_who_was_there_and_who_came_later(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            adapter = line.adapter("demo-fast")
            session = await adapter.start_session(StartSessionOptions(project_path=str(tmp_path), prompt="/echo one"))
            heard: list[Any] = []
            session.on_event(heard.append)
            joined = (await history(session))[-1].seq
            await until(session, "message:complete", 2)
            await until(session, "session:status_changed", 3)
            whole = await history(session)
            while len(heard) < len(whole) - joined:  # noqa: ASYNC110 - the listener has no event for "all of it"
                await asyncio.sleep(0)
            assert [event.seq for event in heard] == list(range(heard[0].seq, heard[0].seq + len(heard)))
            assert [event.seq for event in whole] == list(range(1, len(whole) + 1))
            await session.detach()
            count = len(heard)
            later = await adapter.attach_to_session(session.session_id)
            await later.execute(SendMessageCommand(message="/echo two"))
            await until(later, "message:complete", 4)
            assert len(heard) == count, "who let go is called no more, and the agent goes on"

    run(scenario())


def test_who_comes_later_can_ask_for_what_came_before(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            session = await line.adapter("demo-fast").start_session(StartSessionOptions(
                project_path=str(tmp_path), prompt="hello"))
            before = await until(session, "message:complete", 2)
            heard: list[Any] = []
            all_heard = asyncio.Event()

            def hear(event: Any) -> None:
                heard.append(event)
                if len(heard) >= len(before):
                    all_heard.set()

            session.on_event(hear, after=0)
            await all_heard.wait()
            assert [event.type for event in heard[:len(before)]] == types_of(before)
            assert heard[0].type and "message:complete" in [event.type for event in heard]

    run(scenario())


def test_a_session_has_the_capabilities_that_it_has_shown(tmp_path: Path) -> None:
    fold = Fold(session_id="s", agent="x", cwd="/", created_at=0, updated_at=0)
    told = Interpreter(fold)
    spec = adhoc("x", "x")
    assert not session_capabilities(spec, fold).features.approval.tool_calls
    ask = PermissionAsk("r", b'{"toolCallId":"c","title":"x"}', (PermissionOption("a", "Allow", "allow_once"),))
    told.at(1).on_signals([ask])
    told.at(2).usage.tokens(TokenUsage(input_tokens=1, output_tokens=1))
    found = session_capabilities(spec, restore(checkpoint(fold))).features
    assert found.approval.tool_calls and found.resources.token_usage and not found.git


def test_a_listener_that_fails_hurts_nobody_else(tmp_path: Path) -> None:
    async def scenario() -> None:
        reported: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, told: reported.append(told["message"]))

        def fails(event: object) -> None:
            raise RuntimeError("my fault")

        async with library(tmp_path) as line:
            session = await line.adapter("demo-fast").start_session(
                StartSessionOptions(project_path=str(tmp_path), prompt="/echo one"))
            session.on_event(fails)
            events = await until(session, "message:complete", 2)
            assert said(events, "assistant") == ["one"]
        assert set(reported) == {"an event callback failed"}

    run(scenario())


def test_the_history_used_in_these_tests_has_both_sides() -> None:
    assert {update["sessionUpdate"] for update in HISTORY} == {"user_message_chunk", "agent_message_chunk", "tool_call"}
