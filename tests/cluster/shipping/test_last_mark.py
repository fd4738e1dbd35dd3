"""Messages that do not say where their session stands: a later version's, or anybody's who has a key of its pool."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack, Stored
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.claim import last_known
from trunkline.cluster.shipping.ending import remove_session
from trunkline.journal.base import Entry


@pytest.mark.parametrize("headers", [{}, {"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "x"},
                                     {"Tl-V": "2", "Tl-Kind": "dance", "Tl-Epoch": "1"}],
                         ids=["none", "no number", "a later kind"])
def test_a_message_that_says_nothing_holds_up_no_session(nats: NatsServer, headers: dict[str, str]) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, connected(nats.url, node="thief") as thief:
            await box.ship("ses_1", [Entry(1, 1, b"{}"), Entry(2, 1, b"{}")])
            assert isinstance(await jetstream.publish(thief, subjects.journal("box", "ses_1"), b"x", headers), Ack)
            async with asyncio.timeout(10):
                await box.ship("ses_1", [Entry(3, 1, b"{}")])
            found = await StreamReader(box.connection, lambda _: "box").read("ses_1")
            assert [each.seq for each in found] == [1, 2, 3]
            assert not box.shipper.counts.went_back
            assert isinstance(await jetstream.publish(thief, subjects.journal("box", "ses_1"), b"x", headers), Ack)
            removed = await remove_session(box.connection, "box", box.shipper.row("ses_1"))
            assert removed.erased

    run(go())


def test_where_a_session_stands_is_known_behind_a_message_that_does_not_say_it(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            await box.ship("ses_stands", [Entry(1, 1, b"{}"), Entry(2, 1, b"{}")])
            later = {"Tl-V": "2", "Tl-Kind": "dance", "Tl-Epoch": "1"}
            for headers in (later, later):
                fence = (await last_message(box.connection, "ses_stands")).seq
                await jetstream.publish(box.connection, subjects.journal("box", "ses_stands"), b"x",
                                        headers | {jetstream.FENCE: str(fence)})
            reader = StreamReader(box.connection, lambda _: "box")
            found = await reader.last("ses_stands")
            assert found is not None and found[0].last == 2
            assert [each.seq for each in await reader.read("ses_stands", tail=True)] == [1, 2]
            assert (await last_known(box.connection, "box", "ses_stands")).seq == 2

    run(go())


async def last_message(connection: Connection, session_id: str) -> Stored:
    found = await jetstream.last_message(connection, subjects.JOURNAL, subjects.journal("box", session_id))
    assert found is not None
    return found


def test_messages_that_name_no_entries_lead_no_search_astray(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            subject, fence = subjects.journal("box", "ses_long"), 0
            for seq in range(1, 1201):
                headers = {"Tl-V": "2", "Tl-Kind": "dance", "Tl-Epoch": "1"}
                if seq % 300 > 50 or seq > 900:
                    headers = wire.entries_headers(1, seq, seq)
                ack = await jetstream.publish(box.connection, subject, wire.entries_body([Entry(seq, 1, b"{}")]),
                                              headers | {jetstream.FENCE: str(fence)})
                assert isinstance(ack, Ack)
                fence = ack.seq
            for after in (40, 299, 560, 640, 1100):
                found = await StreamReader(box.connection, lambda _: "box").read("ses_long", after=after, limit=2)
                assert found[0].seq == next(seq for seq in range(after + 1, 1201) if seq % 300 > 50 or seq > 900)

    run(go())
