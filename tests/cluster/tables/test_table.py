"""A bucket's copy: it has what others wrote, at once, and finds out what it did not hear."""

from __future__ import annotations

import asyncio

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import Clock, following, make_tables, two_nodes
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.tables.keys import Row
from trunkline.cluster.tables.table import Table
from trunkline.errors import ClusterUnavailable, Conflict


def value_of(row: Row | None) -> bytes | None:
    return None if row is None else row.value


def test_what_one_node_writes_and_takes_away_others_see(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            changes: list[tuple[str, bytes | None, bytes | None]] = []
            two.watch(lambda key, was, now: changes.append((key, value_of(was), value_of(now))))
            revision = await one.create("a", b"1")
            assert one.get("a") == Row(b"1", revision)
            revision = await one.put("a", b"2", revision=revision)
            await one.take("a", revision)
            await eventually(lambda: len(changes) == 3)
            assert changes == [("a", None, b"1"), ("a", b"1", b"2"), ("a", b"2", None)]
            assert one.rows() == two.rows() == {}

    run(go())


def test_a_key_is_created_once_also_behind_one_that_was_taken_away(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            for _ in range(5):
                made = await asyncio.gather(one.create("a", b"one"), two.create("a", b"two"), return_exceptions=True)
                won = [each for each in made if isinstance(each, int)]
                assert len(won) == 1 and sum(isinstance(each, Conflict) for each in made) == 1
                await two.take("a", won[0])

    run(go())


def test_a_key_is_taken_away_by_one_of_two(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            for _ in range(20):
                revision = await one.create("a", b"1")
                taken = await asyncio.gather(one.take("a", revision), two.take("a", revision), return_exceptions=True)
                assert sorted(type(each).__name__ for each in taken) == ["Conflict", "NoneType"]

    run(go())


def test_a_key_that_expires_is_gone_everywhere_and_can_be_created_again_at_once(nats: NatsServer) -> None:
    async def go() -> None:
        async with two_nodes(nats.url, subjects.STATE) as (one, two):
            await one.create("a", b"1", ttl_s=1)
            await eventually(lambda: two.get("a") is not None)
            await eventually(lambda: two.get("a") is None and one.get("a") is None)
            assert await one.keys.read("a") is None
            await two.create("a", b"2")
            await eventually(lambda: one.get("a") is not None)

    run(go())


def test_what_was_written_while_the_connection_was_away_is_read_when_it_is_back(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            async with following(connection, subjects.STATE) as table:
                kept = await table.create("kept", b"1")
                await table.create("gone", b"1")
                nats.kill()
                await eventually(lambda: not connection.up)
                nats.start()
                nats.wait_ready()
                async with connected(nats.url, node="other") as other, following(other, subjects.STATE) as theirs:
                    await theirs.drop("gone")
                    await theirs.create("new", b"2")
                await eventually(lambda: set(table.rows()) == {"kept", "new"})
                assert table.get("kept") == Row(b"1", kept)

    run(go())


def test_a_change_that_was_not_heard_is_found_by_asking(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(*_: object) -> None: ...

    async def go() -> None:
        async with connected(nats.url) as one, connected(nats.url, node="two") as two:
            await make_tables(one)
            monkeypatch.setattr(Table, "_on_message", deaf)
            async with following(one, subjects.STATE) as table, following(two, subjects.STATE) as other:
                await other.create("a", b"1")
                await eventually(lambda: table.get("a") is not None)
                await other.drop("a")
                await eventually(lambda: table.get("a") is None)

    run(go())


def test_a_bucket_that_went_back_is_taken_as_it_is(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            async with following(connection, subjects.STATE) as table:
                for number in range(5):
                    await table.create(f"old{number}", b"1")
                await jetstream.ask(connection, f"STREAM.DELETE.{table.keys.stream}")
                await make_tables(connection)
                await jetstream.publish(connection, subjects.key(subjects.STATE, "new"), b"2", {})
                await eventually(lambda: set(table.rows()) == {"new"})

    run(go())


def test_silence_is_counted_from_when_the_leader_last_answered(nats: NatsServer) -> None:
    clock = Clock()

    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            async with following(connection, subjects.STATE, clock) as table:
                await eventually(lambda: table.silent_s() == 0)
                nats.kill()
                await eventually(lambda: not connection.up)
                clock.now += 25
                assert table.silent_s() == 25
                with pytest.raises(ClusterUnavailable):
                    await table.create("a", b"1")
                nats.start()
                await eventually(lambda: table.silent_s() == 0)

    run(go())


def test_a_thousand_keys_are_read_in_pages(nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            await asyncio.gather(*(jetstream.publish(connection, subjects.key(subjects.STATE, f"k{number}"), b"x" * 600, {})
                                   for number in range(1200)))
            async with following(connection, subjects.STATE) as table:
                assert len(table.rows()) == 1200

    run(go())


@pytest.mark.slow
def test_three_servers_keep_the_fences_when_their_leader_dies(three: NatsCluster) -> None:
    async def go() -> None:
        async with connected(*three.urls, node="one") as one, connected(*three.urls, node="two") as two:
            await make_tables(one, replicas=3)
            async with following(one, subjects.STATE) as first, following(two, subjects.STATE) as second:
                revision = await first.create("a", b"1")
                state = await jetstream.ask(one, f"STREAM.INFO.{first.keys.stream}")
                assert isinstance(state, dict)
                three.named(state["cluster"]["leader"]).kill()
                taken = await asyncio.gather(first.take("a", revision), second.take("a", revision), return_exceptions=True)
                assert sorted(type(each).__name__ for each in taken) == ["Conflict", "NoneType"]
                await eventually(lambda: first.rows() == second.rows() == {})

    run(go(), timeout_s=120)


def test_a_replica_that_lags_is_not_believed(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader has a message behind what was read, so the copy is not whole, however many rows it has."""
    real, looks = Table._scan, 0

    async def lagging(self: Table) -> tuple[dict[str, Row], int]:
        nonlocal looks
        looks += 1
        read = await real(self)
        return read if looks > 2 else ({"a": Row(b"old", 1)}, 1)

    async def go() -> None:
        async with connected(nats.url) as connection:
            await make_tables(connection)
            for value in (b"old", b"new"):
                await jetstream.publish(connection, subjects.key(subjects.STATE, "a"), value, {})
            monkeypatch.setattr(Table, "_scan", lagging)
            async with following(connection, subjects.STATE) as table:
                assert looks == 3 and table.get("a") == Row(b"new", 2)

    run(go())
