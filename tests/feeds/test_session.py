"""The feed: one API over tail and journal, readers as positions, bytes made once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tests.aio import run
from trunkline.feeds import session as feeds
from trunkline.feeds.session import Feed, TailBudget, Write
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.stores.memory import MemoryJournal

UPDATE = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}'


def entries(first: int, count: int, *, body: bytes = b"{}") -> list[Entry]:
    return [Entry(seq, 1_790_000_000_000_000 + seq, body, UPDATE % seq) for seq in range(first, first + count)]


def size(batch: list[Entry]) -> int:
    return sum(entry.size() for entry in batch)


def plain(found: Iterator[Entry], after: int) -> Write:
    """An encoder of no wire format in particular."""
    kept = list(found)
    return b" ".join(b"%d" % entry.seq for entry in kept), kept[-1].seq


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
        assert (quiet.shared(0, plain), busy.shared(0, plain) is not None) == (None, True)

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


def test_bytes_are_made_once_for_all_readers_with_one_encoder_at_a_position() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(20)
        first = feed.shared(15, plain)
        assert first == (b"16 17 18 19 20", 20)
        assert feed.shared(15, plain) is first
        assert feed.shared(15, lambda found, after: (b"other", after)) == (b"other", 15)
        more = entries(21, 1)
        feed.committed(more, size(more))
        assert feed.shared(15, plain) == (b"16 17 18 19 20 21", 21)

    run(scenario())


def test_what_is_kept_for_sharing_is_bounded_in_positions_and_in_bytes() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(50)
        for after in range(50):
            feed.shared(after, plain)
        assert len(feed._shared) <= feeds.SHARED_WRITES
        for after in range(50):
            feed.shared(after, lambda found, after: (bytes(feeds.WRITE_BYTES), after))
        kept = sum(len(data) for data, _ in feed._shared.values())
        assert kept <= feeds.SHARED_BYTES + feeds.WRITE_BYTES

    run(scenario())


def test_a_reader_behind_the_tail_shares_nothing() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(5_000)
        assert feed.shared(0, plain) is None
        feed.forget_tail()
        assert feed.shared(4_999, plain) is None

    run(scenario())


def following(feed: Feed) -> list[int]:
    """The newest seq at each call of somebody who follows."""
    called: list[int] = []
    feed.follow(lambda: called.append(feed.last_seq), lambda: None)
    return called


def test_who_is_let_go_soon_gets_what_was_held_with_the_next_commit() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(1)
        called = following(feed)
        feed.hold()
        feed.committed(entries(2, 1), 10)
        feed.let_go_soon()
        assert called == []
        feed.committed(entries(3, 1), 10)
        assert called == [3]

    run(scenario())


def test_who_is_let_go_soon_is_called_in_the_next_turn_of_the_loop_where_nothing_more_is_committed() -> None:
    async def scenario() -> None:
        feed, _ = await stored_feed(1)
        called = following(feed)
        feed.hold()
        feed.committed(entries(2, 1), 10)
        feed.let_go_soon()
        await asyncio.sleep(0)
        assert called == [2]

    run(scenario())
