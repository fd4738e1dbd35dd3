"""What a program sees of one subscription: a snapshot where there has to be one, then every event, once and in order.

Rule 1: what was received and not yet taken is bounded. A program that falls behind is unsubscribed and, when it has taken what it
had, subscribed again where it was: the hub has the rest.
Rule 2: a watch outlives connections; only an error that says so ends it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Self

import msgspec

from trunkline.client.records import ContextEvent, read_as
from trunkline.client.views import HubState, SessionState, SessionView
from trunkline.errors import TrunklineError

KEPT = 1_000
"""Things that are received ahead of the program."""

HUB = "*"


class WatchSnapshot(msgspec.Struct, frozen=True):
    """The state after ``seq``: forget what you knew. ``after_gap``: the hub could not go on where we were."""

    session_id: str
    seq: int
    raw: bytes
    after_gap: bool = False

    def session(self) -> SessionState:
        """The state of a session."""
        return read_as(self.raw, SessionState)

    def sessions(self) -> list[SessionView]:
        """The newest sessions, of a watch of all of them."""
        return read_as(self.raw, HubState).sessions


class Watch:
    """One session, or all of them. Iterate over it; ``position`` is where the program is."""

    def __init__(self, session_id: str, after: int | None, types: str | None, *, again: Callable[[Watch], None]) -> None:
        self.session_id = session_id
        self.position = after
        self._received = after
        self._types = types
        self._again = again
        self._things: deque[WatchSnapshot | ContextEvent] = deque()
        self._failure: BaseException | None = None
        self._arrived = asyncio.Event()
        self._gap = False
        self.behind = False
        """The program is slow, and what comes is not kept for now."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchSnapshot | ContextEvent:
        while not self._things:
            if self._failure is not None:
                raise self._failure
            if self.behind:
                self.behind = False
                self._again(self)
            self._arrived.clear()
            await self._arrived.wait()
        thing = self._things.popleft()
        self.position = thing.seq if isinstance(thing, WatchSnapshot) else self._number(thing)
        return thing

    def subscribe(self, subscription: str) -> dict[str, Any]:
        """The frame that takes the watch up where it is."""
        frame: dict[str, Any] = {"type": "subscribe", "id": subscription,
                                 "sessions": HUB if self.session_id == HUB else [self.session_id]}
        if self._received is not None:
            frame["after"] = self._received
        if self._types is not None:
            frame["types"] = self._types
        return frame

    def gap(self) -> None:
        """The hub cannot go on where we were; a snapshot follows."""
        self._gap = True

    def snapshot(self, seq: int, raw: bytes) -> None:
        """The hub told the state."""
        gap, self._gap = self._gap, False
        self._received = seq
        self._put(WatchSnapshot(self.session_id, seq, raw, gap))

    def event(self, event: ContextEvent) -> bool:
        """The hub told an event; False when it is one too many for now."""
        if self.behind:
            return True
        number = self._number(event)
        if self._received is not None and number <= self._received:
            return True
        if len(self._things) >= KEPT:
            self.behind = True
            return False
        self._received = number
        self._put(event)
        return True

    def fail(self, error: TrunklineError) -> None:
        """It is over: told when everything before is taken."""
        self._failure = self._failure or error
        self._arrived.set()

    def _put(self, thing: WatchSnapshot | ContextEvent) -> None:
        self._things.append(thing)
        self._arrived.set()

    def _number(self, event: ContextEvent) -> int:
        return (event.pos or 0) if self.session_id == HUB else event.seq
