"""What the servers do, as far as we lean on it. A new server that does otherwise fails here first.

Each is tried on one server; those in which one and three replicas differ, or might, also on three.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.scratch import Scratch, err_of, seq_of
from tests.tooling.nats import NatsCluster, NatsServer, start_all, until
from trunkline.cluster import jetstream
from trunkline.cluster.connection import Connection
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.errors import ClusterDenied, NodeAway, TrunklineError

ONE_AND_THREE = pytest.mark.parametrize("servers", ["shared_nats", "shared_three"], indirect=True)


@pytest.fixture
def servers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The addresses of one server, or of three."""
    found: NatsServer | NatsCluster = request.getfixturevalue(request.param)
    return found.urls if isinstance(found, NatsCluster) else (found.url,)


@asynccontextmanager
async def scratch(*urls: str, **config: object) -> AsyncIterator[Scratch]:
    async with connected(*urls) as connection:
        made = Scratch(connection, len(urls))
        await made.make(**config)
        yield made


@ONE_AND_THREE
def test_of_two_writers_with_the_same_fence_one_wins(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            fence = 0
            for number in range(50):
                answers = await asyncio.gather(*(stream.put("s", f"{number} {who}".encode(), fence=fence) for who in "ab"))
                won = [answer for answer in answers if isinstance(answer, Ack)]
                assert len(won) == 1
                fence = won[0].seq
            assert [int(body.split()[0]) for body in await stream.stored("s")] == list(range(50))

    run(go())


@ONE_AND_THREE
def test_a_stale_fence_is_10071(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            first = seq_of(await stream.put("s", b"1", fence=0))
            assert err_of(await stream.put("s", b"2", fence=0)) == jetstream.WRONG_LAST
            seq_of(await stream.put("other", b"1", fence=0))
            seq_of(await stream.put("s", b"2", fence=first))

    run(go())


@ONE_AND_THREE
def test_the_same_again_is_refused_or_a_duplicate_and_stored_once(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            first = seq_of(await stream.put("s", b"1", fence=0, msg_id="s:1:1"))
            again = await stream.put("s", b"1", fence=0, msg_id="s:1:1")
            if len(servers) == 1:
                assert err_of(again) == jetstream.WRONG_LAST
            else:
                assert isinstance(again, Ack) and again.duplicate and again.seq == first
            assert await stream.stored("s") == [b"1"]

    run(go())


@ONE_AND_THREE
def test_an_id_is_known_though_its_message_is_lost(servers: tuple[str, ...]) -> None:
    """Whoever sends again what a stream has lost would be told that it is stored: so nothing of ours carries an id."""
    async def go() -> None:
        async with scratch(*servers) as stream:
            lost = seq_of(await stream.put("s", b"1", fence=0, msg_id="s:1:1"))
            await stream.change("MSG.DELETE", seq=lost)
            again = await stream.put("s", b"1", fence=0, msg_id="s:1:1")
            assert isinstance(again, Ack) and again.duplicate
            assert await stream.stored("s") == []
            seq_of(await stream.put("s", b"1", fence=0))
            assert await stream.stored("s") == [b"1"]

    run(go())


def test_three_replicas_take_one_at_a_time_under_one_fence(shared_three: NatsCluster) -> None:
    """Of many at once one is taken; the others are told that it is in flight, not that they lost: never send two at once."""
    async def go() -> None:
        async with scratch(*shared_three.urls) as stream:
            headers = {jetstream.FENCE: "0"}
            answers = await asyncio.gather(*(jetstream.publish(stream.connection, stream.subject("s"), b"x", headers)
                                             for _ in range(50)))
            assert sum(isinstance(answer, Ack) for answer in answers) == 1
            refused = {answer.err_code for answer in answers if isinstance(answer, Refusal)}
            assert jetstream.IN_FLIGHT in refused and refused <= {jetstream.IN_FLIGHT, jetstream.WRONG_LAST}

    run(go())


@ONE_AND_THREE
def test_what_is_stored_is_published_again_as_a_chain_and_what_is_refused_is_not(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            heard: list[tuple[bytes, int, int]] = []

            async def hear(message: Msg) -> None:
                headers = message.headers or {}
                heard.append((message.data, int(headers["Nats-Sequence"]), int(headers["Nats-Last-Sequence"])))

            await stream.connection.subscribe(f"live.{stream.subject('s')}", hear)
            one = seq_of(await stream.put("s", b"1", fence=0))
            assert err_of(await stream.put("s", b"refused", fence=0)) == jetstream.WRONG_LAST
            await stream.put("other", b"not for us")
            two = seq_of(await stream.put("s", b"2", fence=one))
            await eventually(lambda: len(heard) == 2)
            assert heard == [(b"1", one, 0), (b"2", two, one)]

    run(go())


@ONE_AND_THREE
def test_a_subject_is_read_in_pages_from_any_number(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            seqs = []
            for number in range(25):
                seqs.append(seq_of(await stream.put("s", str(number).encode())))
                await stream.put("other", b"x")
            await eventually_page(stream, seqs[-1])
            page = await stream.page("s", seqs[10])
            assert [message.data for message in page.messages] == [b"10", b"11", b"12", b"13", b"14"]
            assert page.more == 10
            beyond = await stream.page("s", seqs[-1] + 2)
            assert beyond.messages == [] and beyond.more == 0
            small = await stream.page("s", 1, max_bytes=1)
            assert len(small.messages) == 1, "whatever its size"

    run(go())


async def eventually_page(stream: Scratch, seq: int) -> None:
    """A replica that answers pages may lag behind the leader."""
    while not (await stream.page("s", seq)).messages:  # noqa: ASYNC110 - no event of ours tells of it
        await asyncio.sleep(0.01)


@ONE_AND_THREE
def test_a_batch_is_all_or_nothing(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers) as stream:
            one = seq_of(await stream.put("a", b"0", fence=0))

            def group(fence_of_a: int) -> list[tuple[str, bytes, dict[str, str]]]:
                return [(stream.subject("a"), b"1", {jetstream.FENCE: str(fence_of_a)}),
                        (stream.subject("b"), b"1", {jetstream.FENCE: "0"})]

            assert err_of(await jetstream.publish_batch(stream.connection, "x1", group(one + 7))) == jetstream.WRONG_LAST
            assert await stream.stored("b") == []
            done = await jetstream.publish_batch(stream.connection, "x2", group(one))
            assert isinstance(done, Ack) and done.count == 2 and done.seq == one + 2

    run(go())


@ONE_AND_THREE
def test_a_full_stream_refuses_and_keeps_what_it_has(servers: tuple[str, ...]) -> None:
    async def go() -> None:
        async with scratch(*servers, max_bytes=4096) as stream:
            answer: Ack | Refusal = Ack(0)
            stored = 0
            while isinstance(answer, Ack):
                stored += answer.seq > 0
                answer = await stream.put("s", b"x" * 1000)
            assert answer.err_code == jetstream.STREAM_FULL
            assert len(await stream.stored("s")) == stored > 0

    run(go())


def test_no_stream_is_told_at_once(shared_nats: NatsServer) -> None:
    async def go() -> None:
        async with connected(shared_nats.url) as connection:
            with pytest.raises(NodeAway):
                await jetstream.publish(connection, "no.such.stream", b"x", {})

    run(go())


@ONE_AND_THREE
def test_a_key_expires_and_that_is_published_too(servers: tuple[str, ...]) -> None:
    """A watcher needs no consumer: the numbers of what it hears are consecutive, expiries included."""
    async def go() -> None:
        async with scratch(*servers, allow_msg_ttl=True, allow_rollup_hdrs=True, max_msgs_per_subject=1,
                           subject_delete_marker_ttl=1_000_000_000) as stream:
            heard: list[tuple[int, str]] = []

            async def hear(message: Msg) -> None:
                headers = message.headers or {}
                heard.append((int(headers["Nats-Sequence"]), headers.get("Nats-Marker-Reason", "")))

            await stream.connection.subscribe(f"live.{stream.name}.>", hear)
            answer = await jetstream.publish(stream.connection, stream.subject("lease"), b"x",
                                             {jetstream.FENCE: "0", "Nats-TTL": "1s"})
            first = seq_of(answer)
            assert err_of(await stream.put("lease", b"second taker", fence=0)) == jetstream.WRONG_LAST
            await eventually(lambda: len(heard) == 2)
            assert heard == [(first, ""), (first + 1, "MaxAge")]

    run(go())


@ONE_AND_THREE
def test_a_claim_fences_out_an_owner_that_was_frozen(servers: tuple[str, ...]) -> None:
    """What the old owner had under way comes late: after the claim it is refused, and the claim stays the last message."""
    async def go() -> None:
        async with scratch(*servers) as stream, connected(*servers, node="other") as other:
            last = seq_of(await stream.put("s", b"old 1", fence=0, msg_id="s:1:1"))
            claimed = seq_of(await jetstream.publish(other, stream.subject("s"), b"claim", {jetstream.FENCE: str(last)}))
            assert err_of(await stream.put("s", b"old 2", fence=last, msg_id="s:1:2")) == jetstream.WRONG_LAST
            found = await jetstream.last_message(stream.connection, stream.name, stream.subject("s"))
            assert found is not None and (found.seq, found.data) == (claimed, b"claim")
            assert found.headers[jetstream.FENCE] == str(last), "a message names the one before it"

    run(go())


def test_a_purge_hides_and_an_erasure_overwrites(nats: NatsServer) -> None:
    """On one server: bytes that were purged stay in the files, bytes that were erased message by message do not."""
    async def go() -> None:
        async with scratch(nats.url) as stream:
            await stream.put("purged", b"the purged secret")
            erased = seq_of(await stream.put("erased", b"the erased secret"))
            await stream.change("MSG.DELETE", seq=erased)
            await stream.change("PURGE", filter=stream.subject("purged"))
            assert await stream.stored("purged") == await stream.stored("erased") == []
            seq_of(await stream.put("purged", b"begins anew", fence=0))

    run(go())
    nats.kill()
    assert nats.bytes_on_disk(b"the erased secret") == []
    assert nats.bytes_on_disk(b"the purged secret") != []


ENCRYPTED = ', cipher: chacha, key: "a key of the tests alone"'


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_encryption_at_rest_leaves_no_text_on_the_disk(tmp_path: Path, count: int) -> None:
    """Neither in the stream's files nor in the logs of three, nor as the name of a subject."""
    async def put(urls: tuple[str, ...]) -> None:
        async with scratch(*urls) as stream:
            for number in range(50):
                await stream.put("named", b"the kept secret %d" % number)
            await stream.change("PURGE", filter=stream.subject("named"), keep=10)
            assert len(await stream.stored("named")) == 10

    with ExitStack() as stack:
        servers = [stack.enter_context(NatsServer(tmp_path, storing=ENCRYPTED))] if count == 1 else \
            stack.enter_context(NatsCluster(tmp_path, storing=ENCRYPTED)).servers
        run(put(tuple(server.url for server in servers)))
        for server in servers:
            server.kill()
        for text in (b"the kept secret", b".named"):
            assert [path for server in servers for path in server.bytes_on_disk(text)] == []


@pytest.mark.slow
def test_an_erasure_leaves_the_replicas_logs_as_they_are(three: NatsCluster) -> None:
    """On three servers the stream's own files are overwritten; what the log of their agreement keeps is not."""
    async def go() -> None:
        async with scratch(*three.urls) as stream:
            seq = seq_of(await stream.put("s", b"the erased secret"))
            await stream.change("MSG.DELETE", seq=seq)

    def left() -> list[Path]:
        return [path for server in three.servers for path in server.bytes_on_disk(b"the erased secret")]

    run(go())
    until(lambda: not [path for path in left() if "streams" in path.parts], "a replica's own files still have the bytes")
    assert left(), "the agreement's log still has them: only encryption at rest helps there"


@pytest.mark.slow
def test_a_wrong_last_id_stops_a_stream_of_three(three: NatsCluster) -> None:
    """A fault of the servers (2.15.1): whoever may write to a stream can stop it, over restarts, too. On one server it is a
    refusal like others. When this fails, ``docs/security.md`` has one hole less."""
    wrong = {"Nats-Expected-Last-Msg-Id": "no such"}

    async def go() -> None:
        async with scratch(*three.urls) as stream:
            seq_of(await stream.put("s", b"1", msg_id="known"))
            err_of(await jetstream.publish(stream.connection, stream.subject("s"), b"2", wrong))
            with pytest.raises(TrunklineError):
                for _ in range(3):
                    await jetstream.publish(stream.connection, stream.subject("s"), b"3", {}, within_s=3)

    run(go())


@pytest.mark.slow
def test_a_stream_that_went_back_takes_what_it_lost_once_more(three: NatsCluster) -> None:
    """One server's files are put back to an older state while another is away: what the two agree on has lost acked messages. The
    writer's next fence is refused with an older message of its own as the last one, and it can go on from there."""
    async def go() -> None:
        async with scratch(*three.urls) as stream:
            fence = 0
            for number in range(20):
                fence = seq_of(await stream.put("s", str(number).encode(), fence=fence, msg_id=f"s:1:{number}"))
            one, two, away = three.servers
            for server in three.servers:
                server.kill()
            shutil.copytree(one.store, one.root / "older")
            start_all([one, two])
            await stream.connection.wait_up(30)
            for number in range(20, 40):
                fence = seq_of(await put_through(stream, str(number).encode(), fence, f"s:1:{number}"))
            one.kill()
            two.kill()
            shutil.rmtree(one.store)
            shutil.copytree(one.root / "older", one.store)
            start_all([one, away])
            await stream.connection.wait_up(30)
            answer = await put_through(stream, b"40", fence, "s:1:40")
            assert err_of(answer) == jetstream.WRONG_LAST
            last = await jetstream.last_message(stream.connection, stream.name, stream.subject("s"))
            assert last is not None and last.data == b"19"
            fence = last.seq
            for number in range(20, 41):
                fence = seq_of(await put_through(stream, str(number).encode(), fence, f"s:1:{number}"))
            two.start()
            assert await stream.stored("s") == [str(number).encode() for number in range(41)]

    run(go(), timeout_s=120)


async def put_through(stream: Scratch, body: bytes, fence: int, msg_id: str) -> Ack | Refusal:
    """The same again while nobody leads."""
    while True:
        try:
            return await stream.put("s", body, fence=fence, msg_id=msg_id)
        except TrunklineError:
            await asyncio.sleep(0.05)


TWO_ACCOUNTS = """
accounts {
  store {
    jetstream: enabled
    users: [{ user: boss, password: b }]
    exports: [
      { service: "$JS.API.DIRECT.GET.>", response_type: stream, accounts: [members] }
      { service: "$JS.API.STREAM.>", accounts: [members] }
      { service: "$JS.API.INFO", accounts: [members] }
      { service: "all.>", accounts: [members] }
      { service: "$KV.>", accounts: [members] }
      { stream: "live.>", accounts: [members] }
    ]
  }
  members {
    imports: [
      { service: { account: store, subject: "$JS.API.DIRECT.GET.>" } }
      { service: { account: store, subject: "$JS.API.STREAM.>" } }
      { service: { account: store, subject: "$JS.API.INFO" } }
      { service: { account: store, subject: "all.>" } }
      { service: { account: store, subject: "$KV.>" } }
      { stream: { account: store, subject: "live.>" } }
    ]
    users: [
      { user: any, password: b }
      { user: box, password: b, permissions: { publish: ["all.box.*", "$JS.API.STREAM.INFO.all"], subscribe: ["_INBOX.>"] } }
      { user: answers, password: b, permissions: { publish: ["own.>"], subscribe: ["_INBOX.>", "own.>"], allow_responses: true } }
    ]
  }
}
"""
"""The streams in an account of their own, from which the members' account imports what it needs of them. Without ``$JS.API.INFO``
among it the server would also answer every call itself, that the members' account has no streams."""


class TwoAccounts:
    """One server or three, with the streams in an account of their own."""

    def __init__(self, stack: ExitStack, folder: Path, count: int) -> None:
        if count == 1:
            self.servers = [stack.enter_context(NatsServer(folder, more=TWO_ACCOUNTS))]
        else:
            self.servers = stack.enter_context(NatsCluster(folder, more=TWO_ACCOUNTS)).servers
        self.replicas = count

    def urls(self, user: str) -> tuple[str, ...]:
        return tuple(server.url.replace("//", f"//{user}:b@") for server in self.servers)

    @asynccontextmanager
    async def as_(self, user: str) -> AsyncIterator[Connection]:
        async with connected(*self.urls(user), node=user) as connection:
            yield connection

    async def make(self) -> None:
        """A stream and a bucket, in the account of the streams."""
        async with self.as_("boss") as boss:
            again = {"src": "all.>", "dest": "live.all.>"}
            for name, topics, more in (("all", "all.>", {"republish": again}), ("KV_t", "$KV.t.>", {"max_msgs_per_subject": 1})):
                config = {"name": name, "subjects": [topics], "num_replicas": self.replicas, "allow_direct": True,
                          "allow_atomic": True, "discard": "new", **more}
                jetstream.accepted(await jetstream.ask(boss, f"STREAM.CREATE.{name}", config), name)
            for subject in ("all.ready", "$KV.t.ready"):
                while True:
                    try:
                        await boss.request(subject, b"")
                        break
                    except NodeAway:
                        await asyncio.sleep(0.01)


@pytest.fixture(scope="module", params=[1, pytest.param(3, marks=pytest.mark.slow)])
def two_accounts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoAccounts]:
    with ExitStack() as stack:
        made = TwoAccounts(stack, tmp_path_factory.mktemp("two"), request.param)
        run(made.make())
        yield made


def test_a_stream_of_another_account_takes_and_gives_as_one_of_the_own(two_accounts: TwoAccounts) -> None:
    """Fences, what is said again, pages, single looks and batches, where subjects and calls are imported."""
    async def go() -> None:
        async with two_accounts.as_("any") as members:
            heard: list[tuple[bytes, int]] = []

            async def hear(message: Msg) -> None:
                heard.append((message.data, int((message.headers or {})["Nats-Sequence"])))

            await members.subscribe("live.all.s", hear)
            await members.client.flush()
            one = seq_of(await jetstream.publish(members, "all.s", b"1", {jetstream.FENCE: "0"}))
            assert err_of(await jetstream.publish(members, "all.s", b"refused", {jetstream.FENCE: "0"})) == jetstream.WRONG_LAST
            two = seq_of(await jetstream.publish(members, "all.s", b"2", {jetstream.FENCE: str(one)}))
            await eventually(lambda: heard == [(b"1", one), (b"2", two)])
            done = await jetstream.publish_batch(members, "x", [("all.s", b"3", {jetstream.FENCE: str(two)}),
                                                                 ("all.other", b"4", {jetstream.FENCE: "0"})])
            assert isinstance(done, Ack) and done.count == 2
            while True:
                page = await jetstream.read_page(members, "all", "all.s", from_seq=1, batch=9, max_bytes=1 << 20)
                if len(page.messages) == 3:
                    break
            assert [message.data for message in page.messages] == [b"1", b"2", b"3"] and not page.more
            near = await jetstream.last_near(members, "all", "all.s")
            last = await jetstream.last_message(members, "all", "all.s")
            assert near is not None and last is not None and near.data == last.data == b"3"

    run(go())


def test_a_subject_that_is_imported_and_has_no_stream_is_told_at_once(two_accounts: TwoAccounts) -> None:
    async def go() -> None:
        async with two_accounts.as_("any") as members:
            with pytest.raises(NodeAway):
                await jetstream.publish(members, "$KV.no.such", b"x", {})

    run(go())


def test_no_answer_that_is_to_go_to_a_subject_of_a_stream_is_stored_there(two_accounts: TwoAccounts) -> None:
    """It comes back into the account of whoever asked, and goes on from there nowhere: a subject that is imported takes what
    clients publish, not what comes back. Asked at every server: one of them leads the stream."""
    async def numbers(boss: Connection) -> list[int]:
        return [jetstream.accepted(await jetstream.ask(boss, f"STREAM.INFO.{name}"), name)["state"]["last_seq"]
                for name in ("all", "KV_t")]

    async def go() -> None:
        async with two_accounts.as_("boss") as boss:
            for url in two_accounts.urls("any"):
                async with connected(url) as members:
                    seq_of(await jetstream.publish(members, "all.mine", b"forged", {}))
                    before = await numbers(boss)
                    asked = 0
                    for to in ("all.theirs", "$KV.t.theirs"):
                        for subject, body in (("$JS.API.DIRECT.GET.all.all.mine", b""), ("$JS.API.STREAM.INFO.all", b""),
                                              ("$JS.API.DIRECT.GET.all", b'{"seq":1,"next_by_subj":"all.>","batch":5}'),
                                              ("$JS.API.STREAM.MSG.GET.all", b'{"last_by_subj":"all.mine"}'),
                                              ("all.mine", b"x")):
                            await members.publish(subject, body, reply=to)
                            asked += subject == "all.mine"
                    seq_of(await jetstream.publish(members, "all.behind", b"", {}))
                    for _ in range(20):
                        await members.client.flush()
                        await members.request("$JS.API.STREAM.INFO.all")
                    assert await numbers(boss) == [before[0] + asked + 1, before[1]]
            before = await numbers(boss)
            await boss.publish("$JS.API.DIRECT.GET.all.all.mine", b"", reply="all.theirs")
            while await numbers(boss) != [before[0] + 1, before[1]]:  # noqa: ASYNC110 - who is in the streams' own account can
                await asyncio.sleep(0.01)

    run(go())


def test_whoever_may_answer_may_write_everywhere(two_accounts: TwoAccounts) -> None:
    """``allow_responses`` believes the subject for an answer that a message names, also a message to oneself: no key has it."""
    async def go() -> None:
        async with two_accounts.as_("answers") as sly:
            heard: list[str] = []

            async def hear(message: Msg) -> None:
                heard.append(message.reply)

            await sly.subscribe("own.>", hear)
            with pytest.raises(ClusterDenied):
                await sly.request("all.theirs", b"forged")
            await sly.publish("own.x", b"", reply="all.theirs")
            await eventually(lambda: heard == ["all.theirs"])
            assert isinstance(await jetstream.publish(sly, "all.theirs", b"forged", {}), Ack)
        async with two_accounts.as_("box") as box:
            with pytest.raises(ClusterDenied):
                await box.request("all.theirs", b"forged")

    run(go())
