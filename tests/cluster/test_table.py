"""A table of the cluster in memory: what is written anywhere is seen here, and what was missed is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import set_up
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.jetstream import WRONG_LAST, Ack, Refusal
from trunkline.cluster.table import Table


@asynccontextmanager
async def table(url: str, told: list[tuple[str, bytes | None]] | None = None, node: str = "web") -> AsyncIterator[Table]:
    async with connected(url, node=node) as connection:
        made = Table(connection, subjects.STATE, (lambda key, value: told.append((key, value))) if told is not None else ignore)
        made.start()
        try:
            await made.loaded.wait()
            yield made
        finally:
            await made.close()


def ignore(key: str, value: bytes | None) -> None: ...


def test_what_one_node_writes_all_have(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        told: list[tuple[str, bytes | None]] = []
        async with table(nats.url) as here, table(nats.url, told, "other") as there:
            for number in range(20):
                await here.put(f"k{number}", str(number).encode())
            await here.delete("k3")
            await eventually(lambda: len(there.rows) == 19 and "k3" not in there.rows)
            assert told[-1] == ("k3", None) and len(told) == 21
            async with table(nats.url, node="late") as late:
                assert late.rows == there.rows == here.rows

    run(go())


def test_of_two_who_change_a_row_under_its_fence_one_wins(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with table(nats.url) as here:
            first = await here.put("k", b"1", fence=0)
            assert isinstance(first, Ack)
            second = await here.put("k", b"2", fence=0)
            assert isinstance(second, Refusal) and second.err_code == WRONG_LAST
            await eventually(lambda: here.revisions.get("k") == first.seq)
            assert isinstance(await here.put("k", b"2", fence=here.revisions["k"]), Ack)

    run(go())


def test_a_row_with_a_lifetime_goes_by_itself(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        told: list[tuple[str, bytes | None]] = []
        async with table(nats.url, told) as here:
            await here.put("lease", b"x", ttl_s=1)
            await eventually(lambda: told == [("lease", b"x"), ("lease", None)])
            assert here.rows == {}

    run(go())


def test_a_renewal_that_changes_nothing_is_told_too(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        told: list[tuple[str, bytes | None]] = []
        async with table(nats.url, told) as here:
            await here.put("lease", b"x")
            await here.put("lease", b"x")
            await eventually(lambda: told == [("lease", b"x"), ("lease", b"x")])

    run(go())


def test_a_change_that_was_not_heard_is_found(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with table(nats.url) as here, connected(nats.url, node="other") as other:
            subscription = here._subscription
            assert subscription is not None
            hear = subscription._cb

            async def deaf(message: Msg) -> None: ...

            subscription._cb = deaf
            await jetstream.publish(other, subjects.key(subjects.STATE, "missed"), b"1", {})
            await other.client.flush()
            await here._connection.client.flush()
            subscription._cb = hear
            await jetstream.publish(other, subjects.key(subjects.STATE, "heard"), b"2", {})
            await eventually(lambda: here.rows == {"missed": b"1", "heard": b"2"})

    run(go())


def test_a_table_comes_back_with_the_server(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with table(nats.url) as here:
            await here.put("k", b"1")
            await eventually(lambda: here.rows == {"k": b"1"})
            nats.kill()
            await eventually(lambda: not here._connection.up)
            nats.start()
            await here._connection.wait_up(30)
            async with connected(nats.url, node="other") as other:
                await jetstream.publish(other, subjects.key(subjects.STATE, "k"), b"2", {})
            await eventually(lambda: here.rows == {"k": b"2"})

    run(go())
