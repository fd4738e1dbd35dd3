"""A command under its id is done once, whatever was lost: the answer, the gateway, the owner. (What knows the id again is the
session's own state.)"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.aio import run
from tests.cluster.tunnel.hubs import Node, node
from tests.cluster.tunnel.test_faults import QUICK, answered, apart
from tests.server.site import Answer
from tests.tooling.nats import NatsServer
from trunkline.cluster.tunnel.gateway import Owner
from trunkline.errors import NodeSilent

COMMAND = {"id": "c1", "command": {"command": "send_message", "message": "/echo once"}}


async def prompts(gateway: Node, path: str) -> int:
    """How often the prompt is in the session. An owner that was frozen may have to connect again first."""
    await answered(gateway, path)
    packets = (await gateway.ask("GET", f"{path}/messages?limit=500")).json()
    return str(packets).count("'sessionUpdate': 'user_message_chunk'")


async def send(gateway: Node, path: str) -> Answer:
    return await gateway.ask("POST", f"{path}/commands", json_body=COMMAND)


class Losing:
    """An application whose first answers to commands nobody hears."""

    def __init__(self, app: ASGIApp, lost: int) -> None:
        self._app = app
        self._lost = lost
        self.carried_out = 0
        self.done = asyncio.Event()
        """Set when the first was carried out."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].endswith("/commands"):
            await self._app(scope, receive, send)
            return
        self.carried_out += 1
        if self.carried_out > self._lost:
            await self._app(scope, receive, send)
            return
        await self._lose(scope, receive)
        raise NodeSilent("the answer was lost")

    async def _lose(self, scope: Scope, receive: Receive) -> None:
        await self._app(scope, receive, _nowhere)
        self.done.set()


async def _nowhere(message: Message) -> None: ...


def test_an_answer_that_is_lost_is_asked_for_again(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        made: list[Losing] = []

        def around(app: ASGIApp) -> ASGIApp:
            made.append(Losing(app, lost=2))
            return made[0]

        async with (node(shared_nats.url, "owner", tmp_path, acting=("gateway",), around=around) as owner,
                    node(shared_nats.url, "gateway", tmp_path) as gateway):
            gateway.owner = Owner("owner")
            session = await owner.session()
            done = await send(gateway, f"/sessions/{session.id}")
            assert done.status == 200, done.body
            assert made[0].carried_out == 3
            assert await prompts(gateway, f"/sessions/{session.id}") == 1

    run(go())


def test_what_has_no_id_is_not_sent_twice(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        made: list[Losing] = []

        def around(app: ASGIApp) -> ASGIApp:
            made.append(Losing(app, lost=2))
            return made[0]

        async with (node(shared_nats.url, "owner", tmp_path, acting=("gateway",), around=around) as owner,
                    node(shared_nats.url, "gateway", tmp_path) as gateway):
            gateway.owner = Owner("owner")
            session = await owner.session()
            unknown = await gateway.ask("POST", f"/sessions/{session.id}/commands", json_body={"command": COMMAND["command"]})
            assert (unknown.status, unknown.json()["code"]) == (504, "node_silent")
            assert made[0].carried_out == 1

    run(go())


class Holding(Losing):
    """An application that carries a first command out, and says nothing until whoever asked has left."""

    async def _lose(self, scope: Scope, receive: Receive) -> None:
        await super()._lose(scope, receive)
        while (await receive())["type"] != "http.disconnect":
            continue


def test_another_gateway_finds_it_done(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        made: list[Holding] = []

        def around(app: ASGIApp) -> ASGIApp:
            made.append(Holding(app, lost=1))
            return made[0]

        async with (node(shared_nats.url, "owner", tmp_path, acting=("gateway", "second"), around=around) as owner,
                    node(shared_nats.url, "gateway", tmp_path) as gateway,
                    node(shared_nats.url, "second", tmp_path) as second):
            gateway.owner = second.owner = Owner("owner")
            path = f"/sessions/{(await owner.session()).id}"
            asking = asyncio.create_task(send(gateway, path))
            await made[0].done.wait()
            asking.cancel()  # the first gateway is gone, and has said nothing to anybody
            told = [await send(second, path) for _ in range(2)]
            assert told[0].status == 200, told[0].body
            assert told[0].json() == told[1].json()
            assert await prompts(second, path) == 1

    run(go())


@pytest.mark.slow
def test_an_owner_that_dies_before_it_answers_knows_it_afterwards(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(shared_nats, tmp_path) as (owner, gateway, path):
            owner.kill()
            await owner.start("--die")
            asking = asyncio.create_task(send(gateway, path))
            await owner.ended()
            await owner.start()
            done = await asking
            assert done.status == 200, done.body
            assert done.json()["result"] == (await send(gateway, path)).json()["result"]
            assert await prompts(gateway, path) == 1

    run(go())


@pytest.mark.slow
def test_a_frozen_owner_does_it_once_when_it_thaws(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(shared_nats, tmp_path) as (owner, gateway, path):
            owner.freeze()
            asking = asyncio.create_task(send(gateway, path))
            await asyncio.sleep(2 * QUICK.silent_s)  # time passes: that is what it is about
            owner.thaw()
            assert (await asking).status == 200
            assert await prompts(gateway, path) == 1

    run(go())


@pytest.mark.slow
def test_at_the_deadline_it_is_said_that_nothing_is_known(tmp_path: Path, shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with apart(shared_nats, tmp_path) as (owner, gateway, path):
            gateway.app.parts.elsewhere._gateway._within_s = 0.5  # type: ignore[union-attr]  # not half a minute
            owner.freeze()
            unknown: Any = (await send(gateway, path)).json()
            assert unknown["code"] == "node_silent"
            assert "ask again with the same id" in unknown["message"]
            owner.thaw()
            assert (await send(gateway, path)).status == 200
            assert await prompts(gateway, path) == 1

    run(go())
