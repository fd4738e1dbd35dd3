"""The feed of the whole hub: every commit in order, from tail or journal, and nothing kept while nobody follows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.aio import run
from trunkline.feeds import call_time
from trunkline.feeds import hub as hub_feed
from trunkline.feeds.hub import HubFeed, HubGroup, Placed
from trunkline.hub import Hub, HubOptions, NewSession
from trunkline.journal.base import Entry, Group, SessionRow
from trunkline.journal.deleted_ids import KEPT_IDS
from trunkline.journal.stores.memory import MemoryJournal
from trunkline.journal.stores.sqlite.store import SqliteJournal

EVENT = b'{"seq":1,"sessionId":"s","timestamp":"t","type":"message:delta"}'


@pytest.fixture(autouse=True)
def _calls_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: how long readers are called for is a matter of test_call_time.py."""
    monkeypatch.setattr(call_time, "MOST_S", 3600.0)
    monkeypatch.setattr(call_time, "NOTED_S", 3600.0)


def entries(first: int, count: int, size: int = 2) -> list[Entry]:
    return [Entry(seq, 1_790_000_000_000_000 + seq, EVENT.ljust(size)) for seq in range(first, first + count)]


def row(session_id: str) -> SessionRow:
    return SessionRow(id=session_id, agent="a", cwd="/", title="", status="idle", created_at=0, updated_at=0, summary=b"{}",
                      checkpoint=b"{}", checkpoint_seq=0)


class Writer:
    """Commits groups as the committer does: the journal first, then the feed."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.feed = HubFeed(self.journal)
        self._seqs: dict[str, int] = {}

    def commit(self, *sessions: str, count: int = 1, size: int = 2) -> None:
        parts = {}
        for session_id in sessions:
            parts[session_id] = entries(self._seqs.get(session_id, 0) + 1, count, size)
            self._seqs[session_id] = self._seqs.get(session_id, 0) + count
        self.journal.append_now(Group(parts, {session_id: row(session_id) for session_id in sessions}))
        self.feed.committed(parts)

    async def all(self, after: int = 0, limit: int = 1_000) -> list[Placed]:
        found: list[Placed] = []
        while page := await self.feed.read(after=found[-1][1].pos if found else after, limit=limit):
            found += page
        return found


def poses(found: Sequence[Placed]) -> list[int]:
    return [entry.pos for _, entry in found]


def test_a_reader_gets_every_entry_of_every_session_once_and_in_commit_order() -> None:
    async def scenario() -> None:
        writer = Writer()
        writer.commit("a", "b", count=3)
        waiting = asyncio.create_task(writer.feed.wait(6))
        await asyncio.sleep(0)
        writer.commit("b", "a", count=2)
        await waiting
        writer.commit("c")
        for start in range(12):
            for limit in (1, 2, 100):
                assert poses(await writer.all(start, limit)) == list(range(start + 1, 12))
        assert [session_id for session_id, _ in await writer.all(6)] == ["b", "b", "a", "a", "c"]

    run(scenario())


def test_nothing_is_kept_while_nobody_has_waited() -> None:
    writer = Writer()
    for _ in range(10):
        writer.commit("a")
    assert writer.feed.last_pos == 10
    assert writer.feed.group_after(9) is None


def test_the_tail_is_let_go_when_nobody_comes_back() -> None:
    async def scenario() -> None:
        writer = Writer()
        waiting = asyncio.create_task(writer.feed.wait(0))
        await asyncio.sleep(0)
        writer.commit("a")
        await waiting
        assert writer.feed.group_after(0) is not None
        for _ in range(hub_feed.KEPT_GROUPS):
            writer.commit("a")
        assert writer.feed.group_after(writer.feed.last_pos - 1) is None
        assert len(await writer.all()) == writer.feed.last_pos

    run(scenario())


def test_the_tail_stays_within_its_bytes_and_who_lags_reads_from_the_journal() -> None:
    async def scenario() -> None:
        writer = Writer()
        await writer.feed.wait(-1)
        for _ in range(30):
            writer.commit("a", count=2, size=50_000)
        assert writer.feed._tail_bytes <= hub_feed.TAIL_BYTES
        assert writer.feed.group_after(0) is None
        assert poses(await writer.all()) == list(range(1, 61))

    run(scenario())


def test_a_page_is_bounded_in_bytes_but_never_empty() -> None:
    async def scenario() -> None:
        writer = Writer()
        await writer.feed.wait(-1)
        writer.commit("a", count=4, size=1_000)
        assert len(await writer.feed.read(after=0, max_bytes=2_500)) == 2
        assert len(await writer.feed.read(after=0, max_bytes=1)) == 1

    run(scenario())


def test_a_reader_that_waits_while_only_rows_are_committed_is_still_woken_by_the_next_entry() -> None:
    async def scenario() -> None:
        writer = Writer()
        waiting = asyncio.create_task(writer.feed.wait(0))
        await asyncio.sleep(0)
        for _ in range(hub_feed.KEPT_GROUPS + 5):
            writer.feed.committed({})
        again = asyncio.create_task(writer.feed.wait(0))
        await asyncio.sleep(0)
        writer.commit("a")
        await asyncio.gather(waiting, again)
        assert poses(await writer.all()) == [1]

    run(scenario())


def test_closing_wakes_everybody_and_nobody_waits_again() -> None:
    async def scenario() -> None:
        writer = Writer()
        waiting = asyncio.create_task(writer.feed.wait(0))
        await asyncio.sleep(0)
        writer.feed.close()
        await waiting
        await writer.feed.wait(0)
        assert writer.feed.waiting == 0

    run(scenario())


@pytest.mark.parametrize("durability", ["normal", "full"])
def test_the_hub_feeds_it_and_a_restart_goes_on_from_the_same_pos(tmp_path: Path, durability: str) -> None:
    async def once(hub: Hub, after: int) -> list[tuple[str, int]]:
        session = await hub.create(NewSession(agent="demo", cwd=str(tmp_path)), by="test")
        await hub.everything.wait(after)
        await session.rename("another title", by="test")
        seen: list[tuple[str, int]] = []
        while page := await hub.everything.read(after=after, limit=3):
            seen += [(session_id, entry.seq) for session_id, entry in page]
            after = page[-1][1].pos
        assert [seq for session_id, seq in seen if session_id == session.id] == list(range(1, session.feed.last_seq + 1))
        return seen

    async def scenario() -> None:
        options = HubOptions(data=tmp_path / "data", durability=durability)
        async with Hub(options) as hub:
            await once(hub, 0)
        async with SqliteJournal(tmp_path / "data" / "journal.db") as journal:
            stored = journal.last_pos
        async with Hub(options) as hub:
            assert hub.everything.last_pos == stored > 0
            await once(hub, stored)

    run(scenario())


def test_a_deleted_session_is_gone_from_the_feed_and_its_readers_look_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Hub(HubOptions(data=tmp_path, store="memory:")) as hub:
            await hub.everything.wait(-1)
            gone = await hub.create(NewSession(agent="demo", cwd=str(tmp_path)), by="test")
            kept = await hub.create(NewSession(agent="demo", cwd=str(tmp_path)), by="test")
            waiting = asyncio.create_task(hub.everything.wait(hub.everything.last_pos + 1_000))
            await asyncio.sleep(0)
            await hub.delete(gone.id)
            await waiting
            assert {session_id for session_id, _ in await hub.everything.read(after=0)} == {kept.id}

    run(scenario())


def test_the_newest_deletions_are_told_and_no_more_are_kept() -> None:
    feed = Writer().feed
    for number in range(KEPT_IDS + 5):
        feed.forget_session(str(number))
    assert feed.gone_after(feed.gone_count) == []
    assert feed.gone_after(KEPT_IDS + 2) == [str(number) for number in range(KEPT_IDS + 2, KEPT_IDS + 5)]
    assert feed.gone_after(0) == [str(number) for number in range(5, KEPT_IDS + 5)]


class Follower:
    """Keeps what it was called with, and can be told to stop at a pos."""

    def __init__(self, feed: HubFeed, *sessions: str, wide: bool = False) -> None:
        self.feed = feed
        self.got: list[int] = []
        self.stops = 0
        feed.follow(self, None if wide else sessions)

    def on_group(self, group: HubGroup) -> None:
        self.got += [entry.pos for _, entry in group.entries()]

    def fall_behind(self, group: HubGroup) -> None:
        self.stop()

    def stop(self) -> None:
        self.stops += 1
        self.feed.unfollow(self)


def test_who_follows_is_called_before_the_commit_returns_and_for_its_own_sessions_only() -> None:
    writer = Writer()
    one, both, all_, nobody = (Follower(writer.feed, "a"), Follower(writer.feed, "a", "b"), Follower(writer.feed, wide=True),
                               Follower(writer.feed))
    writer.commit("a")
    assert (one.got, both.got, all_.got, nobody.got) == ([1], [1], [1], [])
    writer.commit("b")
    writer.commit("a", "b")
    assert (one.got, both.got, all_.got, nobody.got) == ([1, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [])
    assert writer.feed.waiting == 4
    writer.feed.unfollow(both)
    writer.feed.unfollow(both)
    writer.commit("b")
    assert (both.got, all_.got[-1], writer.feed.waiting) == ([1, 2, 3, 4], 5, 3)


def test_an_ask_is_everybodys_business() -> None:
    writer = Writer()
    nobody = Follower(writer.feed)
    asks = Entry(1, 1, EVENT.replace(b"message:delta", b"approval:requested"))
    writer.commit("a")
    asks.pos = 2
    writer.feed.committed({"s": [asks]})
    assert nobody.got == [2]


def test_the_tail_is_kept_while_somebody_follows() -> None:
    writer = Writer()
    follower = Follower(writer.feed)
    for _ in range(hub_feed.KEPT_GROUPS * 2):
        writer.commit("a")
    assert writer.feed.group_after(writer.feed.last_pos - 1) is not None
    writer.feed.unfollow(follower)
    writer.commit("a")
    assert writer.feed.group_after(writer.feed.last_pos - 1) is None


def test_who_follows_is_stopped_when_something_is_gone_and_at_the_end() -> None:
    writer = Writer()
    follower = Follower(writer.feed, "a")
    writer.feed.forget_session("b")
    assert follower.stops == 1
    writer.commit("a")
    assert follower.got == []
    again = Follower(writer.feed, "a")
    writer.feed.close()
    assert again.stops == 1 and writer.feed.waiting == 0


def test_who_follows_is_called_when_what_held_it_up_is_over_in_order() -> None:
    writer = Writer()
    follower = Follower(writer.feed, "a")
    with pytest.raises(ValueError, match="no"), writer.feed.held():
        writer.commit("a", count=2)
        writer.commit("a")
        assert follower.got == []
        raise ValueError("no")
    assert follower.got == [1, 2, 3]


def test_what_readers_share_of_a_group_is_made_once_and_not_kept_for_the_next() -> None:
    writer = Writer()
    made: list[int] = []
    Follower(writer.feed, "a")

    def make() -> bytes:
        made.append(len(made))
        return b"%d" % made[-1]

    writer.commit("a")
    assert [writer.feed.shared("x", make), writer.feed.shared("x", make), writer.feed.shared("y", make)] == [b"0", b"0", b"1"]
    writer.commit("a")
    assert writer.feed.shared("x", make) == b"2"


def test_what_is_shared_is_bounded() -> None:
    feed = Writer().feed
    for number in range(20):
        assert len(feed.shared(number, lambda: b"x" * (hub_feed.SHARED_BYTES // 4))) == hub_feed.SHARED_BYTES // 4
    assert sum(map(len, feed._shared.values())) <= hub_feed.SHARED_BYTES
