"""The sessions of the cluster: an owner writes its rows, every node has all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import set_up
from tests.journal.samples import row
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.checkpoints import Checkpoint, read_checkpoint
from trunkline.cluster.directory import Directory, _place
from trunkline.errors import ClusterUnavailable, SessionNotFound


@asynccontextmanager
async def directory(url: str, node: str, epoch: int = 1) -> AsyncIterator[Directory]:
    async with connected(url, node=node) as connection:
        made = Directory(connection, pool=node, owner=node, epoch_of=lambda _: epoch)
        made.start()
        try:
            await made.loaded.wait()
            yield made
        finally:
            await made.close()


def test_an_owners_rows_are_everywhere_and_go_when_it_deletes_them(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box") as box, directory(nats.url, "web") as web:
            box.put(row("ses_1", title="First", summary=b'{"id":"ses_1"}', checkpoint_seq=7))
            box.put(row("ses_2"))
            await eventually(lambda: set(web.places) == {"ses_1", "ses_2"})
            place = web.place("ses_1")
            assert (place.owner, place.pool, place.title, place.last_seq, bytes(place.summary)) == (
                "box", "box", "First", 7, b'{"id":"ses_1"}')
            assert dict(web.by_owner()) == {"box": 2}
            box.remove("ses_1")
            await eventually(lambda: set(web.places) == {"ses_2"})
            with pytest.raises(SessionNotFound):
                web.place("ses_1")

    run(go())


def test_a_row_that_is_on_its_way_is_waited_for(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box") as box:
            box.put(row("ses_1"))
            with pytest.raises(SessionNotFound):
                box.place("ses_1")
            assert (await box.wait_for("ses_1")).owner == "box"
            monkeypatch.setattr("trunkline.cluster.directory.HEARD_WITHIN_S", 0.01)
            with pytest.raises(ClusterUnavailable, match="has not taken the row of session ses_2"):
                await box.wait_for("ses_2")

    run(go())


def test_many_changes_of_a_row_are_written_as_the_newest(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box") as box:
            for number in range(50):
                box.put(row("ses_1", title=f"title {number}"))
            await eventually(lambda: "ses_1" in box.places)
            assert box.places["ses_1"].title == "title 49"
            stream = subjects.bucket_stream(subjects.SESSIONS)
            info = await jetstream.ask(box._connection, f"STREAM.INFO.{stream}")
            assert isinstance(info, dict) and info["state"]["last_seq"] == 1

    run(go())


def test_rows_that_could_not_be_written_follow_when_the_server_is_back(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box") as box:
            nats.kill()
            await eventually(lambda: not box._connection.up)
            box.put(row("ses_1"))
            nats.start()
            await eventually(lambda: "ses_1" in box.places)

    run(go())


def test_a_row_that_speaks_of_another_session_is_not_believed(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box") as box, directory(nats.url, "web") as web:
            box.put(row("ses_1"))
            await eventually(lambda: "ses_1" in web.places)
            forged = web._table.rows["box.ses_1"]
            await jetstream.publish(box._connection, subjects.key(subjects.SESSIONS, "other.ses_1"), forged, {})
            await jetstream.publish(box._connection, subjects.key(subjects.SESSIONS, "box.ses_9"), forged, {})
            await jetstream.publish(box._connection, subjects.key(subjects.SESSIONS, "box.ses_8"), b"junk", {})
            await eventually(lambda: len(web._table.rows) == 4)
            assert set(web.places) == {"ses_1"} and web.place("ses_1").pool == "box"

    run(go())


def test_a_node_of_another_pool_takes_no_session_by_a_row(nats: NatsServer) -> None:
    """Whichever row was heard of first, and whatever epoch it claims: the pool that wrote the session's first entries has it."""
    async def go() -> None:
        await set_up(nats.url)
        async with (directory(nats.url, "box") as box, directory(nats.url, "stolen", epoch=99) as stolen,
                    directory(nats.url, "web") as web):
            for pool in ("box", "stolen"):
                await jetstream.publish(box._connection, subjects.journal(pool, "ses_1"), b"an entry", {})
            box.put(row("ses_1"))
            await eventually(lambda: "ses_1" in web.places)
            stolen.put(row("ses_1"))
            await eventually(lambda: len(web._table.rows) == 2)
            assert web.place("ses_1").owner == "box"
            async with directory(nats.url, "late") as late:  # one that reads both at once
                await eventually(lambda: late.place("ses_1").owner == "box" and not late._settling)
                late.places["ses_1"] = _place.decode(web._table.rows["stolen.ses_1"])  # the forged one first
                late._on_row("box.ses_1", web._table.rows["box.ses_1"])
                await eventually(lambda: late.place("ses_1").owner == "box")

    run(go())


def test_an_owner_that_lost_a_session_does_not_write_over_its_row(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with (directory(nats.url, "box") as box, connected(nats.url, node="den") as connection):
            box.put(row("ses_1"))
            await eventually(lambda: "ses_1" in box.places)
            den = Directory(connection, pool="box", owner="den", epoch_of=lambda _: 2)
            den.start()
            await den.loaded.wait()
            den.put(row("ses_1", title="adopted"))
            await eventually(lambda: box.place("ses_1").owner == "den")
            box.put(row("ses_1", title="the old one"))
            await eventually(lambda: not box._owed)
            assert (den.place("ses_1").owner, den.place("ses_1").title) == ("den", "adopted")
            await den.close()

    run(go())


def test_the_checkpoint_of_a_session_at_rest_goes_with_its_row(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with directory(nats.url, "box", epoch=3) as box:
            fold = b"a fold that is long enough to be packed " * 100
            box.put(row("ses_rest", checkpoint=fold, checkpoint_seq=12))
            box.put(row("ses_busy", checkpoint=b"half a turn", checkpoint_seq=5, status="running"))
            await eventually(lambda: set(box.places) == {"ses_rest", "ses_busy"} and not box._owed)
            assert await read_checkpoint(box._connection, "box", "ses_rest") == Checkpoint(3, 12, fold)
            assert await read_checkpoint(box._connection, "box", "ses_busy") is None

    run(go())
