"""Calls about events and commands: which route each asks, where a stream begins, and that a retry does nothing twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from tests.aio import run
from tests.client.calls.routes import SESSION, Row, check_route
from tests.client.scripted import Exchange, served
from trunkline.client import Client

CALLS: list[Row] = [
    ("history", lambda hub: hub.history("s1", before=9, types="tool:*"),
     "GET /sessions/s1/history?before=9&limit=500&types=tool%3A%2A", None, {"events": [], "nextAfter": None}),
    ("joined history", lambda hub: hub.history("s1", after=3, limit=2, joined=True),
     "GET /sessions/s1/history?after=3&limit=2&joined=true", None, {"events": [], "nextAfter": None}),
    ("snapshot", lambda hub: hub.snapshot("s1"), "GET /sessions/s1/snapshot", None,
     {"sessionId": "s1", "seq": 4, "state": SESSION}),
    ("command", lambda hub: hub.command("s1", {"command": "cancel"}, key="k"), "POST /sessions/s1/commands",
     {"id": "k", "command": {"command": "cancel"}}, {"id": "k", "result": {"ok": True}}),
]


@pytest.mark.parametrize(("call", "target", "body", "answer"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_a_call_asks_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)


@pytest.mark.parametrize(("after", "sent"), [(None, None), (0, "0"), (7, "7")])
def test_a_stream_of_all_events_begins_where_it_is_told_to_and_else_now(after: int | None, sent: str | None) -> None:
    seen: list[str | None] = []

    async def handler(exchange: Exchange) -> None:
        seen.append(exchange.headers.get("last-event-id"))
        await exchange.begin_stream()
        await exchange.frame(b'event: message\nid: 8\ndata: {"type":"message:delta","sessionId":"s","seq":1}\n\n')

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client, aclosing(client.all_events(after=after)) as events:
            number, event = await anext(events)
            assert (number, event.type) == (8, "message:delta")

    run(scene())
    assert seen == [sent]
