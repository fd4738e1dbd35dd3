"""The bridge between an editor's lines and the hub's frames, with a hub that loses connections when the test wants it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from tests.aio import run
from trunkline.cli.commands.acp import bridge as bridging
from trunkline.cli.commands.acp.bridge import Bridge
from trunkline.cli.commands.acp.pipes import CutLine, EditorLeft
from trunkline.cli.read_settings import load
from trunkline.errors import Unauthorized

Json = dict[str, Any]


class Editor:
    """Lines in and out."""

    def __init__(self) -> None:
        self.heard: list[Json] = []
        self.closed = False
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()

    async def write(self, data: bytes) -> None:
        """What the bridge writes."""
        if self.closed:
            raise EditorLeft
        assert data.endswith(b"\n")
        self.heard += [json.loads(line) for line in data.splitlines()]
        self._news.set()

    async def lines(self) -> AsyncIterator[bytes]:
        """What the bridge reads."""
        while (line := await self._lines.get()) is not None:
            yield line

    def say(self, **message: Any) -> None:
        """A message of the editor's."""
        self._lines.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def raw(self, line: bytes) -> None:
        """A line as it is."""
        self._lines.put_nowait(line)

    def end(self) -> None:
        """The end of stdin."""
        self._lines.put_nowait(None)

    async def until(self, count: int) -> list[Json]:
        """The first so many messages."""
        while len(self.heard) < count:
            self._news.clear()
            await self._news.wait()
        return self.heard


class Hub:
    """A hub that answers by hand, one connection after the other."""

    def __init__(self, server: Server) -> None:
        self.url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        self.connections: asyncio.Queue[ServerConnection] = asyncio.Queue()

    async def connection(self) -> ServerConnection:
        """The bridge's next connection."""
        return await self.connections.get()


async def heard(socket: ServerConnection) -> Json:
    """The bridge's next message."""
    message: Json = json.loads(await socket.recv())
    return message


async def tell(socket: ServerConnection, *lines: Json) -> None:
    """Messages that belong together, in one frame."""
    await socket.send(b"\n".join(json.dumps({"jsonrpc": "2.0", **line}, separators=(",", ":")).encode() for line in lines))


def update(text: str) -> Json:
    """A chunk of text."""
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"method": "session/update", "params": {"sessionId": "s", "update": chunk}}


def cursor(seq: int) -> Json:
    """Where the editor is."""
    return {"method": "_trunkline/cursor", "params": {"sessionId": "s", "seq": seq}}


@asynccontextmanager
async def bridged(tmp_path: Path, agent: str | None = "demo") -> AsyncIterator[tuple[Editor, Hub, asyncio.Task[None]]]:
    """An editor, a bridge at work, and the hub behind it."""
    hub: Hub

    async def handle(socket: ServerConnection) -> None:
        hub.connections.put_nowait(socket)
        await socket.wait_closed()

    async with serve(handle, "127.0.0.1", 0) as server:
        hub = Hub(server)
        settings = load({"url": hub.url, "data": str(tmp_path)}, {"TRUNKLINE_TOKEN": "t"})
        editor = Editor()
        bridge = asyncio.create_task(Bridge(settings, agent, editor).run(editor.lines()))
        try:
            yield editor, hub, bridge
        finally:
            bridge.cancel()
            await asyncio.gather(bridge, return_exceptions=True)


async def greeted(editor: Editor, hub: Hub, *env_allow: str) -> ServerConnection:
    """The handshake is made and a session is open."""
    socket = await hub.connection()
    editor.say(id=1, method="initialize", params={"protocolVersion": 1})
    await heard(socket)
    await tell(socket, {"id": 1, "result": {"protocolVersion": 1, "_meta": {"trunkline": {"envAllow": env_allow}}}})
    await editor.until(1)
    editor.say(id=2, method="session/new", params={"cwd": "/", "mcpServers": []})
    await heard(socket)
    await tell(socket, {"id": 2, "result": {"sessionId": "s"}})
    await tell(socket, cursor(3))
    await editor.until(2)
    return socket


def test_the_hub_is_asked_for_positions_and_told_the_agent_and_the_token(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path, "some agent") as (editor, hub, _):
            socket = await hub.connection()
            assert socket.request is not None
            assert socket.request.path == "/acp?agent=some%20agent"
            assert socket.request.headers["Authorization"] == "Bearer t"
            editor.say(id="x", method="initialize", params={"protocolVersion": 1, "clientCapabilities": {"terminal": True}})
            hello = await heard(socket)
            assert hello["id"] == "x" and hello["params"]["clientCapabilities"] == {
                "terminal": True, "_meta": {"trunkline": {"cursor": True, "lines": True}}}

    run(check())


def test_a_session_that_is_asked_for_before_the_hub_has_greeted_back_gets_the_editors_variables_too(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", "k")

    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            editor.say(id=1, method="initialize", params={"protocolVersion": 1})
            editor.say(id=2, method="session/list", params={})
            editor.say(id=3, method="session/load", params={"sessionId": "s", "cwd": "/", "mcpServers": []})
            editor.say(id=4, method="session/prompt", params={"sessionId": "s", "prompt": []})
            editor.end()
            socket = await hub.connection()
            assert [(await heard(socket))["id"] for _ in range(2)] == [1, 2], "what opens no session does not wait"
            await socket.close()
            socket = await hub.connection()
            assert [(await heard(socket))["id"] for _ in range(2)] == [1, 2]
            await tell(socket, {"id": 1, "result": {"protocolVersion": 1, "_meta": {"trunkline": {"envAllow": ["VENDOR_*"]}}}})
            load, prompt = await heard(socket), await heard(socket)
            assert (load["id"], prompt["id"]) == (3, 4), "what stands behind it stays behind it"
            assert load["params"]["_meta"]["trunkline"]["env"]["VENDOR_KEY"] == "k"
            await tell(socket, {"id": 2, "result": {"sessions": []}}, {"id": 3, "result": {}})
            await bridge

    run(check())


def test_a_session_that_is_asked_for_is_asked_for_also_where_the_greeting_was_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            editor.say(id=1, method="initialize", params={})
            editor.say(id=2, method="session/new", params={"cwd": "/", "mcpServers": []})
            socket = await hub.connection()
            await heard(socket)
            await tell(socket, {"id": 1, "error": {"code": -32602, "message": "protocolVersion"}})
            assert (await heard(socket))["id"] == 2

    run(check())


def test_the_editors_variables_go_with_a_session_as_far_as_the_agents_list_goes(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", "k")
    monkeypatch.setenv("OTHER_KEY", "o")
    monkeypatch.setenv("PATH", "/editor/bin")
    monkeypatch.setenv("TRUNKLINE_TOKEN", "t")

    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub, "VENDOR_*")
            editor.say(id=3, method="session/load", params={"sessionId": "s", "cwd": "/", "mcpServers": [], "_meta": {"mine": 1}})
            load = await heard(socket)
            env = load["params"]["_meta"]["trunkline"]["env"]
            assert env["VENDOR_KEY"] == "k" and env["PATH"] == "/editor/bin"
            assert "OTHER_KEY" not in env and "TRUNKLINE_TOKEN" not in env
            assert load["params"]["_meta"]["mine"] == 1

    run(check())


def test_positions_stay_with_the_bridge_and_everything_else_reaches_the_editor(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            await tell(socket, update("a"), update("b"), {"method": "_other/thing", "params": {}}, cursor(9))
            told = (await editor.until(5))[2:]
            assert [each["method"] for each in told] == ["session/update", "session/update", "_other/thing"]

    run(check())


def test_a_lost_connection_is_taken_up_where_it_was(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            prompt = await heard(socket)
            await tell(socket, update("a"), cursor(7))
            await tell(socket, {"id": 900, "method": "session/request_permission", "params": {"sessionId": "s"}})
            await editor.until(4)
            await socket.close()
            socket = await hub.connection()
            assert (await editor.until(5))[4] == {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 900}}
            hello = await heard(socket)
            assert hello["method"] == "initialize" and hello["id"].startswith("trunkline-bridge-")
            await tell(socket, {"id": hello["id"], "result": {"protocolVersion": 1}})
            resume = await heard(socket)
            assert (resume["method"], resume["params"]["sessionId"]) == ("session/resume", "s")
            assert resume["params"]["_meta"]["trunkline"]["after"] == 7
            await tell(socket, {"id": resume["id"], "result": {}}, update("b"), cursor(8))
            assert await heard(socket) == prompt, "the same prompt, under the same key"
            editor.say(id=900, result={"outcome": {"outcome": "cancelled"}})
            editor.say(id=4, method="session/list", params={})
            assert (await heard(socket))["method"] == "session/list", "an answer to the old connection goes nowhere"
            await tell(socket, {"id": 3, "result": {"stopReason": "end_turn"}})
            texts = [each["params"]["update"]["content"]["text"] for each in (await editor.until(7)) if "update" in str(each)]
            assert texts == ["a", "b"]

    run(check())


def test_a_load_that_was_cut_off_goes_on_where_it_was(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/load", params={"sessionId": "s", "cwd": "/", "mcpServers": []})
            await heard(socket)
            await tell(socket, update("a"), cursor(2))
            await editor.until(3)
            await socket.close()
            socket = await hub.connection()
            await tell(socket, {"id": (await heard(socket))["id"], "result": {"protocolVersion": 1}})
            again = await heard(socket)
            assert (again["method"], again["id"]) == ("session/load", 3)
            assert again["params"]["_meta"]["trunkline"]["after"] == 2

    run(check())


def test_what_the_editor_says_meanwhile_waits_in_its_order(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            await socket.close()
            editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            editor.say(method="session/cancel", params={"sessionId": "s"})
            socket = await hub.connection()
            for _ in range(2):
                await tell(socket, {"id": (await heard(socket))["id"], "result": {}})
            assert [(await heard(socket))["method"] for _ in range(2)] == ["session/prompt", "session/cancel"]

    run(check())


async def taken_up(hub: Hub) -> ServerConnection:
    """The bridge's next connection, with the handshake and its session behind it."""
    socket = await hub.connection()
    for _ in range(2):
        await tell(socket, {"id": (await heard(socket))["id"], "result": {}})
    return socket


def test_the_order_stays_over_a_hub_that_hangs_up_again_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            first = await heard(socket)
            await socket.close()
            editor.say(method="session/cancel", params={"sessionId": "s"})
            editor.say(id=4, method="session/prompt", params={"sessionId": "s", "prompt": []})
            await (await hub.connection()).close()
            socket = await taken_up(hub)
            said = [await heard(socket) for _ in range(3)]
            assert [(each["method"], each.get("id")) for each in said] == [
                ("session/prompt", 3), ("session/cancel", None), ("session/prompt", 4)]
            keys = [each["params"]["_meta"]["trunkline"]["key"] for each in said[:2]]
            assert keys == [first["params"]["_meta"]["trunkline"]["key"]] * 2, "only its own prompt is ended"

    run(check())


def test_a_cancel_that_a_cut_swallowed_is_said_again_until_its_prompt_is_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            editor.say(id=4, method="session/list", params={})
            editor.say(method="session/cancel", params={"sessionId": "s"})
            editor.say(method="$/cancel_request", params={"requestId": 4})
            for _ in range(4):
                await heard(socket)
            await socket.close()  # whether the hub has taken them, nobody knows
            socket = await taken_up(hub)
            said = [(await heard(socket))["method"] for _ in range(4)]
            assert said == ["session/prompt", "session/cancel", "session/list", "$/cancel_request"]
            await tell(socket, {"id": 3, "result": {"stopReason": "cancelled"}}, {"id": 4, "result": {"sessions": []}})
            await editor.until(4)
            await socket.close()
            socket = await taken_up(hub)
            editor.say(id=5, method="session/list", params={})
            assert (await heard(socket))["id"] == 5, "what was answered is not taken back again"

    run(check())


def test_a_session_that_was_closed_is_not_taken_up_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/close", params={"sessionId": "s"})
            await heard(socket)
            await tell(socket, {"id": 3, "result": {}})
            await editor.until(3)
            await socket.close()
            socket = await hub.connection()
            await tell(socket, {"id": (await heard(socket))["id"], "result": {}})
            editor.say(id=4, method="session/list", params={})
            assert (await heard(socket))["method"] == "session/list"

    run(check())


def test_lines_that_are_no_messages_are_the_hubs_to_judge_but_what_is_no_text_is_not_sent(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            socket = await greeted(editor, hub)
            editor.raw(b"\xff\xfe")
            assert (await editor.until(3))[2]["error"]["code"] == -32700
            editor.raw(b"{nonsense")
            assert await socket.recv() == "{nonsense"
            odd = '{"id":{"a":1},"method":"session/list"}'
            editor.raw(odd.encode())
            assert await socket.recv() == odd
            editor.end()
            await bridge  # nobody waits for the answer to an id that is none

    run(check())


def test_the_end_of_stdin_ends_the_bridge(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            socket = await greeted(editor, hub)
            editor.end()
            await bridge
            await socket.wait_closed()

    run(check())


def test_what_was_said_before_the_end_of_stdin_is_done_and_answered(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            editor.say(id=1, method="initialize", params={"protocolVersion": 1})
            editor.say(id=2, method="session/list", params={})
            editor.end()
            socket = await hub.connection()
            assert [(await heard(socket))["id"] for _ in range(2)] == [1, 2]
            await tell(socket, {"id": 1, "result": {"protocolVersion": 1}})
            await editor.until(1)
            assert not bridge.done()
            await tell(socket, {"id": 2, "result": {"sessions": []}})
            await bridge
            assert [message["id"] for message in editor.heard] == [1, 2]

    run(check())


def test_a_prompt_keeps_nobody_who_has_left(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            socket = await greeted(editor, hub)
            editor.say(id=3, method="session/prompt", params={"sessionId": "s", "prompt": []})
            editor.end()
            assert (await heard(socket))["method"] == "session/prompt"
            await bridge

    run(check())


def test_a_hub_that_does_not_answer_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        monkeypatch.setattr(bridging, "LEAVES_S", 0.05)
        async with bridged(tmp_path) as (editor, hub, bridge):
            editor.say(id=1, method="initialize", params={"protocolVersion": 1})
            editor.end()
            await hub.connection()
            await bridge

    run(check())


@pytest.mark.parametrize(("beginning", "request_id"), [
    (b'{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"prompt":[{"text":"yyy', 6),
    (b'{"id" : "a\\"b" ,"method":"m","params":{"x', 'a"b'),
    (b'{"method":"m","params":{"id":7,"text":"}},\\"id\\":8', None),
    (b'{"method":"m","params":{"id":7},"id":9,"x":"yy', 9),
    (b'{"id":6,"result":{"content":"yyy', None), (b'{"id":true,"method":"m","x":"y', None), (b"yyyyyy", None),
])
def test_a_line_that_is_too_long_is_refused_by_its_id(tmp_path: Path, beginning: bytes, request_id: object) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, _):
            socket = await greeted(editor, hub)
            editor.raw(CutLine(beginning))
            answer = (await editor.until(3))[2]
            assert answer["id"] == request_id and answer["error"]["code"] == -32600 and "64 MiB" in answer["error"]["message"]
            editor.say(id=7, method="session/list", params={})
            assert (await heard(socket))["id"] == 7, "and the hub hears nothing of it"

    run(check())


def test_an_editor_that_reads_no_more_ends_the_bridge(tmp_path: Path) -> None:
    async def check() -> None:
        async with bridged(tmp_path) as (editor, hub, bridge):
            socket = await greeted(editor, hub)
            editor.closed = True
            await tell(socket, update("a"))
            await bridge

    run(check())


def test_who_is_not_let_in_hears_it_and_the_bridge_ends(tmp_path: Path) -> None:
    async def check() -> None:
        def refuse(socket: ServerConnection, request: Any) -> Any:
            return socket.respond(401, json.dumps({"code": "unauthorized", "message": "no such token", "recoverable": True}))

        async def never(socket: ServerConnection) -> None:
            raise AssertionError("nobody was let in")

        async with serve(never, "127.0.0.1", 0, process_request=refuse) as server:
            settings = load({"url": Hub(server).url, "data": str(tmp_path)}, {"TRUNKLINE_TOKEN": "t"})
            editor = Editor()
            editor.say(id=1, method="initialize", params={"protocolVersion": 1})
            editor.say(id=2, method="session/new", params={"cwd": "/", "mcpServers": []})
            with pytest.raises(Unauthorized):
                await Bridge(settings, None, editor).run(editor.lines())
            assert [(each["id"], each["error"]["message"]) for each in editor.heard] == [
                (1, "no such token"), (2, "no such token")]

    run(check())
