"""A server sends an answer to whatever subject the question names, without a look at permissions. What a stolen key can have sent
in that way comes into no stream, and where nodes listen it is not heard, or says nothing to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.test_roles import SMALL, Keyed
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import API, Ack, Refusal, Stored
from trunkline.cluster.roles import STORE, Member, Role, permissions
from trunkline.cluster.streams import configs, info, make_all
from trunkline.cluster.tables.table import Table
from trunkline.cluster.tunnel import frames
from trunkline.errors import ClusterUnavailable, TrunklineError

STREAMS = [config["name"] for config in configs(1, SMALL)]
OF_GATEWAYS = [subjects.bucket_stream(bucket) for bucket in (subjects.AUTH, subjects.POLICY, subjects.STATE, subjects.PUSH)]
"""What gateways and hubs may write anyway."""
TEXT = b'["ses_1","turn_ended",null]'
"""What a thief would say."""
ROLES: dict[str, Role] = {"box": "runner", "web": "gateway", "home": "hub"}
WORDS: list[dict[str, str]] = [
    {}, {jetstream.MSG_ID: "evil"}, {jetstream.FENCE: "77"}, {jetstream.EXPECTED_STREAM: "evil"},
    {"Nats-Batch-Id": "evil", "Nats-Batch-Sequence": "7"}, {"Nats-Rollup": "evil"},
    {"Nats-Subject": "tl.j.other.s", "Nats-Stream": "TL_J"}]
"""Headers of which an answer may have something."""
TO_ONE: dict[str, str] = {"Nats-Expected-Last-Msg-Id": "other"}
"""The answer names the last id, which is the thief's. It stops a stream on three servers (``test_facts.py``)."""


@pytest.fixture(scope="module", params=[1, pytest.param(3, marks=pytest.mark.slow)])
def keyed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    made = Keyed(tmp_path_factory.mktemp("forwarding"), request.param)

    async def set_up() -> None:
        async with made.as_("admin") as admin:
            await make_all(admin, configs(made.replicas, SMALL))

    with made.server:
        run(set_up())
        yield made


@asynccontextmanager
async def stolen_keys(keyed: Keyed) -> AsyncIterator[list[Connection]]:
    async with keyed.as_("box") as box, keyed.as_("web") as web, keyed.as_("home") as home:
        yield [box, web, home]


def questions(node: str, count: int) -> Iterator[tuple[str, bytes, dict[str, str]]]:
    """Everything that a key may ask that is answered, with words of the thief's own wherever an answer may have some."""
    for allowed in permissions(Member(node=node, role=ROLES[node], pool=node, public_key="")).publish:
        subject = allowed.replace(">", f"{node}.evil").replace("*", "evil")
        if allowed.startswith(API):
            yield subject, b"", {}
            if not subject.endswith("evil"):
                yield subject, b"{" + TEXT, {}
                yield subject, b'{"seq":1,"next_by_subj":">","batch":9,"subjects_filter":">"}', {}
        elif subject.startswith(("tl.j.", "tl.b.", "tl.k.", "$KV.tl_sessions.", "$KV.tl_auth.")):
            for headers in [*WORDS, *([TO_ONE] if count == 1 else [])]:
                yield subject, TEXT, headers


async def ask_all(stolen: Connection, to: str, count: int) -> None:
    """Ask all of it, with the answers to go to a subject; returns when the server has answered."""
    for subject, body, headers in questions(stolen.node, count):
        await stolen.publish(subject, body, headers={**headers, "Nats-Trace-Dest": to} if headers else {}, reply=to)
    for subject, body, headers in questions(stolen.node, count):
        if not headers:  # the same once more, with the answer to itself: what comes at all has come then
            with suppress(TrunklineError):
                await stolen.request(subject, body, within_s=1)


@pytest.mark.parametrize("stream", STREAMS)
def test_no_answer_comes_into_a_stream(keyed: Keyed, stream: str) -> None:
    wanted = {subjects.JOURNAL: subjects.journal("other", "forged"), subjects.PARTS: subjects.parts("other", "forged", 1),
              subjects.CHECKPOINTS: subjects.checkpoint("other", "forged")}
    to = wanted.get(stream, f"$KV.{stream.removeprefix('KV_')}.other.forged")

    async def go() -> None:
        async with stolen_keys(keyed) as stolen, keyed.as_("admin") as admin:
            before = await subjects_in(admin, stream)
            for key in stolen[:1] if stream in OF_GATEWAYS else stolen:
                await ask_all(key, to, keyed.replicas)
                assert await last_at(admin, stream, to) is None
            new = await subjects_in(admin, stream) - before
            assert all(".evil." in f"{subject}." for subject in new), "what the thief may write, and nothing else"
            assert isinstance(await jetstream.publish(admin, to.replace("forged", "evil"), b"x", {}), Ack), "it is a stream's"

    run(go())


async def last_at(reader: Connection, stream: str, subject: str) -> Stored | None:
    while True:
        with suppress(ClusterUnavailable):  # three servers that were asked much have no leader for a moment
            return await jetstream.last_message(reader, stream, subject)


async def subjects_in(reader: Connection, stream: str) -> set[str]:
    answer = await jetstream.ask(reader, f"STREAM.INFO.{stream}", {"subjects_filter": ">"})
    return set(jetstream.accepted(answer, stream)["state"].get("subjects") or {})


OF_SERVERS = (b'{"type":"io.nats.jetstream.api', b'{"stream":"', b'{"error":{', b'{"server":{')
HEARD_AT = [("other", "tl.node.other.http.t1.web", "web", ""), ("web", "tl.watching.home", "home", ""),
            ("web", "tl.live.other.ses_1", "other", "tl.j.other.ses_1"),
            ("web", "tl.kv.tl_auth.other.1", "web", "$KV.tl_auth.other.1")]
"""Who listens, where, and who may say something there, by which subject."""


@pytest.mark.parametrize(("listening", "subject", "speaking", "said_on"), HEARD_AT, ids=[each[1] for each in HEARD_AT])
def test_what_is_heard_of_answers_says_nothing(keyed: Keyed, listening: str, subject: str, speaking: str, said_on: str) -> None:
    """Where streams say again what they store, nothing is heard. Elsewhere neither what is stored, nor anything that a node takes
    for a message: it is the servers' JSON, or empty."""
    async def go() -> None:
        async with keyed.as_(listening) as listener, keyed.as_(speaking) as speaker, stolen_keys(keyed) as stolen:
            heard: list[bytes] = []

            async def hear(message: Msg) -> None:
                heard.append(message.data)

            await listener.subscribe(subject, hear)
            for _ in range(2):
                await listener.client.flush()
            for key in stolen:
                await ask_all(key, subject, keyed.replicas)
            while b"true" not in heard:
                await speaker.publish(said_on or subject, b"true")
                await asyncio.sleep(0.02)
            answers = [data for data in heard if data != b"true"]
            assert TEXT not in heard
            if subject.startswith(("tl.live.", "tl.kv.")):
                assert answers == []
            for data in answers:
                assert data == b"" or data.startswith(OF_SERVERS), data
                with pytest.raises(TrunklineError):
                    frames.decode(data)

    run(go())


def test_a_table_goes_on_whatever_is_sent_to_where_it_listens(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen, keyed.as_("web") as web:
            table = Table(web, subjects.AUTH, every_s=0.05)
            table.start()
            await table.wait_ready(20)
            await table.put("token.real", b"real")
            for to in ("tl.kv.tl_auth.token.real", "tl.kv.tl_auth.token.forged", "$KV.tl_auth.token.real"):
                await ask_all(stolen, to, keyed.replicas)
            await table.put("token.last", b"last")
            found = {key: row.value for key, row in table.rows().items() if key.startswith("token.")}
            assert found == {"token.real": b"real", "token.last": b"last"}
            await eventually(lambda: table.silent_s() < 1)
            await table.close()

    run(go())


def test_a_row_whose_time_is_over_is_gone_though_nothing_says_so(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("web") as web:
            table = Table(web, subjects.AUTH, every_s=0.05)
            table.start()
            await table.wait_ready(20)
            await table.put("token.short", b"short", ttl_s=1)
            assert table.get("token.short") is not None
            await eventually(lambda: table.get("token.short") is None)
            await table.close()

    run(go())


def test_a_message_that_calls_itself_the_end_of_a_page_ends_none(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("home") as home:
            own = subjects.journal("home", "ses_sly")
            for body, headers in ((b"1", {"Status": "204"}), (b"2", {"Status": "404"}), (b"3", {"Status": "409"})):
                assert isinstance(await jetstream.publish(home, own, body, headers), Ack)
            found: list[bytes] = []
            while len(found) < 3:  # a replica may be behind for a moment
                page = await jetstream.read_page(home, subjects.JOURNAL, own, from_seq=1, batch=9, max_bytes=1000)
                found = [message.data for message in page.messages]
            assert found == [b"1", b"2", b"3"]
            near = await jetstream.last_near(home, subjects.JOURNAL, own)
            assert near is not None and near.data == b"3"

    run(go())


def test_a_session_is_shipped_and_read_through_both_accounts(keyed: Keyed) -> None:
    """What nodes do all day: fenced groups, a large one in parts, what is heard of it, pages, rows."""
    async def go() -> None:
        async with keyed.as_("other") as other, keyed.as_("web") as web:
            heard: list[bytes] = []

            async def hear(message: Msg) -> None:
                heard.append(message.data)

            await web.subscribe(subjects.live("other", "ses_2"), hear)
            for _ in range(2):
                await web.client.flush()
            own, fence = subjects.journal("other", "ses_2"), 0
            for number in range(30):
                headers = {jetstream.EXPECTED_STREAM: subjects.JOURNAL, jetstream.FENCE: str(fence)}
                answer = await jetstream.publish(other, own, b"%d" % number, headers)
                assert isinstance(answer, Ack), answer
                fence = answer.seq
            assert isinstance(await jetstream.publish(other, subjects.parts("other", "ses_2", 1), b"x" * (900 << 10), {}), Ack)
            await eventually(lambda: heard == [b"%d" % number for number in range(30)])
            last = await jetstream.last_message(web, subjects.JOURNAL, own)
            assert last is not None and (last.seq, last.data) == (fence, b"29")

    run(go())


def test_nobody_is_in_the_account_of_the_streams(keyed: Keyed) -> None:
    """Its configuration names no user of it."""
    text = keyed.server.more if keyed.replicas == 1 else keyed.server.servers[0].more  # type: ignore[union-attr]  # by the count
    of_streams = text.partition(f"ours{STORE} {{")[2].partition("\n  }\n")[0]
    assert "jetstream: enabled" in of_streams and "users" not in of_streams


@pytest.mark.parametrize("subject", ["tl.j.box.s", "tl.b.box.s.1", "tl.k.box.s"])
def test_no_nodes_key_takes_anything_out_by_rolling_it_up(keyed: Keyed, subject: str) -> None:
    async def go() -> None:
        async with keyed.as_("box") as stolen:
            for what in ("all", "sub"):
                assert isinstance(await jetstream.publish(stolen, subject, b"", {"Nats-Rollup": what}), Refusal)

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


@pytest.mark.parametrize("stream", [subjects.JOURNAL, subjects.PARTS, subjects.bucket_stream(subjects.AUTH)])
def test_a_cluster_that_was_made_with_roll_ups_has_none_after_the_next_init(keyed: Keyed, stream: str) -> None:
    async def go() -> None:
        async with keyed.as_("admin") as admin:
            wanted = configs(keyed.replicas, SMALL)
            earlier = [{**each, "allow_rollup_hdrs": True} if each["name"] == stream else each for each in wanted]
            assert f"{stream}: changed" in await make_all(admin, earlier)
            assert f"{stream}: changed" in await make_all(admin, wanted)
            assert all(line.endswith(": there") for line in await make_all(admin, wanted))
            assert not (await info(admin, stream))["config"]["allow_rollup_hdrs"]

    run(go())
