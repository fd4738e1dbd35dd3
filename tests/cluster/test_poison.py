"""What a key may write into its own, and nobody can read, keeps no node from hearing, loading and sweeping."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up
from tests.cluster.test_nodes import joined, row
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.directory import Directory
from trunkline.cluster.jetstream import Ack
from trunkline.cluster.shipping.ending import remove_session
from trunkline.cluster.showing.listed import Listed
from trunkline.cluster.showing.opened import OpenSessions
from trunkline.cluster.showing.remote import RemoteSession
from trunkline.cluster.sweeping import sweep
from trunkline.cluster.table import Table
from trunkline.journal.base import Entry, RowFilter


async def send(connection: Connection, subject: bytes, header: bytes, body: bytes = b"x") -> None:
    """A message as bytes, whatever a client library would say of them."""
    line = b"HPUB %b %d %d\r\n" % (subject, len(header), len(header) + len(body))
    await connection.client._send_command(line + header + body + b"\r\n")
    await connection.client.flush()


@pytest.mark.parametrize(("subject", "header"), [
    (b"told.\xff\xfe", b"NATS/1.0\r\nA: b\r\n\r\n"),
    (b"told.odd", b"NATS/1.0 404 \xff\xfe\r\n\r\n"),
    (b"told.odd", b"X\r\n\r\n"),
], ids=["a subject", "a status", "no header"])
def test_a_message_that_cannot_be_read_makes_nobody_deaf(nats: NatsServer, subject: bytes, header: bytes) -> None:
    async def go() -> None:
        async with connected(nats.url, node="box") as thief, connected(nats.url, node="web") as web:
            heard: list[bytes] = []

            async def hear(message: Msg) -> None:
                heard.append(message.data)

            await web.subscribe("told.>", hear)
            await web.client.flush()
            await send(thief, subject, header, b"odd")
            await thief.publish("told.plain", b"plain")
            await eventually(lambda: heard[-1:] == [b"plain"])

    run(go())


def test_a_stored_message_that_says_that_nobody_is_there_keeps_no_table_from_loading(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with connected(nats.url, node="box") as box:
            poison = await jetstream.publish(box, subjects.key(subjects.SESSIONS, "box.e"), b"", {"Status": "503"})
            assert isinstance(poison, Ack)
            table = Table(box, subjects.SESSIONS)
            table.start()
            await asyncio.wait_for(table.loaded.wait(), 10)
            await table.close()

    run(go())


def test_a_lease_that_speaks_of_another_node_or_pool_or_of_less_than_nothing_is_none(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with joined(nats.url, row("web")) as web, joined(nats.url, row("box", running=-1)), joined(nats.url, row("den")):
            await eventually(lambda: {"web", "den"} <= set(web.rows))
            async with connected(nats.url, node="thief") as thief:
                for key, says in (("evil.evil", row("den")), ("evil.evil", row("evil", pool="den")), ("last.last", row("last"))):
                    value = msgspec.json.encode(says)
                    assert isinstance(await jetstream.publish(thief, subjects.key(subjects.NODES, key), value, {}), Ack)
                await eventually(lambda: "last" in web.rows)
            assert set(web.rows) == {"web", "den", "last"}

    run(go())


def test_a_session_that_no_id_can_have_holds_up_no_sweep(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, connected(nats.url, node="admin") as admin:
            for _ in range(2):
                assert isinstance(await jetstream.publish(admin, "tl.j.box.a$b", b"x", {}), Ack)
            await box.ship("ses_1", [Entry(1, 1, b'{"text":"secret"}')])
            await remove_session(box.connection, "box", box.shipper.row("ses_1"), may_erase=False)
            assert [each.session for each in await sweep(admin)] == ["ses_1"]

    run(go())


@pytest.mark.parametrize("wrong", [{"updated_at": 10 ** 400}, {"updated_at": -1}, {"created_at": 10 ** 18}, {"epoch": 10 ** 40},
                                   {"last_seq": 10 ** 400}], ids=["far", "before 1970", "no date", "an epoch", "a number"])
def test_a_row_of_numbers_that_cannot_be_shown_hides_no_session(nats: NatsServer, wrong: dict[str, int]) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with connected(nats.url, node="box") as box, connected(nats.url, node="web") as web:
            directory = Directory(web, pool="web", owner="web")
            directory.start()
            sight = Listed(directory, "web", lambda view: None, OpenSessions(nobody))
            directory.watch(sight.on_row)
            for session_id, more in (("ses_odd", wrong), ("ses_1", {})):
                row = {"id": session_id, "pool": "box", "owner": "box", "epoch": 1, "agent": "demo", "cwd": "/", "title": "",
                       "status": "idle", "created_at": 1, "updated_at": 1, "last_seq": 1, "summary": {}} | more
                key = subjects.key(subjects.SESSIONS, f"box.{session_id}")
                assert isinstance(await jetstream.publish(box, key, json.dumps(row).encode(), {}), Ack)
            await eventually(lambda: "ses_1" in directory.places)
            assert [view.id for _, view in sight.newest(RowFilter())] == ["ses_1"]
            await directory.close()

    run(go())


def nobody(session_id: str) -> RemoteSession:
    raise AssertionError("nobody follows anything")
