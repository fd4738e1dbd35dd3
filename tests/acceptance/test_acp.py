"""``trunkline acp`` as editors start it: the official SDK's client over stdio and over a WebSocket, against a real hub."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema
from acp.client.connection import ClientSideConnection
from acp.ws.client import create_websocket_stream

from tests.aio import run
from tests.tooling.hub_process import HubProcess, own_environment, run_command

WAIT_S = 30.0


class Client:
    """The editor's side, as the SDK wants it; what it hears is kept in order."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asks: list[Any] = []
        self.files: dict[str, str] = {}
        self.decide: Callable[[Any], Awaitable[str | None]] = self._allow
        self._news = asyncio.Event()

    async def _allow(self, options: Any) -> str | None:
        return next(str(option.option_id) for option in options if option.kind == "allow_once")

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        """One update."""
        self.updates.append(update)
        self._news.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **more: Any) -> Any:
        """A permission is wanted."""
        self.asks.append(tool_call)
        self._news.set()
        chosen = await self.decide(options)
        outcome: Any = schema.DeniedOutcome(outcome="cancelled") if chosen is None else schema.AllowedOutcome(
            outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, path: str, session_id: str, **more: Any) -> Any:
        """A file is read."""
        return schema.ReadTextFileResponse(content=self.files[path])

    async def write_text_file(self, content: str, path: str, session_id: str, **more: Any) -> Any:
        """A file is written."""
        self.files[path] = content
        return schema.WriteTextFileResponse()

    def on_connect(self, conn: Any) -> None:
        """The SDK tells of the connection."""

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What was said."""
        return "".join(each.content.text for each in self.updates if each.session_update == kind)

    async def until(self, found: Callable[[], Any]) -> Any:
        """What ``found`` finds, as soon as it does."""
        async with asyncio.timeout(WAIT_S):
            while not (value := found()):
                self._news.clear()
                await self._news.wait()
        return value


def words(text: str) -> list[Any]:
    """A prompt."""
    return [schema.TextContentBlock(type="text", text=text)]


async def turn(conn: ClientSideConnection, session_id: str, text: str) -> str:
    """Send a prompt; returns the stop reason."""
    answer = await conn.prompt(session_id=session_id, prompt=words(text))
    return str(answer.stop_reason)


def environment(root: Path, **more: str) -> dict[str, str]:
    """The editor's environment, with a hub of its own."""
    return {**own_environment(root / "home"), "TRUNKLINE_DATA": str(root / "data"), **more}


@asynccontextmanager
async def stdio(client: Client, env: dict[str, str], *flags: str) -> AsyncIterator[tuple[ClientSideConnection, Any]]:
    """``trunkline acp`` in a process, greeted."""
    command = [sys.executable, "-P", "-m", "trunkline", "acp", *flags]
    async with acp.spawn_agent_process(client, *command, env=env) as (conn, process):  # type: ignore[arg-type]
        hello = await conn.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)))
        assert hello.protocol_version == 1
        yield conn, process


@asynccontextmanager
async def websocket(client: Client, hub: HubProcess) -> AsyncIterator[ClientSideConnection]:
    """The SDK's client over the hub's WebSocket, greeted."""
    address = hub.url.replace("http://", "ws://") + "/acp?agent=fast"
    stream = await create_websocket_stream(address, headers={"Authorization": f"Bearer {hub.token}"})
    conn = acp.connect_to_agent(client, stream)  # type: ignore[arg-type]
    try:
        await conn.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities())
        yield conn
    finally:
        await conn.close()


async def minimal_sequence(client: Client, conn: ClientSideConnection, folder: Path) -> str:
    """The seed's minimal test sequence, a permission, a denial, a cancel, a load with replay; returns the session's id."""
    session_id = (await conn.new_session(cwd=str(folder), mcp_servers=[])).session_id
    assert await turn(conn, session_id, "/echo say hello") == "end_turn"
    assert client.text() == "say hello" and client.text("user_message_chunk") == ""
    assert await turn(conn, session_id, "/ask") == "end_turn"
    assert len(client.asks) == 1 and "Approved." in client.text()
    running = asyncio.create_task(turn(conn, session_id, "/slow 60"))
    await client.until(lambda: client.text().endswith("1 "))
    await conn.cancel(session_id=session_id)
    assert await running == "cancelled"
    said = client.text()
    client.updates.clear()
    await conn.load_session(session_id=session_id, cwd=str(folder), mcp_servers=[])
    await client.until(lambda: client.text() == said)
    assert client.text("user_message_chunk") == "/echo say hello/ask/slow 60"
    return session_id


def test_the_sdks_client_completes_the_seeds_sequence_over_stdio_with_a_hub_started_on_demand(tmp_path: Path) -> None:
    async def check() -> None:
        client = Client()
        async with stdio(client, environment(tmp_path), "--agent", "demo") as (conn, _):
            session_id = await minimal_sequence(client, conn, tmp_path)
            assert [each.session_id for each in (await conn.list_sessions()).sessions] == [session_id]

    (tmp_path / "home").mkdir()
    try:
        run(check(), 60)
        status = run_command("status", env=environment(tmp_path), cwd=tmp_path)
        assert status.returncode == 0, "the hub outlives the editor"
    finally:
        run_command("stop", env=environment(tmp_path), cwd=tmp_path)


def test_the_sdks_client_completes_the_seeds_sequence_over_a_websocket(hub: HubProcess) -> None:
    async def check() -> None:
        client = Client()
        async with websocket(client, hub) as conn:
            session_id = await minimal_sequence(client, conn, hub.new_folder())
            await conn.close_session(session_id=session_id)

    run(check(), 60)


def named(hub: HubProcess, **more: str) -> dict[str, str]:
    """The environment of an editor that uses this hub."""
    return {**own_environment(hub.home), "TRUNKLINE_DATA": str(hub.data), **more}


def test_the_editors_path_and_keys_reach_the_agent(some_hub: Callable[..., HubProcess]) -> None:
    hub = some_hub()
    path = f"/the/editors/bin:{os.environ['PATH']}"

    async def check() -> None:
        client = Client()
        async with stdio(client, named(hub, PATH=path, LANG="xx_EDITOR", TRUNKLINE_SECRET="s"), "--agent", "puppet") as (conn, _):
            session_id = (await conn.new_session(cwd=str(hub.new_folder()), mcp_servers=[])).session_id
            await turn(conn, session_id, '[["environ"]]')
            assert f'"PATH": "{path}"' in client.text() and '"LANG": "xx_EDITOR"' in client.text()
            assert "TRUNKLINE_SECRET" not in client.text()

    run(check(), 60)


def test_unsaved_buffers_are_read_from_the_editor(hub: HubProcess) -> None:
    async def check() -> None:
        client = Client()
        folder = hub.new_folder()
        client.files[f"{folder}/a.txt"] = "not saved yet"
        async with stdio(client, named(hub), "--agent", "fast") as (conn, _):
            session_id = (await conn.new_session(cwd=str(folder), mcp_servers=[])).session_id
            await turn(conn, session_id, f"/read {folder}/a.txt")
            assert "not saved yet" in client.text()

    run(check(), 60)


def test_the_end_of_stdin_ends_the_command_and_not_the_session(hub: HubProcess) -> None:
    async def check() -> str:
        client = Client()
        async with stdio(client, named(hub), "--agent", "fast") as (conn, process):
            session_id = (await conn.new_session(cwd=str(hub.new_folder()), mcp_servers=[])).session_id
            running = asyncio.create_task(turn(conn, session_id, "/slow 60"))
            await client.until(lambda: client.text())
            process.stdin.close()
            async with asyncio.timeout(60):
                assert await process.wait() == 0
            running.cancel()
        return session_id

    session_id = run(check(), 60)
    view = hub.wire.get(f"/sessions/{session_id}")
    assert view["status"] == "running" and view["turn"] is not None
    assert hub.wire.ask("DELETE", f"/sessions/{session_id}").status in (200, 204)  # in a cluster it says what became of it there


def test_a_hub_that_restarts_is_found_again_and_the_session_goes_on(new_hub: Callable[..., HubProcess]) -> None:
    hub = new_hub()

    async def check() -> None:
        client = Client()
        # Named by its address, the hub is waited for; else the command would start one before the test does.
        async with stdio(client, named(hub, TRUNKLINE_URL=hub.url, TRUNKLINE_TOKEN=hub.token), "--agent", "fast") as (conn, _):
            session_id = (await conn.new_session(cwd=str(hub.new_folder()), mcp_servers=[])).session_id
            assert await turn(conn, session_id, "/echo before") == "end_turn"
            hub._port = int(hub.url.rpartition(":")[2])
            running = asyncio.create_task(turn(conn, session_id, "/slow 60"))
            await client.until(lambda: client.text().endswith("1 "))
            await asyncio.to_thread(hub.kill)
            await asyncio.to_thread(hub.start)
            with pytest.raises(acp.RequestError, match="restarted"):
                await running
            assert await turn(conn, session_id, "/echo after") == "end_turn"
            assert client.text().startswith("before1 ") and client.text().endswith("after")
            assert client.text().count("before") == 1, "nothing is told twice"

    run(check(), 90)


def test_a_hub_that_was_stopped_is_started_again_and_the_session_goes_on(tmp_path: Path) -> None:
    env = environment(tmp_path)

    async def check() -> None:
        client = Client()
        async with stdio(client, env, "--agent", "demo") as (conn, _):
            session_id = (await conn.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
            assert await turn(conn, session_id, "/echo before") == "end_turn"
            await asyncio.to_thread(run_command, "stop", env=env, cwd=tmp_path)
            assert await turn(conn, session_id, "/echo after") == "end_turn"
            assert client.text() == "beforeafter"

    (tmp_path / "home").mkdir()
    try:
        run(check(), 90)
    finally:
        run_command("stop", env=env, cwd=tmp_path)


def test_a_prompt_that_was_sent_while_the_hub_was_away_is_sent_when_it_is_back(new_hub: Callable[..., HubProcess]) -> None:
    hub = new_hub()

    async def check() -> None:
        client = Client()
        async with stdio(client, named(hub, TRUNKLINE_URL=hub.url, TRUNKLINE_TOKEN=hub.token), "--agent", "fast") as (conn, _):
            session_id = (await conn.new_session(cwd=str(hub.new_folder()), mcp_servers=[])).session_id
            assert await turn(conn, session_id, "/echo before") == "end_turn"
            hub._port = int(hub.url.rpartition(":")[2])
            await asyncio.to_thread(hub.stop)
            meanwhile = asyncio.create_task(turn(conn, session_id, "/echo meanwhile"))
            await asyncio.to_thread(hub.start)
            assert await meanwhile == "end_turn"
            assert client.text() == "beforemeanwhile"

    run(check(), 90)


def test_an_ask_that_another_editor_answers_is_over_for_the_first(some_hub: Callable[..., HubProcess]) -> None:
    hub = some_hub()

    async def check() -> None:
        client, other = Client(), Client()
        waits: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        async def decide(options: Any) -> str | None:
            return await waits

        client.decide = decide
        async with stdio(client, named(hub), "--agent", "fast") as (conn, _):
            session_id = (await conn.new_session(cwd=str(hub.new_folder()), mcp_servers=[])).session_id
            running = asyncio.create_task(turn(conn, session_id, "/ask"))
            await client.until(lambda: client.asks)
            async with stdio(other, named(hub), "--agent", "fast") as (second, _):
                await second.load_session(session_id=session_id, cwd="/tmp", mcp_servers=[])
                await other.until(lambda: other.asks)
            assert await running == "end_turn", "the second editor allowed it"
            waits.set_result(None)
            assert "Approved." in client.text()

    run(check(), 60)


def test_two_editors_see_each_other_type(hub: HubProcess) -> None:
    async def check() -> None:
        one, two = Client(), Client()
        folder = hub.new_folder()
        async with stdio(one, named(hub), "--agent", "fast") as (first, _), websocket(two, hub) as second:
            session_id = (await first.new_session(cwd=str(folder), mcp_servers=[])).session_id
            await second.load_session(session_id=session_id, cwd=str(folder), mcp_servers=[])
            await turn(first, session_id, "/echo one")
            await two.until(lambda: two.text() == "one")
            assert two.text("user_message_chunk") == "/echo one"
            await turn(second, session_id, "/echo two")
            await one.until(lambda: one.text() == "onetwo")
            assert one.text("user_message_chunk") == "/echo two"

    run(check(), 60)


def test_twenty_thousand_chunks_arrive_complete_and_in_order(hub: HubProcess) -> None:
    async def check() -> None:
        command = [sys.executable, "-P", "-m", "trunkline", "acp", "--agent", "fast"]
        process = await asyncio.create_subprocess_exec(
            *command, env=named(hub), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 22)
        assert process.stdin is not None and process.stdout is not None
        folder = hub.new_folder()

        async def ask(number: int, method: str, params: dict[str, Any]) -> list[dict[str, Any]]:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
            heard: list[dict[str, Any]] = []
            while not heard or heard[-1].get("id") != number:
                heard.append(json.loads(await process.stdout.readline()))
            return heard

        await ask(1, "initialize", {"protocolVersion": 1})
        session_id = (await ask(2, "session/new", {"cwd": str(folder), "mcpServers": []}))[-1]["result"]["sessionId"]
        prompt = [{"type": "text", "text": "/burst 20000 190"}]
        heard = await ask(3, "session/prompt", {"sessionId": session_id, "prompt": prompt})
        updates = [each["params"]["update"] for each in heard[:-1]]
        texts = [each["content"]["text"] for each in updates if each["sessionUpdate"] == "agent_message_chunk"]
        assert [int(text[:8]) for text in texts] == list(range(20_000))
        process.stdin.close()
        assert await process.wait() == 0

    run(check(), 90)


def test_an_editor_that_leaves_at_once_gets_nothing_though_there_is_no_hub(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    env = environment(tmp_path, TRUNKLINE_URL="http://127.0.0.1:1", TRUNKLINE_TOKEN="x")
    ended = run_command("acp", "--agent", "nobody", env=env, cwd=tmp_path, input="")
    assert ended.returncode == 0 and ended.stdout == ""


def test_a_token_that_is_not_let_in_is_an_error_at_once(hub: HubProcess) -> None:
    async def check() -> None:
        env = {**own_environment(hub.home), "TRUNKLINE_URL": hub.url, "TRUNKLINE_TOKEN": "wrong"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "trunkline", "acp", env=env, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
        assert process.stdout is not None and process.stderr is not None
        out, err = await process.stdout.read(), await process.stderr.read()
        assert await process.wait() == 1
        assert b'"id":1,"error"' in out and b"token" in err

    run(check())
