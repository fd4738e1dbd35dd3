"""What deleted sessions left is removed with the admin's key, and nothing else is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up, shipped_seqs
from tests.cluster.test_directory import directory
from tests.cluster.test_roles import SMALL, Keyed
from tests.journal.samples import row
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.checkpoints import store_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import FENCE, Ack, Refusal
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.claim import LastKnown, claim, last_known
from trunkline.cluster.shipping.ending import remove_session
from trunkline.cluster.streams import configs, make_all
from trunkline.cluster.sweeping import Swept, sweep
from trunkline.errors import ClusterDenied, SessionNotFound
from trunkline.journal.base import Entry

SMALL_SECRET, LARGE_SECRET, CHECKPOINT_SECRET = SECRETS = (b"the small secret", b"the large secret", b"the checkpoint's secret")
KEPT = b"what others said"


async def fill(url: str) -> None:
    """A session that is deleted with a key that may not erase, in all its parts, and one that goes on."""
    async with owner(url) as box:
        large = LARGE_SECRET + os.urandom(700 << 10)
        await box.ship("ses_1", [Entry(1, 1, b'{"text":"the small secret"}'), Entry(2, 2, b"{}", large)])
        await store_checkpoint(box.connection, "box", row("ses_1", checkpoint=CHECKPOINT_SECRET, checkpoint_seq=2), 1)
        await box.ship("ses_2", [Entry(1, 1, b'{"text":"what others said"}')])
        removed = await remove_session(box.connection, "box", box.shipper.row("ses_1"), may_erase=False)
        assert removed.unswept and not removed.erased


def test_text_of_a_deleted_session_is_gone_from_the_servers_files(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        await fill(nats.url)
        assert all(nats.bytes_on_disk(secret) for secret in SECRETS), "its end alone erases nothing"
        async with connected(nats.url, node="admin") as admin, directory(nats.url, "box") as own:
            own.put(row("ses_1"))  # its owner ended before it took it away
            await eventually(lambda: own.places)
            (done,) = await sweep(admin)
            assert (done.session, done.pool, done.purged) == ("ses_1", "box", 0) and done.erased >= 4
            await eventually(lambda: not own.places)
            assert await sweep(admin) == [], "a second one finds nothing"
            assert await shipped_seqs(admin, "ses_2") == [1]
            with pytest.raises(SessionNotFound):
                await last_known(admin, "box", "ses_1")
            again = await jetstream.publish(admin, subjects.journal("box", "ses_1"), b"", {FENCE: "0"})
            assert isinstance(again, Refusal), "nobody begins it anew"

    run(go())
    nats.kill()
    assert [nats.bytes_on_disk(secret) for secret in SECRETS] == [[], [], []]
    assert nats.bytes_on_disk(KEPT) != []


@pytest.mark.slow
def test_on_three_servers_it_is_purged(shared_three: NatsCluster) -> None:
    async def go() -> None:
        await set_up(*shared_three.urls)
        await fill(shared_three.urls[0])
        async with connected(*shared_three.urls, node="admin") as admin:
            (done,) = await sweep(admin)
            assert done.session == "ses_1" and done.purged >= 4 and not done.erased
            for stream, subject in ((subjects.PARTS, "tl.b.box.ses_1.>"), (subjects.CHECKPOINTS, "tl.k.box.ses_1")):
                assert await jetstream.last_message(admin, stream, subject) is None
            assert await jetstream.last_message(admin, subjects.JOURNAL, "tl.j.box.ses_1") is not None, "its end stays"
            assert await shipped_seqs(admin, "ses_2") == [1]
            assert await sweep(admin) == []

    run(go(), timeout_s=90)


async def end(connection: Connection, session_id: str, epoch: int, fence: int | None = None) -> None:
    body, headers = wire.end_message(wire.End(epoch=epoch, owner="box", after=1))
    headers |= {} if fence is None else {FENCE: str(fence)}
    assert isinstance(await jetstream.publish(connection, subjects.journal("box", session_id), body, headers), Ack)


def test_what_is_not_at_its_end_or_was_ended_by_an_old_owner_stays(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, connected(nats.url, node="den") as den:
            for session_id in ("ses_goes_on", "ses_claimed", "ses_forged"):
                await box.ship(session_id, [Entry(1, 1, b"{}")])
            fence = box.shipper.row("ses_claimed").stream_seq
            await claim(den, "box", "ses_claimed", LastKnown(1, 1, fence), incarnation="i", why="")
            fence = box.shipper.row("ses_forged").stream_seq
            await claim(den, "box", "ses_forged", LastKnown(1, 1, fence), incarnation="i", why="")
            await end(den, "ses_forged", 1)
            assert await sweep(den) == []
            assert [await shipped_seqs(den, each) for each in ("ses_goes_on", "ses_claimed", "ses_forged")] == [[1], [1], [1]]

    run(go())


@asynccontextmanager
async def keyed_cluster(folder: Path, count: int) -> AsyncIterator[Keyed]:
    keyed = Keyed(folder, count)
    with keyed.server:
        async with keyed.as_("admin") as admin:
            await make_all(admin, configs(count, SMALL))
        yield keyed


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_admins_key_sweeps_what_a_runners_key_ended_and_no_other_does(tmp_path: Path, count: int) -> None:
    async def go() -> None:
        async with (keyed_cluster(tmp_path, count) as keyed, keyed.as_("box") as box, keyed.as_("web") as web,
                    keyed.as_("admin") as admin):
            stored = await jetstream.publish(box, subjects.journal("box", "ses_1"), SMALL_SECRET,
                                             wire.entries_headers(1, 1, 1))
            assert isinstance(stored, Ack)
            await jetstream.publish(box, subjects.parts("box", "ses_1", 1), LARGE_SECRET, {})
            await end(box, "ses_1", 1, stored.seq)
            reader = StreamReader(web, lambda session_id: "box")
            while await reader.read("ses_1"):  # noqa: ASYNC110 - of three servers one may be behind for a moment
                await asyncio.sleep(0.01)
            assert await reader.read("ses_1", tail=True) == []
            with pytest.raises(ClusterDenied):
                await sweep(web)
            assert await sweep(admin) == [Swept(session="ses_1", pool="box", **{"erased" if count == 1 else "purged": 2})]
            assert await reader.read("ses_1") == []

    run(go(), timeout_s=90)


def test_it_may_run_beside_owners(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, connected(nats.url, node="admin") as admin:
            await box.ship("ses_ends", [Entry(1, 1, b"{}")])
            await box.ship("ses_goes_on", [Entry(1, 1, b"{}")])

            async def go_on() -> None:
                for seq in range(2, 120):
                    await box.ship("ses_goes_on", [Entry(seq, 1, b"{}")])
                    if seq == 40:
                        await remove_session(box.connection, "box", box.shipper.row("ses_ends"), may_erase=False)

            writing, swept = asyncio.create_task(go_on()), list[Swept]()
            while not writing.done():
                swept += await sweep(admin)
            await writing
            swept += await sweep(admin)
            assert swept == [Swept(session="ses_ends", pool="box", erased=1)]
            assert await shipped_seqs(admin, "ses_goes_on") == list(range(1, 120))

    run(go())
