"""A deleted session leaves the cluster: its end is written, it is taken out where that can be done, and it is said which."""

from __future__ import annotations

import os
from pathlib import Path

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up, shipped_seqs
from tests.cluster.test_roles import Keyed
from tests.journal.samples import row
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.checkpoints import store_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Refusal
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.shipping.claim import LastKnown, claim, last_known
from trunkline.cluster.shipping.ending import NO_KEY, remove_session
from trunkline.cluster.shipping.ledger import ShippedRow
from trunkline.cluster.streams import Sizes, configs, make_all
from trunkline.errors import SessionNotFound
from trunkline.hub.shapes import Removed
from trunkline.journal.base import Entry

SECRETS = (b"the small secret", b"the large secret", b"the checkpoint's secret")


async def readable(connection: Connection, session_id: str) -> int:
    """Bytes of a session that a reader gets, beside its journal."""
    found = 0
    for stream, subject in ((subjects.PARTS, f"tl.b.box.{session_id}.>"), (subjects.CHECKPOINTS, f"tl.k.box.{session_id}")):
        page = await jetstream.read_page(connection, stream, subject, from_seq=1, batch=100, max_bytes=1 << 20)
        found += sum(len(message.data) for message in page.messages)
    return found


def test_what_a_session_had_is_erased_from_the_servers_files(nats: NatsServer) -> None:
    """In an open cluster, or with a key that may: message by message, large entries and the checkpoint too."""
    large = SECRETS[1] + os.urandom(700 << 10)

    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            await box.ship("ses_1", [Entry(1, 1, b'{"text":"the small secret"}'), Entry(2, 2, b"{}", large)])
            await store_checkpoint(box.connection, "box", row("ses_1", checkpoint=SECRETS[2], checkpoint_seq=2), 1)
            await box.ship("ses_2", [Entry(1, 1, b'{"text":"what others said"}')])
            removed = await remove_session(box.connection, "box", box.shipper.row("ses_1"))
            assert removed == Removed(erased=removed.erased, purged=False) and removed.erased >= 4
            assert await shipped_seqs(box.connection, "ses_1") == [] and await readable(box.connection, "ses_1") == 0
            assert await shipped_seqs(box.connection, "ses_2") == [1]
            try:
                await last_known(box.connection, "box", "ses_1")
            except SessionNotFound:
                return
            raise AssertionError("it can still be claimed")

    run(go())
    nats.kill()
    assert [nats.bytes_on_disk(secret) for secret in SECRETS] == [[], [], []]
    assert nats.bytes_on_disk(b"what others said") != []


def test_a_runners_key_ends_its_session_and_says_that_it_waits_for_a_sweep(tmp_path: Path) -> None:
    keyed = Keyed(tmp_path)

    async def go() -> None:
        async with keyed.as_("admin") as admin, keyed.as_("box") as box, keyed.as_("web") as web:
            await make_all(admin, configs(1, Sizes(journal=64 << 20, parts=64 << 20, checkpoints=16 << 20, tables=8 << 20)))
            stored = await jetstream.publish(box, subjects.journal("box", "ses_1"), SECRETS[0],
                                             {"Tl-V": "1", "Tl-Kind": "entries", "Tl-Epoch": "1", "Tl-Seq": "1-1"})
            assert not isinstance(stored, Refusal)
            await jetstream.publish(box, subjects.parts("box", "ses_1", 1), SECRETS[1], {})
            row = ShippedRow("ses_1", 1, 1, stored.seq)
            for may_erase in (False, True, True):
                assert await remove_session(box, "box", row, may_erase=may_erase) == Removed(unswept=True, why=NO_KEY)
            page = await jetstream.read_page(web, subjects.JOURNAL, "tl.j.box.ses_1", from_seq=1, batch=10, max_bytes=1 << 20)
            assert [message.headers["Tl-Kind"] for message in page.messages] == ["entries", "end"], "one end, however often"
            assert await StreamReader(web, lambda session_id: "box").read("ses_1") == []

    with keyed.server:
        run(go())


def test_what_another_node_has_taken_over_is_left_to_it(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, connected(nats.url, node="den") as den:
            await box.ship("ses_1", [Entry(1, 1, b"{}")])
            mine = box.shipper.row("ses_1")
            await claim(den, "box", "ses_1", LastKnown(1, 1, mine.stream_seq), incarnation="i", why="")
            removed = await remove_session(box.connection, "box", mine)
            assert (removed.erased, removed.purged) == (0, False) and "another node has the session" in removed.why
            assert await shipped_seqs(den, "ses_1") == [1]

    run(go())
