"""What agents have the hub do, and what was approved of it before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.session.script import Stage, update
from trunkline.dialects.signals import Update
from trunkline.errors import Forbidden
from trunkline.session.commands.requests import Decision
from trunkline.session.fold import ApprovalView


async def write(stage: Stage, path: str = "a.txt", content: str = "new\n") -> str:
    async with stage.session.agent.permits.write(path, content):
        return "written"


async def execute(stage: Stage, command: str, *args: str, **env: str) -> str:
    async with stage.session.agent.permits.run(command, args, None, env):
        return "ran"


def writing(path: str, text: str = "new\n", **more: Any) -> dict[str, Any]:
    """An ask for a write that shows what would be written."""
    return {"kind": "edit", "rawInput": {}, "content": [{"type": "diff", "path": path, "newText": text}], **more}


async def until(happened: Callable[[], bool]) -> None:
    """Let others run until something is so."""
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110  # what is looked at has no event
            await asyncio.sleep(0)


async def approved(stage: Stage, *asks: dict[str, Any]) -> ApprovalView:
    """A turn in which these tool calls were asked for and approved; the first as it was asked."""
    await stage.send()
    for number, call in enumerate(asks):
        stage.driver.ask(f"req-a{number}", toolCallId=f"call-{number}", **call)
    await stage.packets("approval_requested", len(asks))
    first = stage.session.view().pending_approvals[0]
    for number in range(len(asks)):
        await stage.session.approvals.decide(f"req-a{number}", Decision(decision="allow"), by="ann")
    return first


async def refused(stage: Stage, act: Any) -> None:
    """The act is asked about, and not done when the turn is cancelled."""
    asking = asyncio.create_task(act)
    await stage.until(lambda: bool(stage.session.view().pending_approvals) or asking.done())
    assert not asking.done()
    (view,) = stage.session.view().pending_approvals
    await stage.session.approvals.decide(view.request_id, Decision(decision="deny"), by="ann")
    with pytest.raises(Forbidden):
        await asking


def changing(*diffs: tuple[str, str | None, str], **more: Any) -> dict[str, Any]:
    """A call that shows changes of files."""
    return {"kind": "edit", "rawInput": {}, **more, "content": [
        {"type": "diff", "path": path, "oldText": old, "newText": new} for path, old, new in diffs]}


def told_in_words(number: int, name: str, arguments: str, **more: Any) -> list[Update]:
    """A call whose arguments are told as a text while they stream, and whose ask says the rest in a sentence."""
    told = {"type": "content", "content": {"type": "text", "text": arguments}}
    return [update(sessionUpdate="tool_call", toolCallId=f"call-{number}", title=name, status="pending", **more),
            update(sessionUpdate="tool_call_update", toolCallId=f"call-{number}", status="in_progress", content=[told])]
