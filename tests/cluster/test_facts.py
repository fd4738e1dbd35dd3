"""What the servers do, as far as we lean on it. A new server that does otherwise fails here first.

Each is tried on one server; those in which one and three replicas differ, or might, also on three.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.scratch import Scratch, err_of, seq_of
from tests.tooling.nats import NatsCluster, NatsServer, start_all, until
from trunkline.cluster import jetstream
from trunkline.cluster.jetstream import Ack, Refusal
from trunkline.errors import NodeAway, TrunklineError

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
