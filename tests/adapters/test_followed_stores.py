"""Sessions that other programs wrote, one test for every store: found, joined, followed, and their history the same each time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.adapters.agents import library
from tests.adapters.test_catalog_adapter import history, kind_of, said, until
from tests.aio import run
from tests.tooling.stores import STORES, Made, state_of
from trunkline.adapters import Library
from trunkline.agents.catalog.features import flags_of
from trunkline.errors import Unsupported

OURS = ("session:resumed", "environment:info")
"""What the hub says of itself when it begins to follow."""
PROMPTS = {"codex": ["run: touch a1"], "opencode": ["run: touch a1"], "gemini": ["run: touch x1"],
           "qwen": ["run: touch a1", "run: touch d1"], "copilot": ["run: touch t120"], "goose": ["run: touch a1"]}


def at_home(tmp_path: Path, data_dir: Path | None = None) -> Library:
    """A library on a machine that has the files, and no agent."""
    return library(tmp_path, data_dir, {"PATH": str(tmp_path)})


@pytest.fixture(params=sorted(STORES))
def vendor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def made(tmp_path: Path, vendor: str) -> Made:
    return STORES[vendor](tmp_path / "home")


def test_a_session_is_found_and_joined_where_no_agent_is_installed(tmp_path: Path, made: Made, vendor: str) -> None:
    before = state_of(tmp_path / "home")

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            (found,) = await line.adapter(made.agent).discover_sessions()
            assert (found.id, found.project_path, found.agent) == (made.session_id, "/home/dev/project", made.agent)
            assert found.created_at <= found.last_activity and found.session_name
            session = await line.adapter(made.agent).attach_to_session(made.session_id)
            events = await history(session)
            assert said(events, "user") == PROMPTS[vendor]
            assert "Done." in said(events, "assistant")
            kinds = [kind_of(event) for event in events]
            assert kinds.count("tool:start") == kinds.count("tool:result") >= 1
            assert "resource:token_usage" in kinds
            assert {event.timestamp[:10] for event in events if kind_of(event) == "message:start"} == {"2026-11-16"}
            assert session.capabilities.agent.integration_method == "file-watch"
            flags = flags_of(session.capabilities.features)
            assert "resources.tokenUsage" in flags and not {flag for flag in flags if flag.startswith(("approval", "session"))}

    run(scenario())
    assert state_of(tmp_path / "home") == before, "nothing of it was written"


def test_its_history_has_the_same_numbers_and_times_whenever_it_is_joined(tmp_path: Path, made: Made) -> None:
    async def scenario() -> None:
        told: list[list[bytes]] = []
        for _ in range(2):
            async with at_home(tmp_path) as line:
                session = await line.adapter(made.agent).attach_to_session(made.session_id)
                again = await line.adapter(made.agent).attach_to_session(made.session_id)
                assert again.session_id == session.session_id
                told.append([_bare(event) for event in await history(session) if kind_of(event) not in OURS])
        assert told[0] == told[1] and len(told[0]) > 8

    run(scenario())


def test_after_a_restart_nothing_is_told_twice(tmp_path: Path, made: Made) -> None:
    async def scenario() -> None:
        async with at_home(tmp_path, tmp_path / "data") as line:
            session = await line.adapter(made.agent).attach_to_session(made.session_id)
            before = await history(session)
        async with at_home(tmp_path, tmp_path / "data") as line:
            session = await line.adapter(made.agent).attach_to_session(made.session_id)
            await session.refresh()
            await asyncio.sleep(0)
            after = await history(session)
            assert said(after, "user") == said(before, "user") and said(after, "assistant") == said(before, "assistant")
            for kind in ("tool:start", "tool:result", "resource:token_usage"):
                assert _count(after, kind) == _count(before, kind)

    run(scenario())


@pytest.mark.parametrize("vendor", [name for name in sorted(STORES) if name not in ("opencode", "goose")], indirect=True)
def test_what_its_program_writes_is_told_as_it_comes(tmp_path: Path, made: Made) -> None:
    lines = made.file.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b"I will use a tool." in line)
    made.file.write_bytes(b"".join(lines[:first + 1]))

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            session = await line.adapter(made.agent).attach_to_session(made.session_id)
            assert "Done." not in said(await history(session), "assistant")
            for each in lines[first + 1:]:
                with made.file.open("ab") as file:
                    file.write(each[:20])
                    file.flush()
                    file.write(each[20:])
            events = await until(session, "tool:result", 1)
            while "Done." not in said(events, "assistant"):
                await asyncio.sleep(0.02)
                events = await history(session)
            kinds = [kind_of(event) for event in events]
            assert kinds.count("tool:start") == kinds.count("tool:result") == 1
            assert said(events, "user")[0].startswith("run: touch")

    run(scenario())


def test_a_session_that_its_own_program_would_delete_is_followed_and_never_resumed(tmp_path: Path) -> None:
    made = STORES["gemini"](tmp_path / "home")
    started = tmp_path / "started"
    program = tmp_path / "gemini"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)

    async def scenario() -> None:
        async with at_home(tmp_path) as line:
            adapter = line.adapter(made.agent)
            assert await adapter.is_installed()
            with pytest.raises(Unsupported, match="may delete"):
                await adapter.attach_to_session(made.session_id, watch=False)
            session = await adapter.attach_to_session(made.session_id)
            assert session.capabilities.agent.integration_method == "file-watch"

    run(scenario())
    assert not started.exists()


def _count(events: list[object], kind: str) -> int:
    return [kind_of(event) for event in events].count(kind)


def _bare(event: object) -> bytes:
    """An event without what is made up anew: the hub's ids."""
    encoded = msgspec.json.decode(msgspec.json.encode(event))
    return msgspec.json.encode({key: encoded.get(key) for key in ("type", "timestamp", "seq", "text", "delta", "toolCallId")})
