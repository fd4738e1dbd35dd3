"""``--commit all``: a commit is one when the stream has it, and a session that is another's is refused alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.aio import eventually, loop_turns, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up, shipped_seqs
from tests.journal.conformance import JournalConformance
from tests.journal.samples import Opener, entries
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.shipping.claim import claim, last_known
from trunkline.cluster.shipping.commit_all import CommitAll
from trunkline.journal.base import Group
from trunkline.journal.stores.memory import MemoryJournal


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


class OpenedAgain(CommitAll):
    """The journal of one node, on a connection and with a shipper of its own each time that it is opened."""

    def __init__(self, local: MemoryJournal, url: str, ledger: Path) -> None:
        self._opens = owner(url, journal=local, ledger=ledger)
        self._memory = local

    async def __aenter__(self) -> Self:
        node = await self._opens.__aenter__()
        super().__init__(self._memory, node.shipper)
        self.delete = self._delete
        return await super().__aenter__()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await super().__aexit__(kind, error, trace)
        await self._opens.__aexit__(kind, error, trace)

    async def _delete(self, session_id: str) -> None:
        """As a hub does: from here, and from the cluster."""
        await self._memory.delete(session_id)
        await self._shipper.forget(session_id)
        await jetstream.ask(self._shipper.connection, f"STREAM.PURGE.{subjects.JOURNAL}",
                            {"filter": subjects.journal("box", session_id)})


class TestCommitAll(JournalConformance):
    """It does what every journal does."""

    @pytest.fixture
    def open_journal(self, tmp_path: Path, nats: NatsServer) -> Opener:
        run(set_up(nats.url))
        local = MemoryJournal()
        return lambda: OpenedAgain(local, nats.url, tmp_path / "ledger.db")


def test_a_commit_ends_when_the_stream_has_it_and_is_never_made_on_the_spot(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            journal = CommitAll(box.journal, box.shipper)
            first = Group({"ses_a": entries(1, 3), "ses_b": entries(1, 2)}, {})
            assert not journal.append_now(first) and not journal.append_alone_now("ses_a", entries(1, 1))
            await journal.append(first)
            assert await shipped_seqs(box.connection, "ses_a") == [1, 2, 3]
            assert await shipped_seqs(box.connection, "ses_b") == [1, 2]
            assert first.refused == {} and journal.last_pos == box.journal.last_pos > 0

    run(go())


def test_a_session_that_was_taken_over_is_refused_and_the_others_are_committed(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box, connected(stream.url, node="other") as other:
            journal = CommitAll(box.journal, box.shipper)
            await journal.append(Group({"ses_mine": entries(1, 1), "ses_lost": entries(1, 1)}, {}))
            await claim(other, "box", "ses_lost", await last_known(other, "box", "ses_lost"), incarnation="j", why="")
            second = Group({"ses_mine": entries(2, 2), "ses_lost": entries(2, 2)}, {})
            await journal.append(second)
            assert set(second.refused) == {"ses_lost"}
            assert await shipped_seqs(box.connection, "ses_mine") == [1, 2]

    run(go())


def test_while_the_cluster_is_away_a_commit_waits(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            journal = CommitAll(box.journal, box.shipper)
            nats.kill()
            await eventually(lambda: not box.connection.up)
            waiting = asyncio.create_task(journal.append(Group({"ses_w": entries(1, 2)}, {})))
            await loop_turns()
            assert not waiting.done()
            assert await journal.read_hub(after=0) == [], "nobody reads it among all sessions"
            nats.start()
            await waiting
            assert [entry.seq for _, entry in await journal.read_hub(after=0)] == [1, 2]
            assert await shipped_seqs(box.connection, "ses_w") == [1, 2]

    run(go())


def test_a_hub_that_stops_waits_for_no_stream_and_ships_at_its_next_start(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            journal = CommitAll(box.journal, box.shipper)
            nats.kill()
            await eventually(lambda: not box.connection.up)
            waits, comes_later = Group({"ses_s": entries(1, 2)}, {}), Group({"ses_s": entries(3, 3)}, {})
            waiting = asyncio.create_task(journal.append(waits))
            await loop_turns()
            box.shipper.wait_no_more()
            await waiting
            await journal.append(comes_later)
            assert set(waits.refused) == set(comes_later.refused) == {"ses_s"}, "nobody is told that these are there"
            assert [entry.seq for entry in await box.journal.read("ses_s")] == [1, 2, 3], "the next start ships them"

    run(go())
