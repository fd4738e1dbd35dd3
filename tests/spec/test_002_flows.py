"""Seed 002, the Agent Context Protocol: the two flows it draws, played with the demo agent and no server."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import trunkline
from tests.aio import run
from tests.spec import seeds
from tests.spec.typescript import snake
from trunkline.adapters import CatalogAdapter, HubSession
from trunkline.adapters.library import Library
from trunkline.dialects.context.commands import ApproveToolCallCommand, Command, DenyToolCallCommand, TerminateCommand
from trunkline.dialects.context.contract import ACPAdapter, ACPSession
from trunkline.dialects.context.envelope import UnknownEvent
from trunkline.dialects.context.events import (
    ApprovalRequestedEvent,
    ApprovalResolvedEvent,
    Event,
    EventBase,
    SessionStatusChangedEvent,
    ToolCallErrorEvent,
    ToolCallExecutingEvent,
    ToolCallResultEvent,
)
from trunkline.dialects.context.types import StartSessionOptions
from trunkline.dialects.context.versions import ACP_VERSION

LIFECYCLE = "002/protocol-flow/typical-session-lifecycle/code:1"
APPROVAL = "002/protocol-flow/tool-approval-flow/code:1"
EVENT = re.compile(r"\b[a-z]+:[a-z_]+\b")

EventT = TypeVar("EventT", bound=EventBase)


class Listener:
    """Everything a session has said, by number, and a way to wait for more."""

    def __init__(self) -> None:
        self.events: dict[int, Event | UnknownEvent] = {}
        self._news = asyncio.Event()

    def __call__(self, event: Event | UnknownEvent) -> None:
        self.events[event.seq] = event
        self._news.set()

    def types(self) -> list[str]:
        return [str(type(event).__struct_config__.tag) for _, event in sorted(self.events.items())]

    async def until(self, kind: type[EventT], met: Callable[[EventT], bool] = lambda _: True) -> EventT:
        """The first event of a kind for which something holds, as soon as it is there."""
        while True:
            for _, event in sorted(self.events.items()):
                if isinstance(event, kind) and met(event):
                    return event
            self._news.clear()
            await self._news.wait()


async def started(library: Library, folder: Path, prompt: str) -> tuple[ACPSession, Listener]:
    """A session of the demo agent with its first prompt, listened to from its first event on."""
    options = StartSessionOptions(project_path=str(folder), prompt=prompt)
    session = await library.adapter("demo").start_session(options)
    listener = Listener()
    session.on_event(listener)
    for event in await session.get_history():
        listener(event)
    return session, listener


def in_order(wanted: list[str], told: list[str]) -> bool:
    """Whether all of these were told, one after another, whatever came between."""
    rest = iter(told)
    return all(name in rest for name in wanted)


def test_every_agent_of_the_catalog_keeps_the_two_contracts(tmp_path: Path) -> None:
    for protocol, ours in ((ACPAdapter, CatalogAdapter), (ACPSession, HubSession)):
        for name, member in vars(protocol).items():
            if not inspect.isfunction(member) or name.startswith("_"):
                continue
            mine = getattr(ours, name)
            assert inspect.iscoroutinefunction(mine) == inspect.iscoroutinefunction(member), name
            inspect.signature(mine).bind(*inspect.signature(member).parameters)

    async def look() -> None:
        async with trunkline.open() as library:
            assert all(isinstance(adapter, ACPAdapter) for adapter in library.adapters)
            session, _ = await started(library, tmp_path, "hello")
            assert isinstance(session, ACPSession)

    run(look())


def test_a_session_lives_as_the_picture_says(tmp_path: Path) -> None:
    picture = seeds.code(LIFECYCLE)
    calls = [snake(name) for name in re.findall(r"(?:adapter|session)\.(\w+)\(", picture)]
    assert calls == ["is_installed", "get_capabilities", "discover_sessions", "attach_to_session", "start_session", "on_event",
                     "execute", "detach"]

    async def live() -> list[str]:
        async with trunkline.open() as library:
            adapter = library.adapter("demo")
            assert await adapter.is_installed()
            assert adapter.get_capabilities().protocol_version == ACP_VERSION
            assert await adapter.discover_sessions() == []
            session, listener = await started(library, tmp_path, "/ask")
            asked = await listener.until(ApprovalRequestedEvent)
            await session.execute(ApproveToolCallCommand(request_id=asked.request_id, tool_call_id=asked.tool_call_id))
            await listener.until(SessionStatusChangedEvent, lambda change: change.seq > asked.seq and change.to == "idle")
            assert [found.id for found in await adapter.discover_sessions()] == [session.session_id]
            again = await adapter.attach_to_session(session.session_id)
            await session.detach()
            await again.execute(TerminateCommand())
            return [str(type(event).__struct_config__.tag) for event in await again.get_history()]

    told = run(live())
    flow = picture.partition("Events flow:")[2]
    drawn = [line for line in map(EVENT.findall, flow.splitlines()) if line]
    for line in drawn:
        assert in_order([name for name in line if name != "resource:token_usage"], told), line
    assert in_order(["session:started", "message:start", "message:complete", "session:completed"], told)


def test_an_approval_goes_as_the_picture_says(tmp_path: Path) -> None:
    before, _, after = seeds.code(APPROVAL).partition("User reviews")
    asking = [name for name in EVENT.findall(before) if name != "tool:args_delta"]  # only where an agent streams its arguments
    assert EVENT.findall(after) == ["approval:resolved", "tool:result", "tool:error"]

    async def answer(allow: bool) -> list[str]:
        async with trunkline.open() as library:
            session, listener = await started(library, tmp_path, "/ask")
            asked = await listener.until(ApprovalRequestedEvent)
            request, call = asked.request_id, asked.tool_call_id
            command: Command = ApproveToolCallCommand(request_id=request, tool_call_id=call)
            if not allow:
                command = DenyToolCallCommand(request_id=request, tool_call_id=call, reason="no")
            executing = await listener.until(ToolCallExecutingEvent)
            assert executing.requires_approval and asked.preview
            await session.execute(command)
            resolved = await listener.until(ApprovalResolvedEvent)
            assert (resolved.approved, resolved.resolved_by) == (allow, "user")
            await listener.until(ToolCallResultEvent if allow else ToolCallErrorEvent)
            return listener.types()

    assert in_order([*asking, "approval:resolved", "tool:result"], run(answer(True)))
    assert in_order([*asking, "approval:resolved", "tool:error"], run(answer(False)))
