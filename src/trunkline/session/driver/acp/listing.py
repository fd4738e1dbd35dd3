"""What sessions an agent has of its own: ``session/list``, asked of a running agent or of one that is started for the question.

Rule 1: only an agent that offers the method is asked; one that does not has nothing to say, which is no error.
Rule 2: an agent that is started only to be asked is on record like any other, answers nothing of ours and is gone afterwards.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline import decoders
from trunkline.agents.pid_files import PidFiles
from trunkline.agents.process import Exit
from trunkline.dialects.acp.methods import SESSION_LIST
from trunkline.dialects.acp.reading.decode import decode_result
from trunkline.dialects.acp.sessions import ListSessionsResponse
from trunkline.dialects.outside import BROKEN
from trunkline.dialects.signals import Signal
from trunkline.errors import AgentError, Unsupported
from trunkline.session.driver.base import AgentSession, Serving
from trunkline.threads import Lane

if TYPE_CHECKING:
    from trunkline.session.driver.acp.driver import AcpDriver

LISTED_MOST = 5_000
"""Sessions taken from one agent; some keep every session they ever had."""

PAGES_MOST = 200
"""An agent that always names a next page would be asked for ever."""

AgentCall = Callable[[str, dict[str, Any]], Awaitable[msgspec.Raw | None]]
"""Sends one request and waits for its result, for a bounded time."""


log = logging.getLogger("trunkline.session")


class _Extra(msgspec.Struct, rename="camel"):
    """What some agents add to a session in their list; the protocol has no time of creation."""

    created_at: Any = None


class _Stamped(msgspec.Struct, rename="camel"):
    session_id: Any = None
    meta: _Extra | None = msgspec.field(default=None, name="_meta")


class _Page(msgspec.Struct):
    sessions: list[_Stamped] = []


async def list_sessions(ask: AgentCall, folders: Sequence[str] = ()) -> list[AgentSession]:
    """Every session that the agent lists, and every one that it lists only when its folder is named; each once."""
    found = await _pages(ask, {})
    for folder in folders:
        try:
            found = {**await _pages(ask, {"cwd": folder}), **found}
        except AgentError as error:
            log.info("the sessions of %s could not be listed: %s", folder, error.message)
    return list(found.values())


async def _pages(ask: AgentCall, params: dict[str, Any]) -> dict[str, AgentSession]:
    found: dict[str, AgentSession] = {}
    cursors: set[str] = set()
    while len(found) < LISTED_MOST and len(cursors) < PAGES_MOST:
        result = await ask(SESSION_LIST, params)
        page: ListSessionsResponse = decode_result(SESSION_LIST, result)
        born = _created(bytes(result) if result is not None else b"{}")
        for info in page.sessions:
            found.setdefault(info.session_id, AgentSession(
                session_id=info.session_id, cwd=info.cwd, title=info.title, updated_at=info.updated_at,
                created_at=born.get(info.session_id)))
        if not page.next_cursor or page.next_cursor in cursors:
            break
        cursors.add(page.next_cursor)
        params = {**params, "cursor": page.next_cursor}
    return found


def _created(page: bytes) -> dict[str, str]:
    try:
        stamped = decoders.decode(page, _Page).sessions
    except BROKEN:
        return {}
    return {each.session_id: each.meta.created_at for each in stamped
            if each.meta is not None and isinstance(each.session_id, str) and isinstance(each.meta.created_at, str)}


class NoCalls:
    """Serves an agent nothing: it was started to answer, not to ask."""

    def accept(self, method: str, params: bytes, check_caller: Callable[[str], None]) -> Serving:
        """Refuse it, when its turn comes."""
        async def refuse() -> bytes:
            raise Unsupported(f"{method} is not served to an agent that only lists its sessions")

        return refuse

    def turn_began(self) -> None:
        """There are no turns."""

    def turn_cancelled(self, *, ended: bool = False) -> list[Coroutine[Any, Any, Any]]:
        """There are no turns."""
        return []

    def turn_ended(self) -> None:
        """There are no turns."""

    async def close(self) -> None:
        """Nothing was served."""


class Inquiry:
    """The sink of an agent that was started for one question: what it says unasked is nobody's news."""

    def __init__(self, key: str, pids: PidFiles) -> None:
        self._key = key
        self._pids = pids

    async def spawned(self, pid: int, start_time: int | None, marker: str) -> None:
        """The process runs: whoever comes after a crash must be able to end it."""
        await asyncio.to_thread(self._pids.record_agent, self._key, pid, start_time, marker)

    def on_signals(self, signals: list[Signal]) -> None:
        """There is no session that this could belong to."""

    def text_run(self, update: bytes) -> None:
        """Nothing is taken here."""

    def exited(self, exit: Exit, stderr: str) -> None:
        """Whoever asked learns of it by the failed call."""

    async def over(self) -> None:
        """The process is gone."""
        await asyncio.to_thread(self._pids.forget, self._key)


async def ask_for_sessions(make_driver: Callable[[str, Inquiry], AcpDriver], inquiry: Inquiry,
                           folders: Sequence[str]) -> list[AgentSession]:
    """Start an agent in an empty folder, ask for its sessions, end it."""
    lane = Lane(1)
    folder = await lane.run(tempfile.mkdtemp, prefix="trunkline-list-")
    driver = make_driver(folder, inquiry)
    try:
        await driver.greet()
        return await driver.list_sessions(folders)
    finally:
        await asyncio.shield(_end(driver, inquiry, lane, folder))


async def _end(driver: AcpDriver, inquiry: Inquiry, lane: Lane, folder: str) -> None:
    try:
        await driver.stop()
        await inquiry.over()
    finally:
        await lane.run(shutil.rmtree, folder, ignore_errors=True)
