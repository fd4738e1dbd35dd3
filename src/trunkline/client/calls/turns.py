"""Calls about turns: send a prompt, and follow what comes of it.

Rule: a prompt always carries an idempotency key, so that a retry can never send it twice.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from trunkline.client.http import HttpRequest, HubRequests, json_of, path_of, read
from trunkline.client.records import Packet
from trunkline.client.streams import Numbered, Stream, packet_failure
from trunkline.client.views import (
    Accepted,
)

Content = str | Sequence[Mapping[str, Any]]
"""A prompt: plain text, or content blocks."""


class MessagePage(msgspec.Struct, frozen=True):
    """Stored packets in order, each under its seq; ``next_after`` pages on, None at the end."""

    messages: list[Numbered]
    next_after: int | None


class _Stored(msgspec.Struct):
    seq: int
    packet: msgspec.Raw


class _StoredPage(msgspec.Struct, rename="camel"):
    messages: list[_Stored]
    next_after: int | None = None


class TurnCalls(HubRequests):
    """Prompts and packets of a session."""

    async def send(self, session_id: str, content: Content, *, when_busy: Literal["reject", "queue"] = "reject",
                   key: str | None = None) -> Accepted:
        """Send a prompt and return as soon as the hub has recorded it."""
        response = await self._ask(_prompt(session_id, content, when_busy, key or new_key(), "application/json"))
        return read(response, Accepted)

    async def stream_turn(self, session_id: str, content: Content, *, when_busy: Literal["reject", "queue"] = "reject",
                          key: str | None = None) -> AsyncGenerator[Numbered, None]:
        """Send a prompt and yield (seq, packet) up to the turn's last one.

        A lost connection is taken up again; closing the iterator leaves the turn running."""
        request = _prompt(session_id, content, when_busy, key or new_key(), "text/event-stream")
        async with aclosing(self._follow(lambda after: _resumed(request, after), after=0)) as stream:
            async for seq, packet in stream:
                yield seq, packet
                if packet.ends_turn():
                    return

    async def packets(self, session_id: str, *, after: int = 0) -> AsyncGenerator[Numbered, None]:
        """Every packet after ``after``: first what is stored, then live, until the caller stops."""
        path = path_of("sessions", session_id, "packets")
        request = HttpRequest("GET", path, headers=(("Accept", "text/event-stream"),))
        async with aclosing(self._follow(lambda seen: _resumed(request, seen), after=after)) as stream:
            async for numbered in stream:
                yield numbered

    async def turn(self, session_id: str, *, after: int) -> AsyncGenerator[Numbered, None]:
        """The rest of the turn that is running or done after ``after``."""
        async with aclosing(self.packets(session_id, after=after)) as stream:
            async for seq, packet in stream:
                yield seq, packet
                if packet.ends_turn():
                    return

    async def messages(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 500) -> MessagePage:
        """Stored packets, paged; runs of chunks are merged."""
        path = path_of("sessions", session_id, "messages", after=after, before=before, limit=limit)
        page = await self._get(path, _StoredPage)
        return MessagePage([(stored.seq, Packet(bytes(stored.packet))) for stored in page.messages], page.next_after)

    def _follow(self, request: Callable[[int], HttpRequest], *, after: int) -> AsyncGenerator[Numbered, None]:
        stream = Stream(self._pool, request, after=after, limit_s=self._reconnect_s, relocate=self._relocate, read=Packet,
                        failure=packet_failure)
        return stream.things()


def new_key() -> str:
    """An idempotency key that nobody else has."""
    return secrets.token_hex(16)


def _prompt(session_id: str, content: Content, when_busy: str, key: str, accept: str) -> HttpRequest:
    headers = (("Content-Type", "application/json"), ("Accept", accept), ("Idempotency-Key", key))
    body = json_of({"content": content, "whenBusy": when_busy})
    return HttpRequest("POST", path_of("sessions", session_id, "send-message"), body, headers)


def _resumed(request: HttpRequest, after: int) -> HttpRequest:
    if not after:
        return request
    return msgspec.structs.replace(request, headers=(*request.headers, ("Last-Event-ID", str(after))))
