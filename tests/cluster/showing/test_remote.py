"""A session of another node: its entries and its state are what the stream has, whatever way they came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import Owner, owner, set_up
from tests.journal.samples import row, seqs
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.checkpoints import store_checkpoint
from trunkline.cluster.connection import Connection
from trunkline.cluster.directory import Directory
from trunkline.cluster.reading.reader import StreamReader
from trunkline.cluster.showing import remote
from trunkline.cluster.showing.remote import STEPS_KEPT, RemoteSession
from trunkline.errors import ClusterUnavailable, SessionNotFound
from trunkline.feeds.session import TailBudget
from trunkline.journal.base import Entry
from trunkline.session.fold import Fold, SessionView, checkpoint


def step(seq: int, **members: object) -> Entry:
    """An entry that changed the session's state."""
    return Entry(seq, seq, b"{}", step=json.dumps(members).encode())


def first(session_id: str) -> Entry:
    """The entry that begins a session: its step has all that never changes."""
    return step(1, sessionId=session_id, agent="demo", cwd="/work", createdAt=1, updatedAt=1, title="one")


class Gateway:
    """What a gateway needs to show a session of the pool ``box``."""

    def __init__(self, box: Owner, directory: Directory, connection: Connection) -> None:
        self.box, self.directory, self.connection = box, directory, connection
        self.marked: list[SessionView] = []

    has_shipped = True
    """Whether the owner says that all it has is in the stream."""

    def remote(self, session_id: str) -> RemoteSession:
        reader = StreamReader(self.connection, self.directory.pool_of)
        return RemoteSession(session_id, self.connection, reader, self.directory, TailBudget(), self.marked.append,
                             lambda node: self.has_shipped)


@asynccontextmanager
async def gateway(url: str, *sessions: str) -> AsyncIterator[Gateway]:
    """A gateway that knows these sessions, and their owner."""
    async with owner(url) as box, connected(url, node="web") as web:
        own = Directory(box.connection, pool="box", owner="box")
        seen = Directory(web, pool="web", owner="web")
        for each in (own, seen):
            each.start()
        await seen.loaded.wait()
        for session_id in sessions:
            own.put(row(session_id, checkpoint=b""))
        await eventually(lambda: set(sessions) <= set(seen.places))
        try:
            yield Gateway(box, seen, web)
        finally:
            for each in (own, seen):
                await each.close()


def test_it_is_opened_as_the_stream_has_it_and_goes_on(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_open") as web:
            await web.box.ship("ses_open", [first("ses_open"), step(2, title="two")])
            session = web.remote("ses_open")
            await session.open()
            assert (session.feed.last_seq, session.fold.title, session.view().last_seq) == (2, "two", 2)
            assert web.marked, "where it is, is said in each view"
            await web.box.commit("ses_open", [step(3, title="three")])
            assert await session.feed.wait(2)
            assert (session.fold.title, seqs(await session.feed.read(after=0))) == ("three", [1, 2, 3])
            await session.end()

    run(go())


def test_the_checkpoint_is_where_the_state_begins(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_check") as web:
            await web.box.ship("ses_check", [first("ses_check"), step(2, title="two"), step(3, status="running")])
            state = Fold(session_id="ses_check", agent="demo", cwd="/work", created_at=1, updated_at=1, title="kept",
                         status="idle")
            stored = row("ses_check", checkpoint=checkpoint(state), checkpoint_seq=2)
            await store_checkpoint(web.box.connection, "box", stored, 1)
            session = web.remote("ses_check")
            await session.open()
            assert (session.fold.title, session.fold.status) == ("kept", "running")
            assert seqs(await session.feed.read(after=0)) == [1, 2, 3], "what is before the checkpoint is read from the stream"
            await session.end()

    run(go())


def test_a_checkpoint_of_what_another_owner_did_not_take_over_does_not_count(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_claim") as web:
            connection = web.box.connection
            await web.box.ship("ses_claim", [first("ses_claim"), step(2, title="two")])
            state = Fold(session_id="ses_claim", agent="demo", cwd="/work", created_at=1, updated_at=1, title="put aside",
                         status="idle")
            await store_checkpoint(connection, "box", row("ses_claim", checkpoint=checkpoint(state), checkpoint_seq=3), 1)
            claim = wire.claim_message(wire.Claim(epoch=2, owner="other", incarnation="i", after=2))
            await jetstream.publish(connection, subjects.journal("box", "ses_claim"), *claim)
            body = wire.entries_body([step(3, status="running"), step(4, title="four")])
            await jetstream.publish(connection, subjects.journal("box", "ses_claim"), body,
                                    wire.entries_headers(2, 3, 4, after=2))
            session = web.remote("ses_claim")
            await session.open()
            assert (session.fold.title, session.fold.status, session.feed.last_seq) == ("four", "running", 4)
            await session.end()

    run(go())


def test_many_steps_are_put_into_the_state(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_steps") as web:
            last = 3 * STEPS_KEPT
            await web.box.ship("ses_steps", [first("ses_steps"), *(step(seq, title=str(seq)) for seq in range(2, last + 1))])
            session = web.remote("ses_steps")
            await session.open()
            assert len(session._steps) <= STEPS_KEPT and session.fold.title == str(last)
            await session.end()

    run(go())


def test_who_waits_wakes_one_that_hears_nothing(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_doze") as web:
            await web.box.ship("ses_doze", [first("ses_doze")])
            session = web.remote("ses_doze")
            await session.open()
            await session.doze()
            await web.box.ship("ses_doze", [step(2, title="while nobody looked")])
            assert session.feed.last_seq == 1
            assert await session.feed.wait(1)
            assert session.fold.title == "while nobody looked"
            await session.doze()
            await web.box.ship("ses_doze", [step(3, title="once more")])
            await session.catch_up()
            assert session.fold.title == "once more"
            await session.end()

    run(go())


def test_what_the_stream_cannot_show_is_passed_over_and_no_cursor_stands_still(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_hole") as web:
            await web.box.ship("ses_hole", [first("ses_hole")])
            session = web.remote("ses_hole")
            await session.open()
            headers = wire.entries_headers(1, 2, 6)
            await jetstream.publish(web.box.connection, subjects.journal("box", "ses_hole"), b"not what it says", headers)
            await jetstream.publish(web.box.connection, subjects.journal("box", "ses_hole"),
                                    wire.entries_body([step(7, title="seven")]), wire.entries_headers(1, 7, 7))
            await eventually(lambda: session.feed.last_seq == 7)
            assert seqs(await session.feed.read(after=1)) == [6, 7], "one entry stands for those that cannot be read"
            assert seqs(await session.feed.read(after=3)) == [6, 7]
            await session.end()

    run(go())


def test_a_session_that_was_deleted_ends_and_is_found_no_more(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_gone") as web:
            await web.box.ship("ses_gone", [first("ses_gone")])
            session = web.remote("ses_gone")
            await session.open()
            body, headers = wire.end_message(wire.End(epoch=1, owner="box", after=1))
            await jetstream.publish(web.box.connection, subjects.journal("box", "ses_gone"), body, headers)
            assert not await session.feed.wait(1)
            with pytest.raises(SessionNotFound):
                await web.remote("ses_gone").open()

    run(go())


def test_a_claim_that_comes_before_its_row_is_not_shown_with_the_old_owner(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_taken") as web:
            await web.box.ship("ses_taken", [first("ses_taken")])
            session = web.remote("ses_taken")
            await session.open()
            body, headers = wire.claim_message(wire.Claim(epoch=2, owner="den", incarnation="i1", after=1))
            await jetstream.publish(web.box.connection, subjects.journal("box", "ses_taken"), body, headers)
            await eventually(lambda: session.epoch == 2)
            snapshot = asyncio.create_task(session.snapshot())
            den = Directory(web.box.connection, pool="box", owner="den", epoch_of=lambda session_id: 2)
            den.start()
            den.put(row("ses_taken", checkpoint=b""))
            await snapshot
            assert web.directory.place("ses_taken").owner == "den"
            await den.close()
            await session.end()

    run(go())


def test_a_session_that_ended_while_nobody_read_it_is_not_shown_from_memory(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_dozed") as web:
            await web.box.ship("ses_dozed", [first("ses_dozed")])
            session = web.remote("ses_dozed")
            await session.open()
            await session.doze()
            body, headers = wire.end_message(wire.End(epoch=1, owner="box", after=1))
            await jetstream.publish(web.box.connection, subjects.journal("box", "ses_dozed"), body, headers)
            with pytest.raises(SessionNotFound):
                await session.catch_up()
            assert session.feed.closed and await session.feed.read(after=0) == []

    run(go())


def test_a_session_of_which_the_stream_has_nothing_yet_shows_what_its_row_says(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_new") as web:
            session = web.remote("ses_new")
            await session.open()
            assert (session.feed.last_seq, session.view().title) == (0, "A title")
            await web.box.ship("ses_new", [first("ses_new")])
            assert await session.feed.wait(0)
            assert session.view().title == "one"
            await session.end()

    run(go())


def test_a_reader_that_knows_more_than_the_stream_is_waited_for(stream: NatsServer) -> None:
    async def go() -> None:
        async with gateway(stream.url, "ses_ahead") as web:
            await web.box.ship("ses_ahead", [first("ses_ahead")])
            session = web.remote("ses_ahead")
            await session.open()
            await web.box.commit("ses_ahead", [step(2)])
            assert await session.feed.has(2)
            await session.end()

    run(go())


def test_a_session_that_cannot_be_read_in_time_is_not_opened(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(self: StreamReader, session_id: str, **which: object) -> list[Entry]:
        return []

    async def go() -> None:
        monkeypatch.setattr(remote, "OPEN_WITHIN_S", 0.05)
        async with gateway(stream.url, "ses_late") as web:
            await web.box.ship("ses_late", [first("ses_late")])
            monkeypatch.setattr(StreamReader, "read", nothing)
            with pytest.raises(ClusterUnavailable, match="could not be read"):
                await web.remote("ses_late").open()

    run(go())


def test_a_cursor_beyond_the_end_is_told_so_only_where_that_is_sure(nats: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another gateway may have shown more than this one has heard of: who comes from there must not be told to forget it."""
    monkeypatch.setattr(remote, "BEHIND_S", 0.05)

    async def go() -> None:
        await set_up(nats.url)
        async with gateway(nats.url, "ses_ahead") as web:
            await web.box.ship("ses_ahead", [first("ses_ahead"), step(2)])
            shown = web.remote("ses_ahead")
            await shown.open()
            assert await shown.feed.has(2) and not await shown.feed.has(9)
            web.has_shipped = False
            assert await shown.feed.has(9), "the owner has more, and says so"
            web.has_shipped = True
            await asyncio.to_thread(nats.kill)
            assert await shown.feed.has(9), "nobody can be asked"
            await shown.stop()

    run(go())
