"""Headers as the bytes in front of a message: as the library writes them, or not written here."""

from __future__ import annotations

import pytest
from nats.aio.msg import Msg

from tests.aio import run
from tests.cluster.connecting import connected
from tests.tooling.nats import NatsServer
from trunkline.cluster.connection import Connection
from trunkline.cluster.headers import as_block

PLAIN = {"Tl-V": "1", "Tl-Seq": "10-14", "Nats-Expected-Stream": "TL_J", "with-blanks": "one, two; three: 4"}


def test_headers_are_lines_behind_the_first() -> None:
    assert as_block({"a": "1", "b-c": "two words"}) == b"NATS/1.0\r\na: 1\r\nb-c: two words\r\n\r\n"


@pytest.mark.parametrize("headers", [
    {"a": "1\r\nb: 2"}, {"a": "1\nb: 2"}, {"a": "1\r"}, {"a": "1\r\n"}, {"a": "1\r\n\r\nbody"}, {"a": " 1"}, {"a": "1 "},
    {"a": ""}, {"": "1"}, {"a b": "1"}, {"a:": "1"}, {"a\r\nb": "1"}, {"a": "1\r\nb: 2", "c": "3"}, {},
])
def test_what_could_end_a_line_or_is_no_name_is_left_to_the_library(headers: dict[str, str]) -> None:
    assert as_block(headers) is None


def test_they_arrive_as_they_were_sent_and_none_brings_another(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url, node="one") as one, connected(shared_nats.url, node="two") as two:
            assert await said(one, two, PLAIN) == (PLAIN, b"body")
            assert await said(one, two, {"a": "1\r\nb: 2"}) == ({"a": "1  b: 2"}, b"body")

    run(go())


async def said(one: Connection, two: Connection, headers: dict[str, str]) -> tuple[dict[str, str], bytes]:
    """What one hears of what the other sends."""
    heard: list[tuple[dict[str, str], bytes]] = []

    async def hear(message: Msg) -> None:
        heard.append((message.headers or {}, message.data))
        await one.publish(message.reply)

    subscription = await one.subscribe("here", hear)
    await one.client.flush()
    await two.request("here", b"body", headers=headers)
    await one.unsubscribe(subscription)
    return heard[0]
