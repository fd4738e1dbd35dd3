"""The feed: one API over tail and journal, readers as positions, bytes made once."""

from __future__ import annotations

import asyncio

from tests.aio import run
from trunkline.feeds import session as feeds
from trunkline.feeds.session import Feed, TailBudget, packet_frame, packet_of
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.memory import MemoryJournal

UPDATE = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}'


def entries(first: int, count: int, *, body: bytes = b"{}") -> list[Entry]:
    return [Entry(seq, 1_790_000_000_000_000 + seq, body, UPDATE % seq) for seq in range(first, first + count)]


def size(batch: list[Entry]) -> int:
    return sum(entry.size() for entry in batch)


def tail_of(feed: Feed) -> list[Entry]:
    return [entry for entries, _ in feed._tail for entry in entries]


async def stored_feed(count: int, budget: TailBudget | None = None) -> tuple[Feed, MemoryJournal]:
    journal = MemoryJournal()
    feed = Feed("s", journal, 0, budget or TailBudget())
    for first in range(1, count + 1, 100):
        batch = entries(first, min(100, count + 1 - first))
        row = SessionRow(id="s", agent="a", cwd="/", title="", status="idle", created_at=0, updated_at=0, summary=b"{}",
                         checkpoint=b"{}", checkpoint_seq=0)
        await journal.append(Group({"s": batch}, {"s": row}))
        feed.committed(batch, size(batch))
    return feed, journal


def test_a_reader_that_starts_anywhere_gets_every_entry_once_and_in_order() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(5_000)
        for start in (0, 1, 2_999, 4_990, 4_999):
            seen: list[int] = []
            while seen[-1:] != [5_000]:
                page = await feed.read(after=seen[-1] if seen else start, limit=333)
                seen += [entry.seq for entry in page]
            assert seen == list(range(start + 1, 5_001))
        assert await feed.read(after=5_000) == []

    run(scenario())


def test_the_tail_stays_within_its_limits() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(10_000)
        assert 1_900 <= len(tail_of(feed)) <= feeds.TAIL_ENTRIES
        assert feed._tail_bytes == size(tail_of(feed)) <= feeds.TAIL_BYTES
        long = entries(10_001, 5_000)
        feed.committed(long, size(long))
        assert [entry.seq for entry in tail_of(feed)] == list(range(13_001, 15_001))
        big = entries(15_001, 3, body=b"x" * feeds.TAIL_BYTES)
        feed.committed(big, size(big))
        assert [entry.seq for entry in tail_of(feed)] == [15_003], "the newest stays, whatever its size"
        assert feed._tail_bytes == size(tail_of(feed))

    run(scenario())


def test_over_the_hubs_budget_the_quietest_feed_gives_up_its_tail() -> None:
    async def scenario() -> None:
        journal, budget = MemoryJournal(), TailBudget(limit=30_000)
        quiet, busy = Feed("quiet", journal, 0, budget), Feed("busy", journal, 0, budget)
        for feed in (quiet, busy):
            batch = entries(1, 10, body=b"x" * 2_000)
            feed.committed(batch, size(batch))
        assert (quiet.packet_frames(0), busy.packet_frames(0) is not None) == (None, True)

    run(scenario())


def test_waiting_ends_with_the_next_entry_and_with_the_feed() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(1)
        await feed.wait(0)
        waiting = asyncio.create_task(feed.wait(1))
        await asyncio.sleep(0)
        assert feed.waiting == 1 and not waiting.done()
        more = entries(2, 1)
        feed.committed(more, size(more))
        await waiting
        ending = asyncio.create_task(feed.wait(2))
        await asyncio.sleep(0)
        feed.close()
        await ending
        await feed.wait(99)

    run(scenario())


def test_frames_are_made_once_for_all_readers_at_a_position() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(20)
        first, second = feed.packet_frames(5), feed.packet_frames(5)
        assert first is not None and first is second
        frames, position = first
        assert position == 20
        assert frames == b"".join(packet_frame(entry.seq, packet_of(entry) or b"") for entry in entries(6, 15))
        more = entries(21, 1)
        feed.committed(more, size(more))
        renewed = feed.packet_frames(5)
        assert renewed is not None and renewed[1] == 21

    run(scenario())


def test_one_write_is_bounded() -> None:
    async def scenario() -> None:
        feed = Feed("s", MemoryJournal(), 0, TailBudget())
        batch = [Entry(seq, 1, b"{}", None, b'{"x":"%b"}' % (b"y" * 50_000)) for seq in range(1, 19)]
        feed.committed(batch, size(batch))
        found = feed.packet_frames(0)
        assert found is not None
        frames, position = found
        assert feeds.WRITE_BYTES <= len(frames) <= feeds.WRITE_BYTES + 51_000 and position < 18

    run(scenario())


def test_an_entry_without_packet_moves_the_position_and_sends_nothing() -> None:
    async def scenario() -> None:
        feed = Feed("s", MemoryJournal(), 0, TailBudget())
        feed.committed([Entry(1, 1, b"{}")], 2)
        assert feed.packet_frames(0) == (b"", 1)

    run(scenario())
