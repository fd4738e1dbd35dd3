"""One call of the client against a hub that writes down what it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tests.aio import run
from tests.client.scripted import Exchange, served
from trunkline.client import Client

Row = tuple[str, Callable[[Client], Awaitable[Any]], str, object, object]
"""What it is about, the call, the route that it asks with its query, the body that it sends, the answer that it gets."""

SESSION = {"id": "s1", "status": "idle", "somethingNew": {"from": "tomorrow"}}


def check_route(call: Callable[[Client], Awaitable[Any]], target: str, body: object, answer: object) -> None:
    """The call asks for this, with this body, and can read the answer."""
    seen: list[tuple[str, object]] = []

    async def handler(exchange: Exchange) -> None:
        query = f"?{exchange.query}" if exchange.query else ""
        seen.append((f"{exchange.method} {exchange.path}{query}", msgspec.json.decode(exchange.body) if exchange.body else None))
        await (exchange.send(204, b"") if answer is None else exchange.json(200, answer))

    async def scene() -> None:
        async with served(handler) as hub, Client(hub.url) as client:
            await call(client)

    run(scene())
    assert seen == [(target, body)]
