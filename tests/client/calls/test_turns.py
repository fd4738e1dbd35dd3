"""Prompts, and what comes of them: what goes out, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.aio import run
from tests.client.calls.routes import Row, check_route
from tests.client.scripted import Exchange, served
from trunkline.client import Client

CALLS: list[Row] = [
    ("send", lambda hub: hub.send("s1", "hi", when_busy="queue"), "POST /sessions/s1/send-message",
     {"content": "hi", "whenBusy": "queue"}, {"turnId": "t", "seq": 4, "queued": True}),
    ("messages", lambda hub: hub.messages("s1", after=4, limit=9), "GET /sessions/s1/messages?after=4&limit=9", None,
     {"messages": [{"seq": 5, "packet": {"type": "error"}}], "nextAfter": 5}),
]


@pytest.mark.parametrize(("call", "target", "body", "answer"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_every_call_sends_its_route_and_reads_the_answer(
    call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object
) -> None:
    check_route(call, target, body, answer)



def test_a_prompt_without_a_key_gets_one_of_its_own() -> None:
    keys: list[str] = []

    async def handler(exchange: Exchange) -> None:
        keys.append(exchange.headers["idempotency-key"])
        await exchange.json(202, {"turnId": "t", "seq": 1})

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            await client.send("s", "a")
            await client.send("s", "a")
            await client.send("s", "a", key="mine")

    run(scene())
    assert keys[0] != keys[1]
    assert keys[2] == "mine"
