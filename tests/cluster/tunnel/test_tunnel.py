"""A request through a tunnel on a real server: whole, or refused with a reason; never short, never for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from tests.aio import WITHIN_S, eventually, loop_turns, run
from tests.cluster.connecting import connected
from tests.cluster.tunnel.world import CLAIM, GUEST, Client, answer_with, body_of, started, world
from tests.tooling.nats import NatsServer
from tests.tooling.pace import crowding
from trunkline.cluster.tunnel import switch as switches
from trunkline.cluster.tunnel.flow import PIECE_BYTES, WINDOW
from trunkline.cluster.tunnel.frames import Kind, encode
from trunkline.cluster.tunnel.gateway import Gateway, Owner
from trunkline.cluster.tunnel.heads import RequestHead, decode_ending, encode_head
from trunkline.cluster.tunnel.link import Pace
from trunkline.cluster.tunnel.subjects import Address
from trunkline.cluster.tunnel.switch import Switch
from trunkline.errors import ClientDisconnect, NodeAway, NodeSilent, NodeVersion, NotOwner, TooManyRequests


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Says what it was asked, and by whom."""
    body = await body_of(receive)
    assert body is not None
    sender, claim = scope["extensions"][GUEST]
    head = f"{scope['method']} {scope['path']} by {claim.name} with {claim.scope} through {sender}: "
    await answer_with(send, head.encode() + body, 201)


def test_a_request_is_answered_by_the_owners_application(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, echo) as nodes:
            client = nodes.client("POST", "/sessions/s1/commands", [b"hello"])
            expected = b"POST /sessions/s1/commands by phone (t1) with control through gateway: hello"
            assert await client.whole() == (201, expected)
            assert client.is_whole
            assert client.reply.raw_headers == [(b"content-length", b"%d" % len(expected))]

    run(go())


def test_a_long_body_arrives_as_it_was_sent_both_ways(shared_nats: NatsServer) -> None:
    async def mirror(scope: Scope, receive: Receive, send: Send) -> None:
        await answer_with(send, await body_of(receive) or b"")

    async def go() -> None:
        body = [bytes([number]) * 70_001 for number in range(90)]
        async with world(shared_nats.url, mirror) as nodes:
            assert await nodes.client("POST", "/files", body).whole() == (200, b"".join(body))

    run(go())


def test_a_stream_is_passed_on_as_it_comes(shared_nats: NatsServer) -> None:
    async def go() -> None:
        said = asyncio.Event()

        async def stream(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
            for number in range(40):
                await send({"type": "http.response.body", "body": b"data: %d\n\n" % number, "more_body": True})
                await said.wait()
                said.clear()
            await send({"type": "http.response.body", "body": b""})

        async with world(shared_nats.url, stream) as nodes:
            client = nodes.client("GET", "/events")
            await client.ask()
            reading = asyncio.create_task(client.read())
            for number in range(40):
                await eventually(lambda number=number: client.got.endswith(b"data: %d\n\n" % number))  # type: ignore[misc]
                said.set()
            await reading
            assert client.is_whole

    run(go())


def test_a_client_that_leaves_ends_the_owners_stream(shared_nats: NatsServer) -> None:
    async def go() -> None:
        ended = asyncio.Event()

        async def stream(scope: Scope, receive: Receive, send: Send) -> None:
            await body_of(receive)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"first", "more_body": True})
            assert (await receive())["type"] == "http.disconnect"
            ended.set()

        async with world(shared_nats.url, stream) as nodes:
            client = nodes.client("GET", "/events")
            await client.ask()
            reading = asyncio.create_task(client.read())
            await eventually(lambda: client.got)
            client.leave()
            await ended.wait()
            await reading
            assert not client.is_whole
            await eventually(lambda: len(nodes.at_owner) == 0 and len(nodes.at_gateway) == 0)

    run(go())


def test_an_upload_that_breaks_off_is_known_as_such(shared_nats: NatsServer) -> None:
    async def go() -> None:
        bodies: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def keep(scope: Scope, receive: Receive, send: Send) -> None:
            bodies.put_nowait(await body_of(receive))

        async with world(shared_nats.url, keep) as nodes:
            client = nodes.client("POST", "/files", [bytes(PIECE_BYTES)] * 3, goes_on=True)
            asking = asyncio.create_task(client.ask())
            await eventually(lambda: client.body_waiting == 0)
            client.leave()
            with pytest.raises(ClientDisconnect):
                await asking
            assert await bodies.get() is None

    run(go())


def test_an_answer_that_breaks_off_is_never_whole(shared_nats: NatsServer) -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half of", "more_body": True})

    async def go() -> None:
        async with world(shared_nats.url, half) as nodes:
            client = nodes.client("GET", "/export")
            await client.whole()
            assert not client.is_whole

    run(go())


def test_an_application_that_fails_before_its_answer_is_an_error(shared_nats: NatsServer, caplog: Any) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("a fault of ours")

    async def go() -> None:
        async with world(shared_nats.url, broken) as nodes:
            with pytest.raises(NodeSilent, match="owner failed to answer; its log says more"):
                await nodes.client("POST", "/x").ask()

    run(go())
    assert "a fault of ours" in caplog.text


def test_a_reader_that_stalls_holds_one_window_and_others_go_on(shared_nats: NatsServer) -> None:
    async def go() -> None:
        sent: list[int] = []

        async def much(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] == "/small":
                await answer_with(send, b"here")
                return
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for number in range(200):
                await send({"type": "http.response.body", "body": bytes(PIECE_BYTES), "more_body": True})
                sent.append(number)
            await send({"type": "http.response.body", "body": b""})

        async with world(shared_nats.url, much) as nodes:
            slow = nodes.client("GET", "/much")
            slow.flows.clear()
            await slow.ask()
            reading = asyncio.create_task(slow.read())
            await eventually(lambda: len(sent) >= WINDOW)
            for _ in range(20):
                assert await nodes.client("GET", "/small").whole() == (200, b"here")
            assert len(sent) <= WINDOW + WINDOW // 4 + 2
            slow.flows.set()
            assert len(await reading) == 200 * PIECE_BYTES
            assert slow.is_whole

    run(go())


def test_an_owner_that_does_not_read_holds_the_upload_back(shared_nats: NatsServer) -> None:
    async def go() -> None:
        may_read = asyncio.Event()

        async def later(scope: Scope, receive: Receive, send: Send) -> None:
            await may_read.wait()
            await answer_with(send, b"%d" % len(await body_of(receive) or b""))

        async with world(shared_nats.url, later) as nodes:
            client = nodes.client("POST", "/files", [bytes(PIECE_BYTES)] * 60)
            asking = asyncio.create_task(client.whole())
            await eventually(lambda: client.body_waiting <= 60 - WINDOW)
            await nodes.gateway_connection.client.flush()
            await loop_turns()
            assert client.body_waiting >= 60 - WINDOW - 2
            may_read.set()
            assert await asking == (200, b"%d" % (60 * PIECE_BYTES))

    run(go())


def test_an_owner_that_is_away_is_told_at_once(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url, node="gateway") as connection, started(Switch(connection)) as switch:
            gateway = Gateway(switch)
            for method in ("GET", "POST"):
                with pytest.raises(NodeAway, match="laptop is not connected; nothing was done"):
                    await Client(gateway, method, "/files", owner=Owner("laptop")).ask()

    run(go(), timeout_s=5 * crowding())


def test_a_request_for_an_earlier_owner_is_refused_before_it_is_run(shared_nats: NatsServer) -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("it was run")

    async def go() -> None:
        async with world(shared_nats.url, never) as nodes:
            with pytest.raises(NotOwner, match="epoch 3, not 2") as refused:
                await nodes.client("POST", "/sessions/s1/commands", owner=Owner("owner", 2)).ask()
            assert refused.value.details == {"epoch": 3}

    run(go())


def test_an_owner_that_lives_but_does_not_answer_has_a_deadline(shared_nats: NatsServer) -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        await body_of(receive)
        await receive()

    async def go() -> None:
        async with world(shared_nats.url, never, reply_s=0.2) as nodes:
            with pytest.raises(NodeSilent, match=r"owner did not answer within 0\.2 s"):
                await nodes.client("POST", "/x").ask()
            await eventually(lambda: len(nodes.at_owner) == 0)

    run(go())


def test_too_many_tunnels_are_refused_and_the_rest_go_on(shared_nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "OF_ONE_NODE", 2)

    async def go() -> None:
        async with world(shared_nats.url, wait_for_body) as nodes:
            held = [nodes.client("POST", "/x", [b"a"], goes_on=True) for _ in range(2)]
            asking = [asyncio.create_task(client.whole()) for client in held]
            await eventually(lambda: len(nodes.at_owner) == 2)
            with pytest.raises(TooManyRequests):
                await nodes.client("POST", "/x").ask()
            for client in held:
                client.more(b"", is_last=True)
            assert await asyncio.gather(*asking) == [(200, b"1"), (200, b"1")]
            assert (await nodes.client("POST", "/x").whole())[0] == 200

    async def wait_for_body(scope: Scope, receive: Receive, send: Send) -> None:
        await answer_with(send, b"%d" % len(await body_of(receive) or b""))

    run(go())


def test_a_message_of_another_version_is_refused_by_its_name(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, echo) as nodes:
            refusal: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

            async def hear(message: Any) -> None:
                refusal.set_result(message.data)

            async with connected(shared_nats.url, node="newer") as newer:
                await newer.subscribe(Address("newer", "back", "abc", "owner").subject, hear)
                head = encode_head(RequestHead(method="GET", path="/", claim=CLAIM))
                await newer.publish(Address("owner", "http", "abc", "newer").subject, b"\x02" + encode(Kind.OPEN, 0, head)[1:])
                told = decode_ending((await refusal)[6:])
            assert isinstance(told, NodeVersion)
            assert "version 1 of the tunnel, not version 2" in told.message
            assert len(nodes.at_owner) == 0

    run(go())


def test_a_third_node_cannot_speak_in_a_tunnel_of_two(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, echo) as nodes, connected(shared_nats.url, node="third") as third:
            client = nodes.client("POST", "/x", [b"true"], goes_on=True)
            asking = asyncio.create_task(client.whole())
            await eventually(lambda: len(nodes.at_owner) == 1)
            tunnel = next(iter(nodes.at_owner._links)).tunnel
            for number in range(4):
                await third.publish(Address("owner", "http", tunnel, "third").subject, encode(Kind.LAST, number, b"false"))
            await third.client.flush()
            client.more(b" words", is_last=True)
            status, answer = await asking
            assert (status, answer.endswith(b": true words")) == (201, True)

    run(go())


def test_many_at_once_each_get_their_own_answer_and_nothing_is_left(shared_nats: NatsServer) -> None:
    async def mirror(scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(receive)
        if body is not None:
            await answer_with(send, scope["path"].encode() + b" " + body)

    async def go() -> None:  # whoever has a hundredth of a machine is silent for long, and is not to be given up here
        async with world(shared_nats.url, mirror, pace=Pace(silent_s=WITHIN_S)) as nodes:
            clients = [nodes.client("POST", f"/{number}", [b"%d" % number * 900] * (number % 7 + 1)) for number in range(200)]
            asking = [asyncio.create_task(client.whole()) for client in clients]
            for client, task in list(zip(clients, asking, strict=True))[::5]:
                await asyncio.sleep(0)
                client.leave() if client.body_waiting else task.cancel()
            answers = await asyncio.gather(*asking, return_exceptions=True)
            for number, answer in enumerate(answers):
                if number % 5:
                    assert answer == (200, b"/%d " % number + b"%d" % number * 900 * (number % 7 + 1))
            await eventually(lambda: len(nodes.at_owner) == 0 and len(nodes.at_gateway) == 0)

    run(go())


def test_who_is_cancelled_while_the_head_is_sent_leaves_nothing_open(shared_nats: NatsServer,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """With much to send the connection waits for the network in there."""
    async def go() -> None:
        async with world(shared_nats.url, echo) as nodes:
            connection, sent = nodes.gateway_connection, asyncio.Event()
            really = connection.publish

            async def publish(subject: str, body: bytes = b"", **options: Any) -> None:
                await really(subject, body, **options)
                if not sent.is_set():
                    sent.set()
                    await asyncio.get_running_loop().create_future()

            monkeypatch.setattr(connection, "publish", publish)
            asking = asyncio.create_task(nodes.client("POST", "/x", [b"a"], goes_on=True).ask())
            await sent.wait()
            await eventually(lambda: len(nodes.at_owner) == 1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert len(nodes.at_gateway) == 0
            await eventually(lambda: len(nodes.at_owner) == 0)

    run(go())
