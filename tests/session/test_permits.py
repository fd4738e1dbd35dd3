"""What an agent has the hub do passes the same rules as its own tools."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.aio import run
from tests.session.script import Stage, update
from trunkline.errors import Forbidden
from trunkline.session.approvals import Decision
from trunkline.session.policy import Rule


async def write(stage: Stage, path: str = "a.txt", content: str = "new\n") -> str:
    async with stage.session.permits.write(path, content):
        return "written"


async def execute(stage: Stage, command: str, *args: str) -> str:
    async with stage.session.permits.run(command, args, None, {}):
        return "ran"


def test_a_write_that_nobody_asked_about_is_asked_about_with_a_diff_and_told_as_a_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        (tmp_path / "a.txt").write_text("old\n")
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.preview is not None and "-old" in view.preview.diff and "+new" in view.preview.diff  # type: ignore[union-attr]
        assert not writing.done()
        await session.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        await session.snapshot()
        types = await stage.types()
        assert types.index("tool:start") < types.index("approval:requested") < types.index("tool:result")
        assert stage.driver.told_of("permission") == [], "the agent did not ask"

    run(scenario())


def test_a_denied_write_is_forbidden_and_its_call_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        await session.decide(view.request_id, Decision(decision="deny"), by="ann")
        with pytest.raises(Forbidden, match="not approved"):
            await writing
        stage.driver.end()
        await stage.packets("prompt_response")
        assert "tool:error" in await stage.types()

    run(scenario())


def test_what_was_approved_as_a_tool_call_is_not_asked_about_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.ask("req-1", kind="edit", rawInput={}, locations=[{"path": str(tmp_path / "a.txt")}])
        stage.driver.ask("req-2", toolCallId="call-2", rawInput={"command": "make all"})
        await stage.packets("approval_requested", 2)
        for request_id in ("req-1", "req-2"):
            await session.decide(request_id, Decision(decision="allow"), by="ann")
        assert await write(stage) == "written"
        assert await execute(stage, "make", "all") == "ran"
        assert await execute(stage, "bash", "-c", "make all") == "ran"
        asking = asyncio.create_task(execute(stage, "make", "all", "install"))
        await stage.packets("approval_requested", 3)
        assert not asking.done(), "another command than the approved one"
        await session.cancel(by="ann")
        with pytest.raises(Forbidden):
            await asking

    run(scenario())


@pytest.mark.parametrize(("action", "outcome"), [("allow", "written"), ("deny", None)])
def test_a_rule_decides_without_asking(tmp_path: Path, action: Any, outcome: str | None) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        session.fold.rules.append(Rule(action=action, path=["*.txt"], reason="because"))
        await stage.send()
        if outcome is not None:
            assert await write(stage) == outcome
        else:
            with pytest.raises(Forbidden, match="because"):
                await write(stage)
        assert "approval:requested" not in await stage.types()

    run(scenario())


def test_a_write_outside_the_roots_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        await stage.open()
        await stage.send()
        with pytest.raises(Forbidden, match="outside"):
            await write(stage, "../elsewhere.txt")
        assert "approval:requested" not in await stage.types()

    run(scenario())


def test_an_open_call_of_the_agent_is_the_one_that_is_asked_about(tmp_path: Path) -> None:
    async def scenario() -> None:
        stage = Stage(tmp_path)
        session = await stage.open()
        await stage.send()
        stage.driver.say(update(sessionUpdate="tool_call", toolCallId="mine", title="Edit", kind="edit", status="in_progress",
                                locations=[{"path": "a.txt"}], rawInput={"path": "a.txt"}))
        writing = asyncio.create_task(write(stage))
        await stage.packets("approval_requested")
        (view,) = session.view().pending_approvals
        assert view.tool_call_id == "mine"
        await session.decide(view.request_id, Decision(decision="allow"), by="ann")
        assert await writing == "written"
        assert (await stage.types()).count("tool:start") == 1

    run(scenario())
