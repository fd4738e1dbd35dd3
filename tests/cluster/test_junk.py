"""A message that no node wrote stands at a session's end: who has a key of the pool can put one there. The session goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import Owner, owner, set_up
from tests.cluster.showing.test_remote import first, gateway, step
from tests.journal.samples import entries, row, seqs
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.checkpoints import store_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.claim import claim, last_known
from trunkline.cluster.shipping.ending import remove_session
from trunkline.errors import Conflict
from trunkline.journal.base import Entry

JUNK: tuple[dict[str, str], ...] = (
    {}, {"Tl-Kind": "entries", "Tl-Epoch": "-1"}, {"Tl-V": "2", "Tl-Kind": "later", "Tl-Epoch": "1"})


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


async def spoil(box: Owner, session_id: str, *more: dict[str, str]) -> None:
    """What a stolen key of the pool can write."""
    for headers in (*JUNK, *more):
        for subject in (subjects.journal("box", session_id), subjects.checkpoint("box", session_id)):
            assert isinstance(await jetstream.publish(box.connection, subject, b"junk", headers), Ack)


def test_its_owner_ships_on_behind_it(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_on", entries(1, 3))
            await spoil(box, "ses_on")
            await box.ship("ses_on", entries(4, 5))
            await spoil(box, "ses_on", wire.entries_headers(1, 8, 1 << 40))
            assert await box.shipper.check_all(), "whether the stream has it is known all the same"
            await box.ship("ses_on", entries(6, 6))
            stored = await StreamReader(box.connection, lambda _: "box").read("ses_on")
            assert [each.seq for each in stored if each.event[:2] != b"{\""] == [1, 2, 3, 4, 5, 6]
            assert box.shipper.counts.went_back == 0 and not box.lost

    run(go())


def test_it_is_opened_at_a_gateway_and_followed(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_seen") as web:
            await web.box.ship("ses_seen", [first("ses_seen"), step(2, title="two")])
            await spoil(web.box, "ses_seen")
            session = web.remote("ses_seen")
            await session.open()
            assert (session.feed.last_seq, session.fold.title) == (2, "two")
            assert not await session.feed.has(9), "that nobody has more is known too"
            await web.box.commit("ses_seen", [step(3, title="three")])
            assert await session.feed.wait(2)
            assert session.fold.title == "three"
            assert seqs(await session.feed.read(after=0)) == [1, 2, 3]
            await session.end()

    run(go())


def test_much_of_it_is_read_once(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that shows a session looks every few seconds where it stands."""
    read: list[int] = []
    page_of = jetstream.read_page

    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="web") as web:
            reader = StreamReader(web, lambda _: "box")

            async def counted(connection: Connection, *args: Any, **more: Any) -> jetstream.Page:
                page = await page_of(connection, *args, **more)
                read.extend([len(page.messages)] * (connection is web))
                return page

            async def looked() -> tuple[int, int]:
                """Where the session stands, and how many messages were read for that."""
                read.clear()
                found = await reader.last("ses_much")
                sure = await reader.last_for_sure("ses_much")
                assert found is not None and sure == found[0]
                return found[0].last, sum(read)

            await box.ship("ses_much", entries(1, 3))
            await spoil(box, "ses_much")
            monkeypatch.setattr(jetstream, "read_page", counted)
            assert await looked() == (3, 1 + len(JUNK))
            assert await looked() == (3, 0)
            await spoil(box, "ses_much")
            assert await looked() == (3, len(JUNK))
            await box.ship("ses_much", entries(4, 5))
            await spoil(box, "ses_much")
            assert await looked() == (5, 1 + len(JUNK))
            subject = subjects.journal("box", "ses_much")
            await jetstream.ask(box.connection, f"STREAM.PURGE.{subjects.JOURNAL}", {"filter": subject})
            assert await reader.last("ses_much") is None
            await spoil(box, "ses_much")
            assert await reader.last("ses_much") is None, "what is there no more does not count"

    run(go())


def test_its_large_entries_are_put_together(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            for headers in JUNK:
                answer = await jetstream.publish(box.connection, subjects.parts("box", "ses_large", 1), b"junk", headers)
                assert isinstance(answer, Ack)
            large = Entry(1, 1, b"{}", os.urandom(700 << 10))
            await box.ship("ses_large", [large])
            (found,) = await StreamReader(box.connection, lambda _: "box").read("ses_large")
            assert found.update == large.update

    run(go())


def test_another_node_takes_it_over(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, owner(stream.url, node="new") as new:
            await box.ship("ses_claim", entries(1, 3))
            before = await last_known(new.connection, "box", "ses_claim")
            await spoil(box, "ses_claim", {})
            with pytest.raises(Conflict):
                await claim(new.connection, "box", "ses_claim", before, incarnation="j", why="")
            known = await last_known(new.connection, "box", "ses_claim")
            assert (known.epoch, known.seq) == (1, 3)
            taken = await claim(new.connection, "box", "ses_claim", known, incarnation="j", why="")
            assert (taken.epoch, taken.after) == (2, 3)

    run(go())


def test_it_is_ended_when_it_is_deleted(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_end", entries(1, 3))
            await store_checkpoint(box.connection, "box", row("ses_end", checkpoint=b"state", checkpoint_seq=2), 1)
            await spoil(box, "ses_end")
            assert (await remove_session(box.connection, "box", box.shipper.row("ses_end"), may_erase=False)).unswept
            assert await StreamReader(box.connection, lambda _: "box").read("ses_end") == []

    run(go())
