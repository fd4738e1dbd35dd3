"""Following a session of another node: nothing is missed, nothing comes twice, whatever is lost on the way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from nats.aio.msg import Msg

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import messages, owner, set_up
from tests.journal.samples import entries, entry
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.reading import follow
from trunkline.cluster.reading.follow import SessionFollower
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.wire import Mark
from trunkline.journal.base import Entry


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


class Reader:
    """What a gateway's reader has got."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.marks: list[Mark] = []
        self.follower: SessionFollower

    def take(self, found: list[Entry]) -> None:
        self.seqs += [each.seq for each in found]


@asynccontextmanager
async def following(url: str, session_id: str, last_seq: int = 0) -> AsyncIterator[Reader]:
    async with connected(url, node="web") as connection:
        reader = Reader()
        reader.follower = SessionFollower(connection, StreamReader(connection, lambda _: "box"), "box", session_id, last_seq,
                                          on_entries=reader.take, on_mark=reader.marks.append)
        await reader.follower.start()
        try:
            yield reader
        finally:
            await reader.follower.close()


def test_what_was_there_and_what_comes_is_one_stream(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_live", entries(1, 500))
            async with following(stream.url, "ses_live") as reader:
                for seq in range(501, 601):
                    await box.commit("ses_live", [entry(seq)])
                await eventually(lambda: len(reader.seqs) >= 600)
                assert reader.seqs == list(range(1, 601))

    run(go())


def test_who_is_at_the_end_needs_no_read(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "COMPARE_S", 3600.0)  # a comparison may be told of an entry before the entry comes

    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_end", entries(1, 3))
            async with following(stream.url, "ses_end", 3) as reader:
                await reader.follower._connection.client.flush()
                await eventually(lambda: not follow._KEPT)  # the first comparison is over
                for seq in range(4, 24):
                    await box.ship("ses_end", [entry(seq)])
                await eventually(lambda: len(reader.seqs) >= 20)
                assert reader.seqs == list(range(4, 24)) and reader.follower.reads == 0

    run(go())


def test_a_message_that_was_lost_on_the_way_is_read(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            async with following(stream.url, "ses_gap") as reader:
                await reader.follower._connection.client.flush()
                dropped: list[Msg] = []
                hear = reader.follower._subscription._cb  # type: ignore[union-attr]

                async def drop(message: Msg) -> None:
                    if 3 <= len(dropped) < 6 or not hear:
                        dropped.append(message)
                        return
                    dropped.append(message)
                    await hear(message)

                reader.follower._subscription._cb = drop  # type: ignore[union-attr]
                for seq in range(1, 11):
                    await box.ship("ses_gap", [entry(seq)])
                await eventually(lambda: len(reader.seqs) >= 10)
                assert reader.seqs == list(range(1, 11)) and reader.follower.reads >= 1

    run(go())


def test_a_lost_last_message_is_found_by_comparing(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_last", entries(1, 2))
            async with following(stream.url, "ses_last") as reader:
                await eventually(lambda: reader.seqs == [1, 2])
                await reader.follower._subscription.unsubscribe()  # type: ignore[union-attr]
                await box.ship("ses_last", entries(3, 4))
                reader.follower._compare_soon()
                await eventually(lambda: reader.seqs == [1, 2, 3, 4])

    run(go())


def test_a_reader_goes_on_when_the_server_comes_back(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box, following(nats.url, "ses_down") as reader:
            await box.ship("ses_down", entries(1, 5))
            await eventually(lambda: len(reader.seqs) == 5)
            nats.kill()
            await eventually(lambda: not box.connection.up)
            await box.commit("ses_down", entries(6, 9))
            nats.start()
            await eventually(lambda: len(reader.seqs) == 9)
            assert reader.seqs == list(range(1, 10))

    run(go())


def test_a_stream_that_went_back_gives_a_reader_nothing_twice(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, following(stream.url, "ses_back") as reader:
            for first in (1, 11, 21):
                await box.ship("ses_back", entries(first, first + 9))
            await eventually(lambda: len(reader.seqs) == 30)
            for message in (await messages(box.connection, "ses_back"))[1:]:
                await jetstream.ask(box.connection, f"STREAM.MSG.DELETE.{subjects.JOURNAL}", {"seq": message.seq})
            await box.ship("ses_back", entries(31, 35))
            await eventually(lambda: len(reader.seqs) >= 35)
            assert reader.seqs == list(range(1, 36))

    run(go())


def test_a_claim_is_told(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, following(stream.url, "ses_told") as reader:
            await box.ship("ses_told", entries(1, 2))
            body, headers = wire.claim_message(wire.Claim(epoch=2, owner="other", incarnation="i", after=2))
            await jetstream.publish(box.connection, subjects.journal("box", "ses_told"), body, headers)
            await eventually(lambda: reader.marks)
            assert reader.marks == [Mark("claim", 2, 0, 2)]

    run(go())
