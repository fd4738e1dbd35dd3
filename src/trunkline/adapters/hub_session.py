"""A session of the hub as the Agent Context Protocol's session object.

Rule 1: a callback gets what is committed, in order, each event once; it is called on the hub's loop.
Rule 2: a callback that fails is reported to the loop and called again for the next event: one listener's fault is its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trunkline.adapters.base import LIBRARY, AnyEvent, Stop
from trunkline.adapters.capabilities import session_capabilities
from trunkline.agents.catalog import AgentSpec
from trunkline.dialects.context.capabilities import Capabilities
from trunkline.dialects.context.commands import Command, decode_command
from trunkline.dialects.context.envelope import decode_event
from trunkline.errors import Invalid
from trunkline.session.commands.refused import check_id

if TYPE_CHECKING:
    from trunkline.hub import Session


class HubSession:
    """Implements ``ACPSession`` on a session of the hub."""

    def __init__(self, session: Session, spec: AgentSpec) -> None:
        self._session = session
        self._spec = spec
        self._listening: set[asyncio.Task[None]] = set()

    @property
    def session_id(self) -> str:
        """The hub's id of the session."""
        return self._session.id

    @property
    def capabilities(self) -> Capabilities:
        """What works in this session."""
        return session_capabilities(self._spec, self._session.fold)

    def on_event(self, callback: Callable[[AnyEvent], None], *, after: int | None = None) -> Stop:
        """Call back for every event from now on, or for those after a number: ``after=0`` has all since the session's start."""
        start = self._session.feed.last_seq if after is None else after
        task = asyncio.get_running_loop().create_task(self._listen(callback, start))
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        return lambda: _cancel(task)

    async def execute(self, command: Command | Mapping[str, Any], *, command_id: str | None = None,
                      by: str = LIBRARY) -> None:
        """Carry out a command, given as itself or as the JSON object that it is; it is in the journal when this returns."""
        try:
            read = _command(command)
            if command_id is not None:
                check_id(command_id)
        except Invalid as error:
            await self._session.refused(_as_bytes(command), error, command_id=_shown_id(command_id), by=by)
            raise
        await self._session.execute(read, command_id=command_id, by=by)

    async def get_history(self) -> list[AnyEvent]:
        """Every event since the session's start."""
        feed, events = self._session.feed, list[AnyEvent]()
        after = 0
        while entries := await feed.read(after=after):
            events += [decode_event(entry.event) for entry in entries]
            after = entries[-1].seq
        return events

    async def refresh(self) -> None:
        """Look again for what the agent wrote; an agent that is driven reports by itself."""
        self._session.agent.look_again()

    async def detach(self) -> None:
        """Call nobody back any more. The agent goes on."""
        listening = list(self._listening)
        for task in listening:
            _cancel(task)
        await asyncio.gather(*listening, return_exceptions=True)

    async def _listen(self, callback: Callable[[AnyEvent], None], after: int) -> None:
        feed = self._session.feed
        while not feed.closed or feed.last_seq > after:
            await feed.wait(after)
            for entry in await feed.read(after=after):
                after = entry.seq
                _call(callback, decode_event(entry.event))


def _command(given: Command | Mapping[str, Any]) -> Command:
    """A command as it would have come by wire: a program can put into an object what no JSON holds."""
    try:
        body = msgspec.json.encode(given)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid(f"not a command: {error}") from error
    return decode_command(body)


def _as_bytes(given: object) -> bytes:
    """What was given, as far as it can be written down."""
    try:
        return repr(given).encode("utf-8", "replace")
    except RecursionError:
        return f"a {type(given).__name__} that is nested too deeply".encode()


def _shown_id(given: object) -> str | None:
    return None if given is None else str(given).encode("utf-8", "replace").decode()


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


def _call(callback: Callable[[AnyEvent], None], event: AnyEvent) -> None:
    try:
        callback(event)
    except Exception as error:  # a listener's boundary: the others, and its own next event, must not suffer
        asyncio.get_running_loop().call_exception_handler({"message": "an event callback failed", "exception": error})
