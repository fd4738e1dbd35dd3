"""A hub inside a program: what it leaves behind, what it loads, and who else may have the same folder."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trunkline
from tests.adapters.agents import library, options
from tests.adapters.test_catalog_adapter import history, said, until
from tests.aio import run
from tests.tooling.processes import processes_with
from trunkline.errors import HubLocked, HubStopping, Invalid, SessionNotFound

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "adapters.md"


def test_the_example_of_the_documentation_runs_and_loads_no_server(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    assert found is not None
    check = "import sys\nassert not {'trunkline.server', 'starlette', 'uvicorn', 'watchfiles'} & {*sys.modules}\n"
    program = found[1].replace('"/tmp"', repr(str(tmp_path))) + check
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.strip()


def test_in_memory_nothing_is_left_neither_files_nor_processes(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()

    async def scenario() -> str:
        async with library(tmp_path) as line:
            session = await line.adapter("demo-fast").start_session(options(work, "/echo hi"))
            await until(session, "message:complete", 2)
            assert processes_with(f"HOME={tmp_path / 'home'}")
            return session.session_id

    run(scenario())
    assert processes_with(f"HOME={tmp_path / 'home'}") == []
    assert list(work.iterdir()) == []


def test_in_a_folder_sessions_last(tmp_path: Path) -> None:
    async def first() -> str:
        async with library(tmp_path, tmp_path / "data") as line:
            session = await line.adapter("demo-fast").start_session(options(tmp_path, "/echo hi"))
            await until(session, "session:status_changed", 3)
            return session.session_id

    async def second(session_id: str) -> None:
        async with library(tmp_path, tmp_path / "data") as line:
            adapter = line.adapter("demo-fast")
            assert [found.id for found in await adapter.discover_sessions()] == [session_id]
            session = await adapter.attach_to_session(session_id)
            assert said(await history(session), "assistant") == ["hi"]
            await line.delete(session_id)
            assert await adapter.discover_sessions() == []
            with pytest.raises(SessionNotFound):
                await line.delete(session_id)

    run(second(run(first())), 20)


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path, tmp_path / "data"):
            with pytest.raises(HubLocked, match=r"use trunkline\.client"):
                async with library(tmp_path, tmp_path / "data"):
                    raise AssertionError("two hubs on one folder")
        async with library(tmp_path, tmp_path / "data"):
            """It is free again."""

    run(scenario())


def test_whoever_fails_to_open_gives_the_folder_back(tmp_path: Path) -> None:
    (tmp_path / "data" / "journal.db").mkdir(parents=True)

    async def scenario() -> None:
        for _ in range(2):
            with pytest.raises(Exception, match=r"(?i)database|journal") as failed:
                async with trunkline.open(tmp_path / "data"):
                    raise AssertionError("it cannot be opened")
            assert not isinstance(failed.value, HubLocked)

    run(scenario())


def test_a_session_nobody_opened_cannot_be_deleted() -> None:
    with pytest.raises(SessionNotFound):
        asyncio.run(trunkline.open().delete("ses_x"))


@pytest.mark.parametrize("prompt", ["", "\ud800"])
def test_a_session_is_not_started_with_a_prompt_that_says_nothing(tmp_path: Path, prompt: str) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            with pytest.raises(Invalid, match="prompt"):
                await line.adapter("demo-fast").start_session(options(tmp_path, prompt))
            assert await line.adapter("demo-fast").discover_sessions() == []

    run(scenario())


def test_a_library_that_is_closed_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with library(tmp_path) as line:
            adapter = line.adapter("demo-fast")
        with pytest.raises(HubStopping):
            await adapter.discover_sessions()

    run(scenario())
