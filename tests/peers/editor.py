"""The official Python SDK's client, against the hub. Runs in a Python that has the SDK with its extra ``http``.

``editor.py stdio FOLDER COMMAND ARGS…`` or ``editor.py ws|http FOLDER ADDRESS TOKEN`` prints what it heard as one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import acp
from acp import schema
from acp.http.client import create_http_stream
from acp.ws.client import create_websocket_stream


class Client:
    """Allows everything once, and keeps what it hears."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asks = 0
        self.news = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        """One update."""
        self.updates.append(update)
        self.news.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **more: Any) -> Any:
        """A permission is wanted."""
        self.asks += 1
        chosen = next(option.option_id for option in options if option.kind == "allow_once")
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen))

    def on_connect(self, conn: Any) -> None:
        """The SDK tells of the connection."""

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What was said."""
        return "".join(each.content.text for each in self.updates if each.session_update == kind)

    async def until(self, found: Any) -> None:
        """Wait for it."""
        while not found():
            self.news.clear()
            await self.news.wait()


@asynccontextmanager
async def connected(client: Client, way: str, where: list[str]) -> AsyncIterator[Any]:
    """The SDK's connection, by one of its three ways."""
    if way == "stdio":
        async with acp.spawn_agent_process(client, *where, env=dict(os.environ)) as (conn, _):  # type: ignore[arg-type]
            yield conn
        return
    address, token = where
    headers = {"Authorization": f"Bearer {token}"}
    opened: Any = create_http_stream(address, headers=headers)
    if way == "ws":
        opened = await create_websocket_stream(address, headers=headers)
    conn = acp.connect_to_agent(client, opened)  # type: ignore[arg-type]
    yield conn
    await conn.close()


async def main(way: str, folder: str, *where: str) -> None:
    """The seed's minimal sequence, a permission, a cancel, a load with replay."""
    client = Client()
    async with connected(client, way, list(where)) as conn:
        print(json.dumps(await sequence(client, conn, folder)))


async def sequence(client: Client, conn: Any, folder: str) -> dict[str, Any]:
    """What was heard on the way through it."""
    hello = await conn.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities())
    session_id = (await conn.new_session(cwd=folder, mcp_servers=[])).session_id

    async def prompt(words: str) -> str:
        block = schema.TextContentBlock(type="text", text=words)
        return str((await conn.prompt(session_id=session_id, prompt=[block])).stop_reason)

    stops = [await prompt("/echo say hello"), await prompt("/ask")]
    running = asyncio.create_task(prompt("/slow 60"))
    await client.until(lambda: client.text().endswith("1 "))
    await conn.cancel(session_id=session_id)
    stops.append(await running)
    said = client.text()
    client.updates.clear()
    await conn.load_session(session_id=session_id, cwd=folder, mcp_servers=[])
    await client.until(lambda: client.text() == said)
    replayed = client.text("user_message_chunk")
    stops.append(await prompt("/echo and after"))
    return {"version": hello.protocol_version, "stops": stops, "asks": client.asks, "said": said, "replayed": replayed,
            "after": client.text()[len(said):]}


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
