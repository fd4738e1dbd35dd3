"""Messages both ways: whole, in order, the owner first where it likes; and an editor whose agent runs at another node."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.aio import eventually, run
from tests.cluster.tunnel.hubs import Node, two_nodes
from tests.cluster.tunnel.world import CLAIM, World, admit, owns_epoch_3, world
from tests.tooling.nats import NatsServer
from trunkline.cluster.tunnel import duplex as duplexes
from trunkline.cluster.tunnel.duplex import Closed, Closing, Duplex, _whole
from trunkline.cluster.tunnel.flow import PIECE_BYTES, WINDOW
from trunkline.cluster.tunnel.frames import Kind
from trunkline.cluster.tunnel.gateway import Gateway, Owner
from trunkline.cluster.tunnel.heads import Claim
from trunkline.cluster.tunnel.owner import OwnerEnd
from trunkline.errors import Forbidden, NodeAway, NodeSilent, TrunklineError

LONG = "ä" * PIECE_BYTES


async def find() -> Owner:
    return Owner("owner", 3)


def socket(nodes: World) -> Any:
    return nodes.gateway.socket(find, CLAIM, "/acp", [(b"host", b"localhost")])


async def speak_first(scope: Scope, receive: Receive, send: Send) -> None:
    """Asks, and then says what it was answered; ends when it is told to."""
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": "who is there?"})
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") == "enough":
            await send({"type": "websocket.close", "code": 4000, "reason": "as you say"})
            return
        await send({**message, "type": "websocket.send"})


def test_the_owner_may_speak_first_and_messages_arrive_whole(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, speak_first) as nodes, socket(nodes) as duplex:
            assert await duplex.receive() == "who is there?"
            for message in ("me", b"\x00\xff", "", LONG, b"", LONG.encode()):
                await duplex.send(message)
                assert await duplex.receive() == message
            await duplex.send("enough")
            with pytest.raises(Closed) as closed:
                await duplex.receive()
            assert closed.value.closing == Closing(4000, "as you say")

    run(go())


def test_the_owner_learns_that_the_gateway_has_closed(shared_nats: NatsServer) -> None:
    async def go() -> None:
        ends: asyncio.Queue[Any] = asyncio.Queue()

        async def listen(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            await send({"type": "websocket.accept"})
            ends.put_nowait(await receive())

        async with world(shared_nats.url, listen) as nodes:
            async with socket(nodes) as duplex:
                await duplex.close(Closing(1001, "the editor went"))
                assert await ends.get() == {"type": "websocket.disconnect", "code": 1001, "reason": "the editor went"}
            async with socket(nodes):
                pass  # without a word
            assert (await ends.get())["type"] == "websocket.disconnect"
            await eventually(lambda: len(nodes.at_owner) == 0)

    run(go())


def test_what_waited_for_a_node_that_was_away_is_not_taken(shared_nats: NatsServer) -> None:
    """It was frozen, say, and others have gone on with the session: what its editor asked for is in its connection still."""
    async def go() -> None:
        is_there, heard = True, []

        async def listen(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] == "websocket.receive":
                heard.append(message["text"])

        async with world(shared_nats.url, listen) as nodes:
            end = OwnerEnd(listen, admit, owns_epoch_3, is_there=lambda: is_there)
            nodes.at_owner.serve = end.serve
            async with socket(nodes) as duplex:
                await duplex.send("before")
                await eventually(lambda: heard)
                is_there = False
                await duplex.send("prompt")
                with pytest.raises(NodeSilent, match="broke off"):
                    await duplex.receive()
            assert heard == ["before"]

    run(go())


def test_who_does_not_read_holds_the_other_back(shared_nats: NatsServer) -> None:
    async def go() -> None:
        sent: list[int] = []

        async def flood(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            await send({"type": "websocket.accept"})
            for number in range(100):
                await send({"type": "websocket.send", "text": str(number)})
                sent.append(number)
            await receive()

        async with world(shared_nats.url, flood) as nodes, socket(nodes) as duplex:
            await eventually(lambda: len(sent) == WINDOW)
            assert [await duplex.receive() for _ in range(100)] == [str(number) for number in range(100)]

    run(go())


def test_an_owner_that_stops_ends_the_conversation(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, speak_first) as nodes, socket(nodes) as duplex:
            await duplex.receive()
            await nodes.at_owner.stop()
            with pytest.raises(TrunklineError, match="owner is stopping"):
                await duplex.receive()
            with pytest.raises((NodeAway, NodeSilent)):  # it was asked before the server knew that nobody listens, or after
                async with socket(nodes):
                    pass

    run(go())


class Editor:
    """An editor that speaks the Agent Client Protocol, and answers what it is asked."""

    def __init__(self, duplex: Duplex) -> None:
        self._duplex = duplex
        self._ids = 0
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []

    async def call(self, method: str, **params: Any) -> Any:
        """Ask the agent, and answer what it asks meanwhile."""
        self._ids += 1
        await self._duplex.send(json.dumps({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}))
        while True:
            message = json.loads(await self._duplex.receive())
            if "method" not in message:
                assert message["id"] == self._ids
                return message.get("result") or message["error"]
            await self._hear(message)

    async def _hear(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self.told.append(message)
            return
        self.asked.append(message)
        option = message["params"]["options"][0]["optionId"]
        answer = {"outcome": {"outcome": "selected", "optionId": option}}
        await self._duplex.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}))


def editor_socket(gateway: Node, claim: Claim) -> Any:
    async def find_owner() -> Owner:
        return Owner("owner")

    return Gateway(gateway.switch).socket(find_owner, claim, "/acp", [(b"host", b"localhost")])


def test_what_the_owner_asks_reaches_an_editor_at_another_node(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with (two_nodes(shared_nats.url, tmp_path) as (_, gateway),
                    editor_socket(gateway, Claim("t1", "editor", "control")) as duplex):
            editor = Editor(duplex)
            await editor.call("initialize", protocolVersion=1, clientCapabilities={})
            made = await editor.call("session/new", cwd=str(gateway.folder), mcpServers=[])
            prompt = [{"type": "text", "text": "/ask"}]
            ended = await editor.call("session/prompt", sessionId=made["sessionId"], prompt=prompt)
            assert ended["stopReason"] == "end_turn", ended
            assert [each["method"] for each in editor.asked] == ["session/request_permission"]
            assert {each["method"] for each in editor.told} == {"session/update"}

    run(go())


def test_an_editor_goes_no_further_than_its_claim(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with (two_nodes(shared_nats.url, tmp_path) as (_, gateway),
                    editor_socket(gateway, Claim("t1", "editor", "view")) as duplex):
            editor = Editor(duplex)
            await editor.call("initialize", protocolVersion=1, clientCapabilities={})
            refused = await editor.call("session/new", cwd=str(gateway.folder), mcpServers=[])
            assert "needs a token with the scope 'control'" in refused["message"]

    run(go())


def test_another_node_opens_no_websocket_but_an_editors(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(shared_nats.url, tmp_path) as (_, gateway):
            async def find_owner() -> Owner:
                return Owner("owner")

            with pytest.raises(Forbidden, match="for an editor only"):
                async with Gateway(gateway.switch).socket(find_owner, CLAIM, "/ws", []):
                    pass

    run(go())


def test_a_message_that_never_ends_is_cut_off(shared_nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplexes, "MESSAGE_BYTES", PIECE_BYTES)

    async def go() -> None:
        async with world(shared_nats.url, speak_first) as nodes, socket(nodes) as duplex:
            await duplex.receive()
            await duplex.send("x" * (PIECE_BYTES + 1))
            with pytest.raises(Closed) as closed:
                await duplex.receive()
            assert closed.value.closing.code == 1009

    run(go())


def test_a_text_that_is_no_text_is_a_broken_tunnel() -> None:
    with pytest.raises(NodeSilent):
        _whole(b"\xff", Kind.TEXT)
