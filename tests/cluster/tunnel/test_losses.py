"""Messages that are lost, whichever: the request fails, or was whole already. It is never short, and never hangs."""

from __future__ import annotations

import itertools

from starlette.types import Receive, Scope, Send

from tests.aio import run
from tests.cluster.tunnel.world import World, answer_with, body_of, world
from tests.tooling.nats import NatsServer
from trunkline.cluster.connection import Connection
from trunkline.cluster.tunnel.flow import PIECE_BYTES
from trunkline.cluster.tunnel.link import Pace
from trunkline.errors import NodeSilent

QUICK = Pace(beat_s=0.05, silent_s=0.5)
BODY = [bytes([number]) * PIECE_BYTES for number in range(20)]


def lose(connection: Connection, which: int) -> list[str]:
    """Have one message to other nodes be lost; the result is the subjects of all that were sent."""
    publish, numbers = Connection.publish, itertools.count()
    sent: list[str] = []

    async def losing(subject: str, body: bytes = b"", *, headers: dict[str, str] | None = None, reply: str = "") -> None:
        sent.append(subject)
        if next(numbers) != which:
            await publish(connection, subject, body, headers=headers, reply=reply)

    connection.publish = losing  # type: ignore[method-assign]  # as a network does it
    return sent


async def mirror(scope: Scope, receive: Receive, send: Send) -> None:
    body = await body_of(receive)
    if body is not None:
        await answer_with(send, body)


async def ask(nodes: World) -> bool:
    """Whether the answer came whole; it must then be right."""
    client = nodes.client("POST", "/files", BODY)
    try:
        _, answer = await client.whole()
    except NodeSilent:
        return False
    assert not client.is_whole or answer == b"".join(BODY)
    return client.is_whole


def test_whichever_message_is_lost_the_request_fails_or_is_whole(shared_nats: NatsServer) -> None:
    async def go() -> None:
        for at_owner in (False, True):
            which, sent = 0, [""]
            while which < len(sent):
                async with world(shared_nats.url, mirror, pace=QUICK) as nodes:
                    sent = lose(nodes.owner_connection if at_owner else nodes.gateway_connection, which)
                    was_whole = await ask(nodes)
                    assert not was_whole or which >= len(BODY), "what it carried was needed"
                which += 1
            assert which > len(BODY)

    run(go())


def test_after_a_loss_the_next_request_is_answered(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with world(shared_nats.url, mirror, pace=QUICK) as nodes:
            lose(nodes.owner_connection, 3)
            assert [await ask(nodes), await ask(nodes)] == [False, True]
            assert len(nodes.at_owner) == len(nodes.at_gateway) == 0

    run(go())
