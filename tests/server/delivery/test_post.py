"""One request to one address: its answer's status, or Unavailable."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from tests.server.delivery.receiver import SECRET, receiver
from trunkline.errors import Unavailable
from trunkline.server.delivery.post import OutgoingMessage, post
from trunkline.server.delivery.webhooks.rules import Webhook

BODY = b'{"type":"approval"}'


def test_what_is_sent_arrives_whole_and_the_status_comes_back() -> None:
    async def check() -> None:
        async with receiver(418) as there:
            message = OutgoingMessage(BODY, (("X-One", "1"),), "text/plain")
            assert await post(there.hook(), "127.0.0.1", message, trust=None) == 418
            got = await there.got()
            assert (got.method, got.target, got.body) == ("POST", "/hook?key=1", BODY)
            assert (got.headers["content-type"], got.headers["x-one"]) == ("text/plain", "1")

    run(check())


def test_a_receiver_that_says_nothing_is_given_up_after_a_while() -> None:
    async def check() -> None:
        async with receiver() as there:
            there.silent = True
            with pytest.raises(Unavailable, match=r"127\.0\.0\.1 did not answer within 0\.05 s"):
                await post(there.hook(), "127.0.0.1", OutgoingMessage(BODY, ()), trust=None, timeout_s=0.05)

    run(check())


def test_a_receiver_that_hangs_up_or_is_not_there_is_unavailable() -> None:
    async def check() -> None:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        hook = Webhook(url=f"http://127.0.0.1:{port}/", secret=SECRET)
        with pytest.raises(Unavailable, match="could not be reached"):
            await post(hook, "127.0.0.1", OutgoingMessage(BODY, ()), trust=None)
        server.close()
        await server.wait_closed()
        with pytest.raises(Unavailable, match="could not be reached"):
            await post(hook, "127.0.0.1", OutgoingMessage(BODY, ()), trust=None)

    run(check())
