"""A server sends an answer to whatever subject the question names, without a look at permissions: what a stolen key can have
forwarded in that way counts for nothing, wherever it comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.test_roles import SMALL, Keyed
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.headers import FORWARDED
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.streams import configs, info, make_all
from trunkline.cluster.tables.table import Table
from trunkline.errors import Invalid

OWN = subjects.journal("box", "ses_evil")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    made = Keyed(tmp_path_factory.mktemp("forwarding"))

    async def set_up() -> None:
        async with made.as_("admin") as admin:
            await make_all(admin, configs(1, SMALL))

    with made.server:
        run(set_up())
        yield made


async def forward(stolen: Connection, to: str, body: bytes, headers: dict[str, str] | None = None) -> None:
    """Have the server send a message of the stolen node's own to a subject that its key may not publish to."""
    assert isinstance(await jetstream.publish(stolen, OWN, body, headers or {}), Ack)
    await stolen.client.publish(f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.{OWN}", b"", reply=to)
    assert (await stolen.request(f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.{OWN}")).data == body


async def last_number(reader: Connection, stream: str) -> int:
    return int((await info(reader, stream))["state"]["last_seq"])


@pytest.mark.parametrize("subject", ["tl.node.other.http.t1.web", "tl.live.other.ses_1", "tl.kv.tl_auth.token.1",
                                     "tl.gone.other.s"])
def test_nobody_hears_what_was_forwarded(keyed: Keyed, subject: str) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("admin") as listener:
            heard: list[bytes] = []

            async def hear(message: Msg) -> None:
                heard.append(message.data)

            await listener.subscribe(subject, hear)
            for _ in range(2):
                await listener.client.flush()
            await forward(stolen, subject, b"forged")
            await listener.publish(subject, b"behind it")
            await eventually(lambda: b"behind it" in heard)
            assert heard == [b"behind it"]

    run(go())


def test_a_forwarded_row_is_none_and_takes_none_away(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("web") as web:
            table = Table(web, subjects.AUTH, every_s=0.05)
            table.start()
            await table.wait_ready(20)
            await table.put("token.real", b"real")
            stream = subjects.bucket_stream(subjects.AUTH)
            before = await last_number(web, stream)
            for key in ("token.forged", "token.real"):
                await forward(stolen, subjects.key(subjects.AUTH, key), b"forged", {jetstream.MSG_ID: key})
            await table.put("token.last", b"last")
            assert await last_number(web, stream) == before + 3, "the server let them in"
            await eventually(lambda: {key: row.value for key, row in table.rows().items()}
                             == {"token.real": b"real", "token.last": b"last"})
            await eventually(lambda: table.silent_s() < 1)
            assert table.get("token.forged") is None
            assert await table.keys.read("token.forged") is None
            fresh = Table(web, subjects.AUTH)
            fresh.start()
            await fresh.wait_ready(20)
            assert set(fresh.rows()) == {"token.last"}
            await fresh.close()
            await table.close()

    run(go())


async def ready(connection: Connection, **how: Any) -> Table:
    table = Table(connection, subjects.AUTH, **how)
    table.start()
    await table.wait_ready(20)
    return table


def test_who_may_write_puts_back_what_was_overwritten(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("web") as web:
            table = await ready(web, every_s=0.05, restores=True)
            first = await table.put("token.mine", b"mine")
            await forward(stolen, subjects.key(subjects.AUTH, "token.mine"), b"forged", {jetstream.MSG_ID: "mine"})
            await eventually(lambda: (row := table.get("token.mine")) is not None and row.revision > first + 1)
            fresh = await ready(web)
            kept = fresh.get("token.mine")
            assert kept is not None and kept.value == b"mine"
            await fresh.close()
            await table.close()

    run(go())


def test_a_row_that_was_taken_away_unseen_is_not_brought_back_by_a_forged_one(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("web") as web:
            here = await ready(web)
            await here.put("token.revoked", b"revoked")
            away = await ready(web, every_s=0.5, restores=True)
            assert away.get("token.revoked") is not None and away.subscription is not None
            await web.unsubscribe(away.subscription)
            away.subscription = None
            await here.drop("token.revoked")
            await forward(stolen, subjects.key(subjects.AUTH, "token.revoked"), b"forged", {jetstream.MSG_ID: "revoked"})
            await eventually(lambda: away.get("token.revoked") is None)
            assert await here.keys.read("token.revoked") is None, "nobody put it back"
            await away.close()
            await here.close()

    run(go())


def test_a_row_whose_time_is_over_is_gone_though_nothing_says_so(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("web") as web:
            table = await ready(web, every_s=0.05)
            await table.put("token.short", b"short", ttl_s=1)
            assert table.get("token.short") is not None
            await eventually(lambda: table.get("token.short") is None)
            await table.close()

    run(go())


def test_a_forwarded_message_says_nothing_of_a_session(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("web") as web:
            theirs = subjects.journal("other", "ses_theirs")
            body, headers = wire.claim_message(wire.Claim(epoch=9, owner="box", incarnation="i", after=0, why="stolen"))
            await forward(stolen, theirs, body, headers)
            for look in (jetstream.last_near, jetstream.last_message):
                found = await look(web, subjects.JOURNAL, theirs)
                assert found is not None and FORWARDED in found.headers
                with pytest.raises(Invalid, match="way round the permissions"):
                    wire.read_mark(found.headers)
                with pytest.raises(Invalid, match="way round the permissions"):
                    wire.read_message(found.headers, found.data)

    run(go())


def test_no_nodes_key_takes_all_checkpoints_out_by_rolling_them_up(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen:
            rolled = await jetstream.publish(stolen, subjects.checkpoint("box", "s"), b"", {"Nats-Rollup": "all"})
            assert isinstance(rolled, Refusal)

    run(go())


@pytest.mark.parametrize("bucket", [subjects.SESSIONS, subjects.AUTH, subjects.POLICY, subjects.PUSH])
def test_no_key_takes_rows_rules_or_tokens_out_by_rolling_them_up(keyed: Keyed, bucket: str) -> None:
    async def go() -> None:
        async with keyed.as_("admin") as anybody:
            kept = await jetstream.publish(anybody, subjects.key(bucket, "box.kept"), b"kept", {})
            assert isinstance(kept, Ack)
            rolled = await jetstream.publish(anybody, subjects.key(bucket, "box.other"), b"", {"Nats-Rollup": "all"})
            assert isinstance(rolled, Refusal)
            found = await jetstream.last_message(anybody, subjects.bucket_stream(bucket), subjects.key(bucket, "box.kept"))
            assert found is not None and found.data == b"kept"

    run(go())


def test_a_cluster_that_was_made_with_roll_ups_has_none_after_the_next_init(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("admin") as admin:
            wanted = configs(1, SMALL)
            earlier = [{**each, "allow_rollup_hdrs": True, "subject_delete_marker_ttl": 1_000_000_000}
                       if each["name"] == subjects.bucket_stream(subjects.AUTH) else each for each in wanted]
            assert f"{subjects.bucket_stream(subjects.AUTH)}: changed" in await make_all(admin, earlier)
            assert f"{subjects.bucket_stream(subjects.AUTH)}: changed" in await make_all(admin, wanted)
            assert all(line.endswith(": there") for line in await make_all(admin, wanted))
            now = (await info(admin, subjects.bucket_stream(subjects.AUTH)))["config"]
            assert not now["allow_rollup_hdrs"] and not now.get("subject_delete_marker_ttl")

    run(go())
