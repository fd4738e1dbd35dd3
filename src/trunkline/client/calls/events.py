"""Calls about events and commands: the Agent Context Protocol, over HTTP or the WebSocket."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import msgspec

from trunkline.client.calls.turns import new_key
from trunkline.client.http import JSON_BODY, HttpRequest, HubRequests, json_of, path_of, read
from trunkline.client.link import Link
from trunkline.client.records import ContextEvent
from trunkline.client.streams import Stream, event_failure
from trunkline.client.views import (
    CommandDone,
    EventPage,
    Snapshot,
)

_NOW = -1
"""The position of a stream that was not given where it begins: the hub sends it first."""


class EventCalls(HubRequests):
    """Events of a session or of all of them, and commands."""

    async def events(self, session_id: str, *, after: int = 0, types: str | None = None
                     ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(seq, event) after ``after``: first what is stored, then live, until the caller stops. ``types`` leaves others out."""
        async with aclosing(self._events(path_of("sessions", session_id, "events", types=types), after)) as stream:
            async for numbered in stream:
                yield numbered

    async def all_events(self, *, after: int | None = None, types: str | None = None
                         ) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        """(pos, event) of all sessions after a pos; without one, from now on."""
        async with aclosing(self._events(path_of("events", types=types), _NOW if after is None else after)) as stream:
            async for numbered in stream:
                yield numbered

    async def history(self, session_id: str, *, after: int | None = None, before: int | None = None, limit: int = 500,
                      types: str | None = None, joined: bool = False) -> EventPage:
        """Stored events, paged; with only ``before``, the last before it. ``joined``: a run of deltas is one event."""
        path = path_of("sessions", session_id, "history", after=after, before=before, limit=limit, types=types,
                       joined="true" if joined else None)
        return await self._get(path, EventPage)

    async def snapshot(self, session_id: str) -> Snapshot:
        """The state of a session and its seq: events after it are news."""
        return await self._get(path_of("sessions", session_id, "snapshot"), Snapshot)

    async def command(self, session_id: str, command: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Carry out a command such as ``{"command": "cancel"}``; returns what came of it. A retry never does it twice."""
        body = {"id": key or new_key(), "command": dict(command)}
        request = HttpRequest("POST", path_of("sessions", session_id, "commands"), json_of(body), JSON_BODY, repeats=True)
        return read(await self._ask(request), CommandDone).result

    def connect(self) -> Link:
        """A WebSocket to the hub that reconnects by itself; use as an async context manager."""
        return Link(self._pool, limit_s=self._reconnect_s, relocate=self._relocate)

    def _events(self, path: str, after: int) -> AsyncGenerator[tuple[int, ContextEvent], None]:
        request = HttpRequest("GET", path, headers=(("Accept", "text/event-stream"),))
        stream = Stream(self._pool, lambda seen: _from(request, seen), after=after, limit_s=self._reconnect_s,
                        relocate=self._relocate, read=ContextEvent, failure=event_failure)
        return stream.things()


def _from(request: HttpRequest, after: int) -> HttpRequest:
    """The same with its position given, also where it is the beginning: without one, the hub's own stream begins at its end."""
    if after == _NOW:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))
