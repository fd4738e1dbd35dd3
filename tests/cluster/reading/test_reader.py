"""Reading the stream as a journal: the conformance suite on what it holds, and what only it has to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.aio import run
from tests.cluster.connecting import connected
from tests.cluster.shipping.owner import owner, set_up
from tests.journal.conformance import JournalConformance
from tests.journal.samples import Opener, entries, entry, read_all, seqs
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects, wire
from trunkline.cluster.connection import Connection
from trunkline.cluster.reading import reader as readers
from trunkline.cluster.reading.reader import StreamReader
from trunkline.dialects.context.envelope import decode_event
from trunkline.dialects.context.events import CustomEvent
from trunkline.errors import SessionNotFound
from trunkline.journal.base import Entry, Group
from trunkline.journal.stores.memory import MemoryJournal


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer(tmp_path_factory.mktemp("stream")) as server:
        run(set_up(server.url))
        yield server


class ShippedJournal(MemoryJournal):
    """What a node commits and another node reads: appended here, shipped, and read from the stream."""

    def __init__(self, server: NatsServer) -> None:
        super().__init__()
        self._server = server
        self._newest = 0

    async def __aenter__(self) -> Self:
        self._owner = owner(self._server.url, journal=self)
        self._node = await self._owner.__aenter__()
        self._reader = StreamReader(self._node.connection, lambda session_id: "box")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._owner.__aexit__(kind, error, trace)

    def append_now(self, group: Group) -> bool:
        return False

    async def append(self, group: Group) -> None:
        super().append_now(group)
        self._node.shipper.committed(group.entries)
        for session_id, given in group.entries.items():
            if given:
                await self._node.shipper.shipped(session_id, given[-1].seq)
                await self._take_places(session_id, given)

    @property
    def last_pos(self) -> int:
        return self._newest

    async def delete(self, session_id: str) -> None:
        await super().delete(session_id)
        await self._node.shipper.forget(session_id)
        await jetstream.ask(self._node.connection, f"STREAM.PURGE.{subjects.JOURNAL}",
                            {"filter": subjects.journal("box", session_id)})

    async def read(self, session_id: str, *, after: int = 0, before: int | None = None, limit: int = 1000,
                   max_bytes: int = 1 << 20, tail: bool = False) -> list[Entry]:
        if sys._getframe(1).f_code.co_name == "next_group":  # the shipper reads the node's own
            return await super().read(session_id, after=after, before=before, limit=limit, max_bytes=max_bytes, tail=tail)
        return await self._reader.read(session_id, after=after, before=before, limit=limit, max_bytes=max_bytes, tail=tail)

    async def read_hub(self, *, after: int, limit: int = 1000, max_bytes: int = 1 << 20) -> list[tuple[str, Entry]]:
        return await self._reader.read_hub(after=after, limit=limit, max_bytes=max_bytes)

    async def _take_places(self, session_id: str, given: list[Entry]) -> None:
        """Entries have the stream's places, for whoever compares them."""
        by_seq = {entry.seq: entry for entry in given}
        while by_seq:
            for found in await self._reader.read(session_id, after=min(by_seq) - 1):
                if (entry := by_seq.pop(found.seq, None)) is not None:
                    entry.pos = self._newest = found.pos


class TestStreamReader(JournalConformance):
    """What one node appends comes back at another as from any journal."""

    @pytest.fixture
    def open_journal(self, tmp_path: Path, nats: NatsServer) -> Opener:
        run(set_up(nats.url))
        made = ShippedJournal(nats)
        return lambda: made


def test_entries_come_back_as_they_were_given_with_rising_places(stream: NatsServer) -> None:
    async def go() -> None:
        given = [Entry(1, 10, b'{"type":"message:start"}', b"{}", b"{}", b"raw"), Entry(2, 11, b"\xff\x00 not json"),
                 Entry(3, 12, b"", b"", b"", b"", 0, b"step")]
        async with owner(stream.url) as box:
            await box.ship("ses_given", given)
            found = await StreamReader(box.connection, lambda _: "box").read("ses_given")
            assert [each.pos for each in found] == sorted({each.pos for each in found})
            for each in (*found, *given):
                each.pos = 0
            assert found == given

    run(go())


def test_all_sessions_are_read_in_the_order_of_the_stream(nats: NatsServer) -> None:
    async def go() -> None:
        await set_up(nats.url)
        async with owner(nats.url) as box:
            reader = StreamReader(box.connection, lambda _: "box")
            for turn in range(10):
                await box.ship("ses_a", entries(turn * 5 + 1, turn * 5 + 5))
                await box.ship("ses_b", [entry(turn + 1)])
            whole = await reader.read_hub(after=0)
            assert [each.seq for session, each in whole if session == "ses_a"] == list(range(1, 51))
            assert [session for session, _ in whole][:7] == ["ses_a"] * 5 + ["ses_b", "ses_a"]
            for limit in (1, 7):
                found: list[tuple[str, Entry]] = []
                while page := await reader.read_hub(after=found[-1][1].pos if found else 0, limit=limit):
                    found += page
                assert found == whole

    run(go())


def test_a_session_is_read_though_its_last_message_cannot_be(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_junk", entries(1, 3))
            await jetstream.publish(box.connection, subjects.journal("box", "ses_junk"), b"junk", {})
            reader = StreamReader(box.connection, lambda _: "box")
            assert seqs(await reader.read("ses_junk")) == [1, 2, 3]

    run(go())


def test_nothing_is_read_of_a_session_that_ended_by_whatever_way(stream: NatsServer) -> None:
    """By a reader whose directory has it still, and among all sessions where that has it no more."""
    async def go() -> None:
        async with owner(stream.url) as box:
            await box.ship("ses_over", entries(1, 3))
            body, headers = wire.end_message(wire.End(epoch=1, owner="box", after=3))
            await jetstream.publish(box.connection, subjects.journal("box", "ses_over"), body, headers)
            await box.ship("ses_alive", entries(1, 3))
            stale = StreamReader(box.connection, lambda _: "box")
            for wanted in ({}, {"after": 1}, {"before": 3}, {"tail": True}, {"tail": True, "before": 3}):
                assert await stale.read("ses_over", **wanted) == []

            def unknown(session_id: str) -> str:
                raise SessionNotFound(session_id)

            found = await StreamReader(box.connection, unknown).read_hub(after=0, limit=100_000, max_bytes=64 << 20)
            assert "ses_over" not in {session_id for session_id, _ in found}
            assert [entry.seq for session_id, entry in found if session_id == "ses_alive"] == [1, 2, 3]

    run(go())


def test_a_cursor_in_the_middle_of_a_long_session_is_found_with_few_looks(stream: NatsServer) -> None:
    async def go() -> None:
        async with owner(stream.url) as box:
            for first in range(1, 6000, 2):
                headers = {**wire.entries_headers(1, first, first + 1), jetstream.EXPECTED_STREAM: subjects.JOURNAL}
                await box.connection.publish(subjects.journal("box", "ses_long"), wire.entries_body(entries(first, first + 1)),
                                             headers=headers)
            await box.connection.client.flush()
            looks = Counting(box.connection)
            reader = StreamReader(looks, lambda _: "box")  # type: ignore[arg-type]
            assert seqs(await reader.read("ses_long", after=4321, limit=3)) == [4322, 4323, 4324]
            assert looks.count < 20
            looks.count = 0
            assert seqs(await reader.read("ses_long", after=4330, limit=3)) == [4331, 4332, 4333]
            assert looks.count == 2, "whether it has ended, and a page: it is known where that is"
            assert seqs(await reader.read("ses_long", limit=4, tail=True)) == [5997, 5998, 5999, 6000]
            assert seqs(await reader.read("ses_long", before=3000, limit=200, tail=True)) == list(range(2800, 3000))
            assert len(await read_all(reader, "ses_long")) == 6000  # type: ignore[arg-type]

    run(go())


class Counting:
    """Counts what is asked of the stream."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.count = 0

    async def request_many(self, *args: Any, **how: Any) -> None:
        self.count += 1
        await self._connection.request_many(*args, **how)

    async def request(self, *args: Any, **how: Any) -> Any:
        self.count += 1
        return await self._connection.request(*args, **how)


def test_large_entries_are_put_together_and_lost_parts_are_a_gap(stream: NatsServer) -> None:
    async def go() -> None:
        large = [entry(2), entry(4)]
        for each in large:
            each.raw = os.urandom(1 << 20)
        async with owner(stream.url) as box:
            await box.ship("ses_parts", [entry(1), large[0], entry(3), large[1], entry(5)])
            reader = StreamReader(box.connection, lambda _: "box")
            found = await reader.read("ses_parts", max_bytes=8 << 20)
            assert seqs(found) == [1, 2, 3, 4, 5] and [each.raw for each in found[1:4:2]] == [each.raw for each in large]
            await jetstream.ask(box.connection, f"STREAM.PURGE.{subjects.PARTS}",
                                {"filter": subjects.parts("box", "ses_parts", 4)})
            found = await reader.read("ses_parts", max_bytes=8 << 20)
            assert seqs(found) == [1, 2, 3, 4, 5]
            gap = decode_event(found[3].event)
            assert isinstance(gap, CustomEvent) and gap.event_name == "gap"

    run(go())


def test_of_a_large_entry_no_more_is_read_than_it_can_have(stream: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "PARTS_BYTES", 1 << 20)

    async def go() -> None:
        async with owner(stream.url) as box:
            for _ in range(3):
                await jetstream.publish(box.connection, subjects.parts("box", "ses_stuffed", 1), bytes(500_000), {})
            large = entry(1)
            large.raw = os.urandom(700 << 10)
            await box.ship("ses_stuffed", [large])
            [found] = await StreamReader(box.connection, lambda _: "box").read("ses_stuffed", max_bytes=8 << 20)
            gap = decode_event(found.event)
            assert isinstance(gap, CustomEvent) and gap.event_name == "gap"

    run(go())


def test_what_is_not_known_or_cannot_be_read_is_shown_and_passed(stream: NatsServer) -> None:
    async def go() -> None:
        async with connected(stream.url) as connection:
            subject = subjects.journal("box", "ses_odd")
            await jetstream.publish(connection, subject, wire.entries_body([entry(1)]), wire.entries_headers(1, 1, 1))
            later = {"Tl-V": "9", "Tl-Kind": "dance", "Tl-Epoch": "1", "Tl-Seq": "2-4"}
            await jetstream.publish(connection, subject, b"?", later)
            await jetstream.publish(connection, subject, b"junk", wire.entries_headers(1, 5, 6))
            body, headers = wire.claim_message(wire.Claim(epoch=2, owner="o", incarnation="i", after=6))
            await jetstream.publish(connection, subject, body, headers)
            await jetstream.publish(connection, subject, b"junk", {})
            await jetstream.publish(connection, subject, wire.entries_body([entry(7)]), wire.entries_headers(2, 7, 7, after=6))
            found = await StreamReader(connection, lambda _: "box").read("ses_odd")
            assert seqs(found) == [1, 4, 6, 7]
            unknown, gap = decode_event(found[1].event), decode_event(found[2].event)
            assert isinstance(unknown, CustomEvent) and unknown.event_name == "unknown_message"
            assert isinstance(gap, CustomEvent) and gap.event_name == "gap"

    run(go())


