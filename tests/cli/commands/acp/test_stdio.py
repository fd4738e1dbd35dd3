"""``trunkline acp`` as a process, with a hub that the test plays: lines in pieces, very long lines, the end of stdin, a hub that
goes away."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from tests.aio import run
from tests.cli.commands.acp.test_bridge import Hub, cursor, heard, tell, update

Json = dict[str, Any]
WAIT_S = 30.0
LONG = 6 << 20


class Process:
    """The command."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.stdin = process.stdin
        self.stdout = process.stdout

    async def write(self, data: bytes) -> None:
        """Bytes to its stdin."""
        self.stdin.write(data)
        await self.stdin.drain()

    async def say(self, **message: Any) -> None:
        """A message in a line."""
        await self.write(line(**message))

    async def line(self) -> Json:
        """Its next line."""
        message: Json = json.loads(await self.stdout.readline())
        return message


def line(**message: Any) -> bytes:
    """A message as a line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@asynccontextmanager
async def started(tmp_path: Path) -> AsyncIterator[tuple[Process, Hub]]:
    """``trunkline acp`` and the hub behind it."""
    hub: Hub

    async def handle(socket: ServerConnection) -> None:
        hub.connections.put_nowait(socket)
        await socket.wait_closed()

    async with serve(handle, "127.0.0.1", 0, max_size=None) as server:
        hub = Hub(server)
        env = {**os.environ, "HOME": str(tmp_path), "TRUNKLINE_TOKEN": "t"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "trunkline", "acp", "--hub", hub.url, "--data", str(tmp_path / "data"),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=env, limit=4 * LONG)
        try:
            yield Process(process), hub
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def opened(editor: Process, hub: Hub) -> ServerConnection:
    """The handshake is made and a session is open."""
    socket = await hub.connection()
    await editor.say(id=1, method="initialize", params={"protocolVersion": 1})
    await heard(socket)
    await tell(socket, {"id": 1, "result": {"protocolVersion": 1}})
    await editor.line()
    await editor.say(id=2, method="session/new", params={"cwd": "/", "mcpServers": []})
    await heard(socket)
    await tell(socket, {"id": 2, "result": {"sessionId": "s"}}, cursor(3))
    await editor.line()
    return socket


def test_a_line_that_comes_in_pieces_is_one_message_and_two_in_one_piece_are_two(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            whole = line(id=3, method="session/list", params={"cursor": "ü"})
            half = whole.index(b"\\u") + 2
            await editor.write(whole[:half])
            await tell(socket, update("meanwhile"))
            assert (await editor.line())["method"] == "session/update", "half a line holds nobody up"
            await editor.write(whole[half:] + line(id=4, method="session/list", params={}) + b"\n \n")
            asked = [await heard(socket), await heard(socket)]
            assert [each["id"] for each in asked] == [3, 4] and asked[0]["params"]["cursor"] == "ü"

    run(check(), WAIT_S)


def test_very_long_lines_go_through_in_both_directions(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            prompt = [{"type": "text", "text": "x" * LONG}]
            sending = asyncio.create_task(editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": prompt}))
            assert (await heard(socket))["params"]["prompt"] == prompt
            await sending
            await tell(socket, update("y" * LONG), cursor(4), {"id": 3, "result": {"stopReason": "end_turn"}})
            assert (await editor.line())["params"]["update"]["content"]["text"] == "y" * LONG
            assert (await editor.line())["result"] == {"stopReason": "end_turn"}

    run(check(), WAIT_S)


def test_at_the_end_of_stdin_what_was_said_last_is_still_said_and_the_command_ends_well(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            await editor.write(line(method="session/cancel", params={"sessionId": "s"}).rstrip(b"\n"))
            editor.stdin.close()
            assert (await heard(socket))["method"] == "session/cancel", "a last line without an end counts"
            assert await editor.process.wait() == 0
            await socket.wait_closed()

    run(check(), WAIT_S)


def test_a_hub_that_goes_away_and_comes_back_is_taken_up_by_the_position(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            await editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            prompt = await heard(socket)
            await tell(socket, update("a"), cursor(7))
            await editor.line()
            await socket.close()
            socket = await hub.connection()
            for _ in range(2):
                request = await heard(socket)
                await tell(socket, {"id": request["id"], "result": {}})
            assert request["method"] == "session/resume" and request["params"]["_meta"]["trunkline"]["after"] == 7
            assert await heard(socket) == prompt, "the same prompt under the same key"
            await tell(socket, update("b"), cursor(8), {"id": 3, "result": {"stopReason": "end_turn"}})
            assert (await editor.line())["params"]["update"]["content"]["text"] == "b", "nothing is told twice"
            assert (await editor.line())["id"] == 3

    run(check(), WAIT_S)


def test_stdout_has_messages_and_nothing_else(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            await socket.send(b"not a message\n{broken")
            await tell(socket, update("after"))
            assert (await editor.line())["params"]["update"]["content"]["text"] == "after", "what is no message is not passed on"

    run(check(), WAIT_S)


def test_a_line_that_is_too_long_is_answered_and_the_next_is_taken(tmp_path: Path) -> None:
    async def check() -> None:
        async with started(tmp_path) as (editor, hub):
            socket = await opened(editor, hub)
            await editor.write(b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"x":"')
            for _ in range(65):
                await editor.write(b"y" * (1 << 20))
            await editor.write(b'"}}\n' + line(id=4, method="session/list", params={}))
            answer = await editor.line()
            assert answer["id"] == 3 and "64 MiB" in answer["error"]["message"]
            assert (await heard(socket))["id"] == 4

    run(check(), WAIT_S)
