"""Sessions that other programs wrote, of all agents in one list, and news of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.tooling.stores import STORES, Made
from trunkline.adapters import found
from trunkline.adapters.catalog_adapter import hub_adapters
from trunkline.adapters.found import FoundSessions, found_sessions
from trunkline.hub import Hub, HubOptions


@asynccontextmanager
async def hub_at(home: Path) -> AsyncIterator[Hub]:
    """A hub on a machine with that home and no agents."""
    async with Hub(HubOptions(data=home / "data", store="memory:"), environ={"HOME": str(home), "PATH": str(home)}) as hub:
        yield hub
        found_sessions(hub).close()


def stores(home: Path) -> dict[str, Made]:
    return {name: make(home) for name, make in STORES.items()}


def test_the_sessions_of_all_stores_are_one_list_newest_first(tmp_path: Path) -> None:
    made = stores(tmp_path)
    os.utime(made["qwen"].file, (4_000_000_000, 4_000_000_000))
    program = tmp_path / "codex-acp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    async def scenario() -> None:
        async with hub_at(tmp_path) as hub:
            listed = await found_sessions(hub).listed()
            assert {(view.agent, view.id) for view in listed} == {(each.agent, each.session_id) for each in made.values()}
            assert listed[0].agent == "qwen" and [view.updated_at for view in listed] == sorted(
                (view.updated_at for view in listed), reverse=True)
            assert {(view.where, view.cwd, view.project, view.running) for view in listed} == {
                ("elsewhere", "/home/dev/project", "project", False)}
            assert all(view.model and view.tokens and view.title and view.last_text for view in listed)
            assert len(await found_sessions(hub).listed(limit=2)) == 2
            assert [view.agent for view in await found_sessions(hub).listed(agent="gemini")] == ["gemini"]
            assert [view.agent for view in await found_sessions(hub).listed(text="FAKE title")] == ["codex-acp"]
            await hub_adapters(hub)["gemini"].attach_to_session(made["gemini"].session_id)
            assert "gemini" not in [view.agent for view in await found_sessions(hub).listed()], "it is the hub's now"

    run(scenario())


def test_a_session_that_begins_is_news_within_a_moment_and_nothing_runs_when_nobody_asks(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "LINGER_S", 0.05)
    made = STORES["qwen"](tmp_path)
    other = made.file.with_name("11111111-e665-46b8-9d06-928ca5b2b767.jsonl")

    async def scenario() -> None:
        async with hub_at(tmp_path) as hub:
            sessions = found_sessions(hub)
            waiting = asyncio.ensure_future(sessions.wait(sessions.revision, 60))
            loop = asyncio.get_running_loop()
            while sessions.revision == 1:  # until the watch is on
                made.file.touch()
                await asyncio.sleep(0.02)
            await waiting
            assert len(await sessions.listed()) == 1
            revision, began = sessions.revision, loop.time()
            other.write_bytes(made.file.read_bytes())
            while len(await sessions.listed()) == 1:
                await sessions.wait(revision, 60)
                revision = sessions.revision
            assert loop.time() - began < 30
            await eventually(lambda: not sessions._watches)

    run(scenario())


def test_who_waits_is_answered_when_time_is_up_and_when_a_program_has_ended(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "SLICE_S", 0.01)
    monkeypatch.setattr(found, "SETTLE_S", 60)
    made = STORES["copilot"](tmp_path)
    lock = made.file.with_name(f"inuse.{os.getpid()}.lock")
    lock.touch()

    async def scenario() -> None:
        async with hub_at(tmp_path) as hub:
            sessions = FoundSessions(hub)
            (view,) = await sessions.listed()
            assert (view.running, view.pid) == (True, os.getpid())
            await sessions.wait(sessions.revision, 0.05)
            assert sessions.revision == 1
            monkeypatch.setattr(found, "is_running", lambda pid: False)
            await sessions.wait(1, 60)
            assert sessions.revision == 2
            sessions.close()

    run(scenario())


def test_agents_that_share_their_files_are_looked_at_once_and_the_installed_one_has_them(tmp_path: Path) -> None:
    made = STORES["codex"](tmp_path)
    package = tmp_path / "@zed-industries"
    package.mkdir()
    (package / "codex-acp").write_text("#!/bin/sh\n")
    (package / "codex-acp").chmod(0o755)

    async def agents(path: Path) -> list[str]:
        options = HubOptions(data=tmp_path / "data", store="memory:")
        async with Hub(options, environ={"HOME": str(tmp_path), "PATH": str(path)}) as hub:
            return [view.agent for view in await found_sessions(hub).listed()]

    assert made.agent == "codex-acp"
    assert run(agents(tmp_path)) == ["codex-acp"]
    assert run(agents(package)) == ["codex-acp-zed"]
