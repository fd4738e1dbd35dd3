"""What a role may not do is refused by the servers, and what it needs is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from tests.aio import POLL_S, run
from tests.cluster.connecting import connected
from tests.tooling.nats import NatsCluster, NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.connection import Address, Connection
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.cluster.roles import Role, new_member, server_config
from trunkline.cluster.shipping.claim import LastKnown, claim
from trunkline.cluster.streams import Sizes, configs, make_all
from trunkline.cluster.watching import Watching
from trunkline.errors import ClusterDenied, ClusterUnavailable, Invalid, NodeAway, NodeSilent, TrunklineError

MEMBERS: list[tuple[str, Role, str]] = [("admin", "admin", "admin"), ("box", "runner", "box"), ("other", "runner", "other"),
                                        ("web", "gateway", "web"), ("home", "hub", "home")]
SMALL = Sizes(journal=64 << 20, parts=64 << 20, checkpoints=16 << 20, tables=8 << 20)


class Keyed:
    """A server, or three, that know the members by their keys, and a tenant beside them."""

    def __init__(self, folder: Path, count: int = 1) -> None:
        self.folder = folder
        made = [new_member(*each) for each in MEMBERS]
        stranger, seed = new_member("box", "hub", "box")
        for member, own in [*made, (stranger, seed)]:
            path = self.seed(member.node if member is not stranger else "stranger")
            path.write_text(own)
            path.chmod(0o600)
        ours, theirs = server_config("ours", [member for member, _ in made]), server_config("theirs", [stranger])
        both = ours.rpartition("}\n")[0] + theirs.partition("accounts {\n")[2]
        self.replicas = count
        self.server = NatsServer(folder / "nats", more=both) if count == 1 else NatsCluster(folder / "nats", more=both)

    @property
    def urls(self) -> tuple[str, ...]:
        return (self.server.url,) if isinstance(self.server, NatsServer) else self.server.urls

    def seed(self, name: str) -> Path:
        return self.folder / f"{name}.seed"

    @asynccontextmanager
    async def as_(self, name: str, node: str | None = None) -> AsyncIterator[Connection]:
        async with connected(*self.urls, node=node or name, credentials=self.seed(name)) as connection:
            yield connection


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    made = Keyed(tmp_path_factory.mktemp("keyed"))

    async def set_up() -> None:
        async with made.as_("admin") as admin:
            await make_all(admin, configs(1, SMALL))
            await jetstream.publish(admin, subjects.journal("other", "ses_other"), b"theirs", {})

    with made.server:
        run(set_up())
        yield made


async def denied(connection: Connection, subject: str, body: bytes = b"") -> None:
    with pytest.raises(ClusterDenied):
        await connection.request(subject, body, within_s=20)


def test_a_runner_writes_and_reads_back_its_own_pool_only(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as box:
            own, theirs = subjects.journal("box", "ses_1"), subjects.journal("other", "ses_other")
            assert isinstance(await jetstream.publish(box, own, b"mine", {}), Ack)
            assert (await box.request(f"$JS.API.DIRECT.GET.TL_J.{own}")).data == b"mine"
            assert isinstance(await jetstream.publish(box, subjects.key(subjects.SESSIONS, "box.ses_1"), b"{}", {}), Ack)
            assert isinstance(await jetstream.publish(box, subjects.key(subjects.NODES, "box.box"), b"{}", {}), Ack)
            await denied(box, theirs)
            await denied(box, f"$JS.API.DIRECT.GET.TL_J.{theirs}")
            await denied(box, "$JS.API.DIRECT.GET.TL_J", b'{"seq":1}')
            await denied(box, "$JS.API.STREAM.MSG.GET.TL_J", b'{"seq":1}')
            await denied(box, subjects.key(subjects.SESSIONS, "other.ses_other"))
            for lease in ("other.other", "other.box", "box.other", "box"):
                await denied(box, subjects.key(subjects.NODES, lease))
            await denied(box, subjects.key(subjects.AUTH, "token.1"))
            await denied(box, subjects.key(subjects.POLICY, "rules"))
            await denied(box, subjects.key(subjects.PUSH, "key"))
            await denied(box, "$JS.API.STREAM.MSG.GET.KV_tl_push", b'{"seq":1}')
            await denied(box, "$JS.API.DIRECT.GET.KV_tl_push", b'{"seq":1}')

    run(go())


def test_a_batch_is_taken_from_a_runner_and_has_nothing_of_another_pool(keyed: Keyed) -> None:
    """Nothing sends one yet: it would need no more than a runner's key has."""
    async def go() -> None:
        async with keyed.as_("box") as box:
            def batch(*names: str) -> list[tuple[str, bytes, dict[str, str]]]:
                return [(subject, b"x", {jetstream.FENCE: "0"}) for subject in names]

            own = [subjects.journal("box", f"ses_batch{number}") for number in range(4)]
            done = await jetstream.publish_batch(box, "own", batch(*own[:2]))
            assert isinstance(done, Ack) and done.count == 2
            refused = await jetstream.publish_batch(box, "mixed", batch(own[2], subjects.journal("other", "ses_batch"), own[3]))
            assert isinstance(refused, Refusal)
            assert await jetstream.last_near(box, subjects.JOURNAL, own[2]) is None

    run(go())


def test_a_stolen_runner_says_nothing_of_other_nodes(keyed: Keyed) -> None:
    """It cannot drain, forget or hide one, nor be the one that has sessions adopted."""
    async def go() -> None:
        async with keyed.as_("box") as box:
            assert isinstance(await jetstream.publish(box, subjects.key(subjects.STATE, "seen.box"), b"{}", {}), Ack)
            for key in ("seen.other", "drain.other", "drain.box", "gone.other", "adopter"):
                await denied(box, subjects.key(subjects.STATE, key))

    run(go())


def test_a_stolen_hub_takes_no_session_of_another_pool(keyed: Keyed) -> None:
    """It reads all, as gateways do; it writes, claims and names as its own what is of its own pool."""
    async def go() -> None:
        async with keyed.as_("home") as home:
            with pytest.raises(ClusterDenied):
                await claim(home, "other", "ses_other", LastKnown(1, 1, 1), incarnation="i", why="stolen")
            for subject in (subjects.parts("other", "s", 1), subjects.checkpoint("other", "s"), "tl.gone.other.s",
                            subjects.key(subjects.SESSIONS, "other.ses_other"), subjects.key(subjects.NODES, "other.other"),
                            "tl.node.other.http.t1.web"):
                await denied(home, subject)

    run(go())


@pytest.mark.parametrize("name", ["box", "web", "home"])
@pytest.mark.parametrize("call", ["STREAM.DELETE.TL_J", "STREAM.PURGE.TL_J", "STREAM.MSG.DELETE.TL_J", "STREAM.UPDATE.TL_J",
                                  "STREAM.CREATE.MINE", "CONSUMER.CREATE.TL_J"])
def test_no_node_deletes_purges_or_changes_a_stream(keyed: Keyed, name: str, call: str) -> None:
    async def go() -> None:
        async with keyed.as_(name) as node:
            await denied(node, f"$JS.API.{call}", b"{}")

    run(go())


def test_a_gateway_reads_all_and_writes_no_journal(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("web") as web:
            page = await jetstream.read_page(web, subjects.JOURNAL, "tl.j.other.>", from_seq=1, batch=5, max_bytes=1000)
            assert [message.data for message in page.messages] == [b"theirs"]
            last = await jetstream.last_near(web, subjects.JOURNAL, subjects.journal("other", "ses_other"))
            assert last is not None and last.data == b"theirs"
            assert isinstance(await jetstream.publish(web, subjects.key(subjects.AUTH, "token.1"), b"{}", {}), Ack)
            for subject in (subjects.journal("web", "s"), subjects.journal("other", "s"), subjects.parts("web", "s", 1),
                            subjects.checkpoint("web", "s"), subjects.key(subjects.SESSIONS, "web.s")):
                await denied(web, subject)

    run(go())


def test_a_hubs_key_writes_its_own_pool_and_speaks_in_its_own_name(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("home") as home:
            for subject in (subjects.journal("home", "s"), subjects.parts("home", "s", 1), subjects.checkpoint("home", "s"),
                            subjects.key(subjects.SESSIONS, "home.s"), subjects.key(subjects.NODES, "home.home")):
                assert isinstance(await jetstream.publish(home, subject, b"{}", {}), Ack)
            for subject in (subjects.journal("other", "s"), subjects.parts("other", "s", 1), subjects.checkpoint("other", "s"),
                            subjects.key(subjects.SESSIONS, "other.s"), subjects.key(subjects.NODES, "other.other"),
                            "tl.node.other.http.t1.web", "tl.node.other.back.t1.web", "tl.place.other.web", "tl.find.web",
                            subjects.watching("web"), "tl.gone.other.s"):
                await denied(home, subject)

    run(go())


def test_a_gateway_has_its_own_lease_and_no_others(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("web") as web:
            assert isinstance(await jetstream.publish(web, subjects.key(subjects.NODES, "web.web"), b"{}", {}), Ack)
            for subject in (subjects.key(subjects.NODES, "other.other"), subjects.key(subjects.SESSIONS, "other.s"),
                            "tl.gone.other.s"):
                await denied(web, subject)

    run(go())


def test_a_runner_reads_the_tables_that_all_read_and_looks_at_how_full_streams_are(keyed: Keyed) -> None:
    """What docs/security.md says a stolen one is worth: the directory, but nothing that was said."""
    async def go() -> None:
        async with keyed.as_("box") as box:
            for bucket in (subjects.NODES, subjects.SESSIONS, subjects.AUTH, subjects.POLICY, subjects.STATE):
                assert await jetstream.last_message(box, subjects.bucket_stream(bucket), subjects.key(bucket, "none")) is None
            for stream in (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS):
                assert "state" in jetstream.accepted(await jetstream.ask(box, f"STREAM.INFO.{stream}"), stream)
            for stream in (subjects.PARTS, subjects.CHECKPOINTS):
                await denied(box, f"$JS.API.DIRECT.GET.{stream}", b'{"seq":1}')
                await denied(box, f"$JS.API.STREAM.MSG.GET.{stream}", b'{"seq":1}')

    run(go())


def test_without_a_key_nobody_gets_in(keyed: Keyed, tmp_path: Path) -> None:
    _, unknown = new_member("box", "runner", "box")
    (tmp_path / "unknown.seed").write_text(unknown)
    (tmp_path / "unknown.seed").chmod(0o600)

    async def go() -> None:
        for credentials in (None, tmp_path / "unknown.seed"):
            connection = Connection(Address(servers=keyed.urls, node="box", credentials=credentials))
            await connection.start()
            with pytest.raises(ClusterUnavailable, match="Authorization Violation"):
                await connection.wait_up(1.0)
            await connection.close()

    run(go())


def test_nobody_speaks_in_anothers_name(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as box, keyed.as_("web") as web:
            with pytest.raises(NodeAway):
                await web.request("tl.node.other.http.t1.web")
            await denied(web, "tl.node.other.http.t1.home")
            await denied(box, "tl.node.other.http.t1.box")
            await denied(box, "tl.node.other.back.t1.web")
            with pytest.raises(NodeAway):
                await box.request("tl.node.web.back.t1.box")

    run(go())


async def hears(listener: Connection, subject: str, speaker: Connection, said_on: str, heard_on: str = "") -> bool:
    """Whether a listener hears what is said (or stored, and said again): denied subscriptions are silent, so something allowed is
    heard behind it."""
    heard: list[str] = []

    async def hear(message: Msg) -> None:
        heard.append(message.subject)

    await listener.subscribe(subject, hear)
    await listener.subscribe(f"tl.node.{listener.node}.>", hear)
    await listener.client.flush()
    allowed = f"tl.node.{listener.node}.back.t.admin"
    awaited = heard_on or said_on
    while heard.count(allowed) < (50 if heard_on else 1) and not (heard_on in heard and allowed in heard):
        # what is said while a listener connects anew is heard by nobody, and what is stored is said again a moment later
        if heard_on:
            jetstream.accepted(await jetstream.publish(speaker, said_on, b"x", {}), said_on)
        else:
            await speaker.publish(said_on, b"x")
        await speaker.publish(allowed, b"x")
        await asyncio.sleep(POLL_S)
    return awaited in heard


def test_a_runner_hears_no_session_and_nobodys_answers(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("box") as box, keyed.as_("web") as web, keyed.as_("admin") as admin:
            assert await hears(web, "tl.live.>", admin, "tl.j.other.ses_other", "tl.live.other.ses_other")
            assert not await hears(box, "tl.live.>", admin, "tl.j.other.ses_other", "tl.live.other.ses_other")
            assert await hears(web, "tl.kv.tl_push.>", admin, "$KV.tl_push.key", "tl.kv.tl_push.key")
            assert not await hears(box, "tl.kv.tl_push.>", admin, "$KV.tl_push.key", "tl.kv.tl_push.key")
            assert not await hears(box, "tl.node.other.>", admin, "tl.node.other.http.t.admin")

    run(go())


@pytest.mark.parametrize("name", ["box", "web", "home", "admin"])
def test_nobody_hears_what_is_to_be_stored_before_a_stream_has_it(keyed: Keyed, name: str) -> None:
    """What the fence refuses is heard by nobody: it passes through the members' account on its way."""
    async def go() -> None:
        async with keyed.as_(name) as listener, keyed.as_("other") as speaker:
            heard: list[str] = []

            async def hear(message: Msg) -> None:
                heard.append(message.subject)

            for subject in ("tl.j.>", "tl.j.other.*", "tl.b.>", "tl.k.>", "$KV.>", "$JS.>", "tl.>", ">"):
                await listener.subscribe(subject, hear)
            for _ in range(2):
                await listener.client.flush()
            for subject in (subjects.journal("other", "s"), subjects.parts("other", "s", 1), subjects.checkpoint("other", "s"),
                            subjects.key(subjects.SESSIONS, "other.s")):
                assert isinstance(await jetstream.publish(speaker, subject, b"x", {jetstream.FENCE: "99"}), Refusal)
            for _ in range(2):
                await listener.client.flush()
            assert [subject for subject in heard if not subject.startswith("_INBOX.")] == []

    run(go())


def test_gateways_answer_each_other_and_runners_nobody(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("web") as web, keyed.as_("home") as home, keyed.as_("box") as box:
            there = Watching(home, lambda session_id, event_type, *, since=0.0: session_id == "shown")
            await there.start()
            for _ in range(2):
                await home.client.flush()
            here = Watching(web, lambda session_id, event_type, *, since=0.0: False)
            while not await here.elsewhere("shown", "t", 0.0):  # noqa: ASYNC110 - a machine that is busy answers late
                await asyncio.sleep(POLL_S)
            assert not await here.elsewhere("other", "t", 0.0)
            with pytest.raises(ClusterDenied):
                await box.request("_INBOX.web.0.0")
            await there.close()

    run(go())


def test_a_runner_that_calls_itself_another_gets_no_answers(keyed: Keyed) -> None:
    """The inbox is in the key's permissions: with another node's name nothing comes back."""
    async def go() -> None:
        async with keyed.as_("box", node="web") as box:
            with pytest.raises((NodeSilent, ClusterDenied, ClusterUnavailable)):
                await box.request(subjects.journal("box", "ses_2"), b"x", within_s=0.3)

    run(go())


def test_no_key_may_publish_where_a_message_asks_for_an_answer(keyed: Keyed) -> None:
    """Not even a message of its own, to itself, by which a server would believe it."""
    async def go() -> None:
        for name in ("box", "web", "home"):
            async with keyed.as_(name) as stolen:
                for wanted in (subjects.journal("other", "s"), subjects.key(subjects.NODES, "other.other"),
                               "tl.node.other.http.t.x"):
                    heard: list[str] = []

                    async def hear(message: Msg, heard: list[str] = heard) -> None:
                        heard.append(message.reply)

                    own = await stolen.subscribe(f"tl.node.{name}.back.*.*", hear)
                    await stolen.client.flush()
                    while not heard:
                        await stolen.publish(f"tl.node.{name}.back.t.{name}", b"", reply=wanted)
                        await asyncio.sleep(POLL_S)
                    await denied(stolen, wanted)
                    await stolen.unsubscribe(own)

    run(go())


def test_tenants_see_nothing_of_each_other(keyed: Keyed) -> None:
    async def go() -> None:
        async with keyed.as_("stranger", node="box") as stranger, keyed.as_("box") as box:
            with pytest.raises(TrunklineError):
                await jetstream.publish(stranger, subjects.journal("box", "ses_1"), b"not mine", {}, within_s=0.3)
            answer = await stranger.request("$JS.API.STREAM.INFO.TL_J")
            assert b"stream not found" in answer.data
            assert isinstance(await jetstream.publish(box, subjects.journal("box", "ses_9"), b"mine", {}), Ack)

    run(go())


@pytest.mark.parametrize("wrong", ["a.b", "A", "*", ">", ""])
def test_a_name_that_could_widen_a_permission_is_refused(wrong: str) -> None:
    with pytest.raises(Invalid):
        new_member(wrong, "runner", "box")
    with pytest.raises(Invalid):
        new_member("box", "runner", wrong)
    with pytest.raises(Invalid):
        server_config(wrong, [])
