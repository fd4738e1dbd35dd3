"""A node takes a session in: it is whole there, one of several who try has it, and what never became its own is thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.aio import eventually, run
from tests.cluster.moving.world import Here, node
from tests.cluster.shipping.owner import set_up
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster.moving.history import Incoming, written
from trunkline.cluster.moving.letting_go import let_go
from trunkline.cluster.moving.taking_in import HOLE, take_in
from trunkline.errors import Conflict, Invalid, NotFound
from trunkline.hub import Session, content_blocks
from trunkline.journal.base import Entry


async def entries(at: Here, session: Session) -> list[Entry]:
    found: list[Entry] = []
    while page := await session.feed.read(after=found[-1].seq if found else 0):
        found += page
    return found


def seqs(found: list[Entry]) -> list[int]:
    return [entry.seq for entry in found]


@pytest.mark.parametrize("commit", ["local", "all"])
def test_a_session_is_whole_where_it_is_taken_in(nats: NatsServer, tmp_path: Path, commit: str) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path, commit=commit) as box, node(nats.url, "den", tmp_path, commit=commit) as den:
            session = await box.session()
            await let_go(box.node, box.hub, session.id, "den", force=False)
            before = await entries(box, session)
            here = await den.take(await den.offer(session.id))
            found = await entries(den, here)
            assert [(each.seq, each.event, each.update) for each in found[:len(before)]] == [
                (each.seq, each.event, each.update) for each in before]
            assert seqs(found) == list(range(1, len(found) + 1))
            assert (here.fold.turns, here.fold.title, here.fold.start_key) == (1, session.fold.title, session.fold.start_key)
            await here.turns.send(content_blocks("/echo on"), by="ada")
            await eventually(lambda: here.fold.turns == 2 and here.fold.turn is None)
            await den.shipped(here)
            await eventually(lambda: session.id not in {row.session for row in box.node.shipper.rows() if not row.over})
            await eventually(lambda: session.id in box.hub._sessions._deleted and not box.node.giving_up._tasks)
            while await box.has(session.id):  # noqa: ASYNC110 - marked before it is gone, and nobody tells; `run` has a bound
                await asyncio.sleep(0.01)

    run(go())


def test_of_two_who_take_it_in_at_once_one_has_it(nats: NatsServer, tmp_path: Path) -> None:
    race([nats.url], tmp_path)


@pytest.mark.slow
def test_of_two_who_take_it_in_at_once_from_three_servers_one_has_it(three: NatsCluster, tmp_path: Path) -> None:
    race(three.urls, tmp_path)


def race(urls: Sequence[str], tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(*urls)
        async with (node(urls[0], "box", tmp_path) as box, node(urls[-1], "den", tmp_path) as den,
                    node(urls[len(urls) // 2], "mill", tmp_path) as mill):
            session = await box.session()
            offers = [await each.offer(session.id, was_away=True) for each in (den, mill)]
            done = await asyncio.gather(den.take(offers[0]), mill.take(offers[1]), return_exceptions=True)
            won = [each for each in done if not isinstance(each, BaseException)]
            assert len(won) == 1 and sum(isinstance(each, Conflict) for each in done) == 1
            loser = mill if done[0] is won[0] else den
            assert not await loser.has(session.id) and loser.node.shipper.rows() == []
            found = await entries(den, won[0])
            gap = next(entry for entry in found if b'"eventName":"gap"' in entry.event)
            assert gap.seq == offers[0].seq + HOLE and seqs(found)[-1] > gap.seq

    run(go())


def test_what_went_on_meanwhile_is_refused_and_so_is_what_cannot_go_on_here(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with (node(nats.url, "box", tmp_path) as box, node(nats.url, "den", tmp_path) as den,
                    node(nats.url, "alone", tmp_path, pool="alone") as alone):
            session = await box.session()
            old = await den.offer(session.id)
            await session.rename("went on", by="ada")
            await box.shipped(session)
            with pytest.raises(Conflict):
                await den.take(old)
            offer = await den.offer(session.id)
            with pytest.raises(Invalid, match="only nodes of one --pool"):
                await alone.take(await alone.offer(session.id))
            with pytest.raises(Invalid, match="/nowhere"):
                await den.take(msgspec.structs.replace(offer, cwd="/nowhere"))
            with pytest.raises(NotFound, match="unheard-of"):
                await den.take(msgspec.structs.replace(offer, agent="unheard-of"))
            with pytest.raises(Invalid, match="was offered up to entry"):
                await take_in(den.node, den.hub, Incoming(_cut(written(den.node.reader, offer))))
            assert not await den.has(session.id) and (await box.hub.session(session.id)).fold.title == "went on"

    run(go())


async def _cut(history: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Bytes that say more than they bring."""
    chunks = [chunk async for chunk in history]
    for chunk in (chunks[0], chunks[-1]):
        yield chunk


def test_a_copy_that_was_never_claimed_is_gone_at_the_next_start(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with node(nats.url, "box", tmp_path) as box:
            session = await box.session()
            async with node(nats.url, "den", tmp_path) as den:
                offer = await den.offer(session.id)
                await den.node.shipper.hold_apart(session.id)  # and there it dies, before the claim
                incoming = Incoming(written(den.node.reader, offer))
                await incoming.offer()
                await den.hub.handing.take_in(offer.row, incoming.pages())
                assert await den.has(session.id)
            async with node(nats.url, "den", tmp_path) as den:
                assert not await den.has(session.id) and den.node.shipper.rows() == []
                assert den.node.directory.place(session.id).owner == "box"
                assert (await den.take(await den.offer(session.id, was_away=True))).fold.turns == 1

    run(go())
