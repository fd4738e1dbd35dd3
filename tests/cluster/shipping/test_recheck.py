"""Sessions at rest whose messages the stream has lost: they are found and shipped again, though nobody says a word in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.aio import eventually, run
from tests.cluster.shipping.owner import Owner, messages, owner, set_up, shipped_seqs
from tests.journal.samples import entries
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.shipping.recheck import Recheck


@pytest.fixture
def stream(nats: NatsServer) -> Iterator[NatsServer]:
    run(set_up(nats.url))
    yield nats


@asynccontextmanager
async def watched(box: Owner, generation: list[int]) -> AsyncIterator[Recheck]:
    recheck = Recheck(box.connection, box.shipper, lambda: generation[0])
    box.shipper.on_went_back = recheck.soon
    recheck.start()
    try:
        yield recheck
    finally:
        await recheck.close()


async def lose(box: Owner, session_id: str) -> None:
    """All but the first message of a session."""
    for message in (await messages(box.connection, session_id))[1:]:
        await jetstream.ask(box.connection, f"STREAM.MSG.DELETE.{subjects.JOURNAL}", {"seq": message.seq})


async def is_whole(box: Owner, session_id: str) -> bool:
    return await shipped_seqs(box.connection, session_id) == list(range(1, 21))


async def until_whole(box: Owner, *session_ids: str) -> None:
    for session_id in session_ids:
        async with asyncio.timeout(30):
            while not await is_whole(box, session_id):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.02)


async def ship_two(box: Owner) -> None:
    for name in ("ses_one", "ses_two"):
        await box.ship(name, entries(1, 10))
        await box.ship(name, entries(11, 20))


def test_a_session_at_rest_is_shipped_again_when_the_connection_comes_back(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, watched(box, [0]):
            await ship_two(box)
            await lose(box, "ses_one")
            await asyncio.to_thread(stream.kill)
            await eventually(lambda: not box.connection.up)
            stream.start()
            await box.connection.wait_up(30)
            await until_whole(box, "ses_one", "ses_two")
            assert box.shipper.counts.went_back == 10

    run(go())


def test_what_one_session_finds_is_looked_for_in_all(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, watched(box, [0]):
            await ship_two(box)
            for name in ("ses_one", "ses_two"):
                await lose(box, name)
            await box.shipper._lines["ses_one"].check()
            await until_whole(box, "ses_one", "ses_two")

    run(go())


def test_what_another_node_found_is_looked_for_here(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trunkline.cluster.shipping.recheck.LOOK_S", 0.05)

    async def go() -> None:
        generation = [0]
        async with owner(stream.url) as box, watched(box, generation):
            await ship_two(box)
            await lose(box, "ses_two")
            generation[0] = 1
            await until_whole(box, "ses_two")

    run(go())


def test_asking_stores_nothing_and_changes_nothing(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await ship_two(box)
            before = await messages(box.connection, "ses_one")
            assert await box.shipper.check_all()
            assert await messages(box.connection, "ses_one") == before
            await box.ship("ses_one", entries(21, 22))
            assert box.shipper.counts.went_back == 0

    run(go())


def test_it_is_not_known_while_nobody_answers(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await ship_two(box)
            await jetstream.ask(box.connection, f"STREAM.DELETE.{subjects.JOURNAL}")
            assert not await box.shipper.check_all()

    run(go())
