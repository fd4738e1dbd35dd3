"""Shipping: what is committed arrives in order and once, whatever happens on the way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import messages, owner, set_up, shipped_seqs
from tests.journal.samples import entries, entry
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.shipping.parts import join_parts
from trunkline.cluster.shipping.shipper import COUNTED_COMMITS
from trunkline.errors import StorageError
from trunkline.journal.base import Group
from trunkline.journal.stores.memory import MemoryJournal


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A server with the cluster's streams, for tests with sessions of their own."""
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


def test_what_is_committed_arrives_in_order_and_says_where_it_stands(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            for first in range(1, 40, 4):
                await box.commit("ses_order", entries(first, first + 3))
            await box.shipper.shipped("ses_order", 40)
            found = await messages(box.connection, "ses_order")
            assert await shipped_seqs(box.connection, "ses_order") == list(range(1, 41))
            assert box.shipper.row("ses_order") == ShippedRow("ses_order", 1, 40, found[-1].seq)
            assert box.shipper.spool_bytes == 0 and not box.shipper.is_behind and box.shipper.lags() == {}

    run(go())


def test_what_comes_while_one_is_in_flight_goes_with_the_next(stream: NatsServer) -> None:
    async def go() -> int:
        async with owner(stream.url) as box:
            for seq in range(1, 301):
                await box.commit("ses_merge", [entry(seq)])
            await box.shipper.shipped("ses_merge", 300)
            assert await shipped_seqs(box.connection, "ses_merge") == list(range(1, 301))
            return len(await messages(box.connection, "ses_merge"))

    assert run(go()) < 150


def test_a_session_of_before_is_shipped_from_its_beginning(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            journal = box.journal
            for first in range(1, 30_000, 1000):
                await journal.append(group_of("ses_old", first, 1000))
            await box.ship("ses_old", [entry(30_001)])
            assert await shipped_seqs(box.connection, "ses_old") == list(range(1, 30_002))

    run(go())


def group_of(session_id: str, first: int, count: int) -> Group:
    return Group({session_id: entries(first, first + count - 1)}, {})


def test_a_large_entry_goes_in_parts_and_comes_back_whole(stream: NatsServer) -> None:
    async def go() -> None:
        large = entry(3)
        large.raw = os.urandom(2 << 20)
        async with owner(stream.url) as box:
            await box.ship("ses_large", [*entries(1, 2), large, *entries(4, 5)])
            assert await shipped_seqs(box.connection, "ses_large") == [1, 2, 3, 4, 5]
            [named] = [message for message in await messages(box.connection, "ses_large") if wire.PARTS in message.headers]
            assert named.headers[wire.PARTS] == "3:5"
            page = await jetstream.read_page(box.connection, subjects.PARTS, subjects.parts("box", "ses_large", 3), from_seq=1,
                                             batch=100, max_bytes=8 << 20)
            found = join_parts((message.headers, message.data) for message in page.messages)
            large.pos = 0
            assert found == large

    run(go())


def test_the_next_start_goes_on_where_the_last_one_was(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with owner(stream.url, journal=journal, ledger=tmp_path / "cluster.db") as box:
            await box.ship("ses_again", entries(1, 5))
        async with owner(stream.url, journal=journal, ledger=tmp_path / "cluster.db") as box:
            assert box.shipper.row("ses_again").seq == 5
            await box.ship("ses_again", entries(6, 9))
            assert await shipped_seqs(box.connection, "ses_again") == list(range(1, 10))

    run(go())


def test_a_start_that_has_forgotten_learns_it_from_the_stream(stream: NatsServer) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with owner(stream.url, journal=journal) as box:
            await box.ship("ses_forgot", entries(1, 5))
        async with owner(stream.url, journal=journal) as box:
            await box.ship("ses_forgot", entries(6, 9))
            assert await shipped_seqs(box.connection, "ses_forgot") == list(range(1, 10))
            assert box.shipper.counts.went_back == 0

    run(go())


def test_a_crash_between_the_ack_and_the_ledger_stores_nothing_twice(stream: NatsServer) -> None:
    """The group is in the stream, the shipper knows of the one before it only."""
    async def go() -> None:
        journal = MemoryJournal()
        async with owner(stream.url, journal=journal) as box:
            await box.ship("ses_crash", entries(1, 3))
            known = box.shipper.row("ses_crash")
            await box.ship("ses_crash", entries(4, 6))
        async with owner(stream.url, journal=journal) as box:
            await box.shipper.adopt(known)
            box.shipper.resume("ses_crash", 6)
            await box.shipper.shipped("ses_crash", 6)
            await box.ship("ses_crash", entries(7, 7))
            assert await shipped_seqs(box.connection, "ses_crash") == list(range(1, 8))

    run(go())


def test_a_claim_stops_the_old_owner_and_tells_what_it_had_alone(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="other") as other:
            await box.ship("ses_claim", entries(1, 5))
            await claim(other, "ses_claim", box.shipper.row("ses_claim").stream_seq, after=5)
            await box.commit("ses_claim", entries(6, 9))
            with pytest.raises(StorageError, match="another node's"):
                await box.shipper.shipped("ses_claim", 9)
            await eventually(lambda: box.lost)
            assert (box.lost[0].after, box.lost[0].newest, box.lost[0].epoch) == (5, 9, 2)
            await box.commit("ses_claim", entries(10, 12))
            assert await shipped_seqs(box.connection, "ses_claim") == [1, 2, 3, 4, 5], "nothing more is sent"
            assert box.shipper.row("ses_claim").over and box.shipper.spool_bytes == 0

    run(go())


def test_a_start_that_has_forgotten_learns_how_far_its_session_was_taken_over(stream: NatsServer) -> None:
    """So does whoever puts it away later: the claims were made while it was away, and another one on top."""
    async def go() -> None:
        journal = MemoryJournal()
        async with owner(stream.url, journal=journal) as box, connected(stream.url, node="other") as other:
            await box.ship("ses_late", entries(1, 5))
            first = await claim(other, "ses_late", box.shipper.row("ses_late").stream_seq, after=5)
            again = wire.Claim(epoch=3, owner="third", incarnation="k", after=5)
            body, headers = wire.claim_message(again)
            await jetstream.publish(other, subjects.journal("box", "ses_late"), body, {**headers, jetstream.FENCE: str(first)})
        await journal.append(Group({"ses_late": entries(6, 9)}, {}))
        async with owner(stream.url, journal=journal) as box:
            box.shipper.resume("ses_late", 9)
            await eventually(lambda: box.lost)
            row = box.shipper.row("ses_late")
            assert row.over and (row.epoch + 1, row.seq) == (box.lost[0].epoch, box.lost[0].after) == (3, 5)

    run(go())


def test_a_claim_that_was_overtaken_by_its_owners_entries_still_says_what_it_took_over(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="other") as other:
            await box.ship("ses_over", entries(1, 5))
            claimed = await claim(other, "ses_over", box.shipper.row("ses_over").stream_seq, after=5)
            headers = {**wire.entries_headers(2, 6, 6, after=5), jetstream.FENCE: str(claimed)}
            await jetstream.publish(other, subjects.journal("box", "ses_over"), wire.entries_body([entry(6)]), headers)
            await box.commit("ses_over", entries(6, 9))
            await eventually(lambda: box.lost)
            assert (box.lost[0].after, box.lost[0].newest) == (5, 9)

    run(go())


async def claim(connection: Connection, session_id: str, fence: int, after: int) -> int:
    body, headers = wire.claim_message(wire.Claim(epoch=2, owner="other", incarnation="i9", after=after))
    headers[jetstream.FENCE] = str(fence)
    answer = await jetstream.publish(connection, subjects.journal("box", session_id), body, headers)
    assert isinstance(answer, jetstream.Ack)
    return answer.seq


def test_a_stream_that_went_back_gets_what_it_lost_once_more(stream: NatsServer) -> None:
    """The last messages are taken out of the stream, as a restored disk would: the owner's next fence finds that."""
    async def go() -> None:
        async with owner(stream.url) as box:
            for first in (1, 11, 21):
                await box.ship("ses_back", entries(first, first + 9))
            for message in (await messages(box.connection, "ses_back"))[1:]:
                await jetstream.ask(box.connection, f"STREAM.MSG.DELETE.{subjects.JOURNAL}", {"seq": message.seq})
            await box.ship("ses_back", entries(31, 35))
            assert await shipped_seqs(box.connection, "ses_back") == list(range(1, 36))
            assert box.shipper.counts.went_back == 20

    run(go())


def test_a_stream_that_lost_a_whole_session_gets_all_of_it(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_purged", entries(1, 20))
            await jetstream.ask(box.connection, f"STREAM.PURGE.{subjects.JOURNAL}",
                                {"filter": subjects.journal("box", "ses_purged")})
            await box.ship("ses_purged", entries(21, 22))
            assert await shipped_seqs(box.connection, "ses_purged") == list(range(1, 23))
            assert box.shipper.counts.went_back == 20

    run(go())


def test_a_claim_that_the_stream_lost_is_made_again(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as first, owner(stream.url, node="other") as second:
            await first.ship("ses_reclaim", entries(1, 5))
            claimed = await claim(second.connection, "ses_reclaim", first.shipper.row("ses_reclaim").stream_seq, after=5)
            await second.journal.append(group_of("ses_reclaim", 1, 5))
            await second.shipper.adopt(ShippedRow("ses_reclaim", 2, 5, claimed, 5))
            await second.ship("ses_reclaim", entries(6, 7))
            for message in (await messages(second.connection, "ses_reclaim"))[1:]:
                await jetstream.ask(second.connection, f"STREAM.MSG.DELETE.{subjects.JOURNAL}", {"seq": message.seq})
            await second.ship("ses_reclaim", entries(8, 9))
            assert await shipped_seqs(second.connection, "ses_reclaim") == list(range(1, 10))
            found = await messages(second.connection, "ses_reclaim")
            assert [message.headers[wire.KIND] for message in found] == ["entries", "claim", "entries"]
            await first.commit("ses_reclaim", entries(6, 6))
            await eventually(lambda: first.lost)

    run(go())


def test_agents_are_held_while_too_much_is_not_shipped_and_let_go_again(nats: NatsServer) -> None:
    async def go() -> list[bool]:
        held: list[bool] = []
        await set_up(nats.url)
        async with owner(nats.url, spool_bytes=10_000, on_full=held.append) as box:
            await box.ship("ses_full", entries(1, 3))
            nats.kill()
            await eventually(lambda: not box.connection.up)
            await box.commit("ses_full", entries(4, 103, size=150))
            assert held == [True]
            nats.start()
            await box.shipper.shipped("ses_full", 103)
            assert await shipped_seqs(box.connection, "ses_full") == list(range(1, 104))
        return held

    assert run(go()) == [True, False]


def test_while_the_cluster_is_away_nothing_is_held_in_memory(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            await box.ship("ses_away", entries(1, 3))
            nats.kill()
            await eventually(lambda: not box.connection.up)
            for seq in range(4, 504):
                await box.commit("ses_away", [entry(seq)])
            line = box.shipper._lines["ses_away"]
            assert line.outbox.held_bytes == 0 and len(box.shipper._sizes["ses_away"]) <= COUNTED_COMMITS
            assert box.shipper.spool_bytes == sum(entry(seq).size() for seq in range(4, 504))
            nats.start()
            await box.shipper.shipped("ses_away", 503)
            assert box.shipper.spool_bytes == 0
            assert await shipped_seqs(box.connection, "ses_away") == list(range(1, 504))

    run(go())


def test_a_full_stream_keeps_everything_here_and_goes_on_when_there_is_room(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url, node="admin") as admin:
            await set_up(nats.url)
            config = (await jetstream.ask(admin, f"STREAM.INFO.{subjects.JOURNAL}"))["config"]  # type: ignore[index]
            await jetstream.ask(admin, f"STREAM.UPDATE.{subjects.JOURNAL}", {**config, "max_bytes": 3000})
            async with owner(nats.url) as box:
                noise = entry(1)
                noise.raw = os.urandom(8000)
                await box.commit("ses_room", [noise])
                await eventually(lambda: box.shipper.lags())
                await jetstream.ask(admin, f"STREAM.UPDATE.{subjects.JOURNAL}", {**config, "max_bytes": 1 << 20})
                await box.shipper.shipped("ses_room", 1)
                assert await shipped_seqs(box.connection, "ses_room") == [1]

    run(go())


@pytest.mark.slow
def test_the_death_of_the_leader_loses_nothing_and_repeats_nothing(three: NatsCluster) -> None:
    async def go() -> None:
        await set_up(*three.urls)
        async with owner(*three.urls) as box:
            seqs = dict.fromkeys(("ses_a", "ses_b", "ses_c"), 0)

            async def write() -> None:
                for _ in range(20):
                    for name in seqs:
                        await box.commit(name, entries(seqs[name] + 1, seqs[name] + 3))
                        seqs[name] += 3
                    await asyncio.sleep(0.002)

            await write()
            info = await jetstream.ask(box.connection, f"STREAM.INFO.{subjects.JOURNAL}")
            assert isinstance(info, dict)
            leader = three.named(info["cluster"]["leader"])
            leader.kill()
            await write()
            leader.start()
            for name, last in seqs.items():
                await box.shipper.shipped(name, last)
                assert await shipped_seqs(box.connection, name) == list(range(1, last + 1))
            assert box.shipper.counts.went_back == 0

    run(go(), timeout_s=90)


def test_what_is_kept_of_how_far_sessions_are_is_closed_to_others(stream: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        ledger = tmp_path / "cluster.db"
        ledger.touch(0o644)  # as it was made before
        async with owner(stream.url, ledger=ledger) as box:
            await box.ship("ses_closed", entries(1, 2))
        assert ledger.stat().st_mode & 0o077 == 0

    run(go())
