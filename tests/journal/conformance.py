"""What every journal must do, whatever it stores its entries in.

A store takes part by a test class that inherits JournalConformance and says how it is opened.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.aio import run
from tests.journal.samples import Opener, entries, entry, group, read_all, read_hub_all, row, seqs
from trunkline.errors import StorageError
from trunkline.journal.base import Entry, Group, Journal, RowFilter


class JournalConformance:
    """The suite. ``opener`` gives the store under test."""

    def opener(self, folder: Path) -> Opener:
        raise NotImplementedError

    @pytest.fixture
    def open_journal(self, tmp_path: Path) -> Opener:
        return self.opener(tmp_path)

    # append

    def test_entries_come_back_as_they_were_given(self, open_journal: Opener) -> None:
        given = [
            Entry(1, 10, b'{"type":"message:start"}', b"{}", b"{}", b"raw"),
            Entry(2, 11, b"\xff\x00 not json", None, None, None),
            Entry(3, 12, b"", b"", b"", b""),
        ]

        async def scenario() -> list[Entry]:
            async with open_journal() as journal:
                await journal.append(group(a=given))
                return await journal.read("a")

        found = run(scenario())
        assert found == given
        assert [each.update for each in found] == [b"{}", None, b""]

    def test_pos_rises_over_all_sessions_in_commit_order(self, open_journal: Opener) -> None:
        async def scenario() -> list[tuple[str, Entry]]:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 2), b=entries(1, 1)))
                await journal.append(group(b=entries(2, 40)))
                await journal.append(group(a=entries(3, 3)))
                return await read_hub_all(journal)

        found = run(scenario())
        positions = [each.pos for _, each in found]
        assert positions == sorted(set(positions))
        assert positions[0] > 0
        assert {(session, each.seq) for session, each in found[:3]} == {("a", 1), ("a", 2), ("b", 1)}
        assert [(session, each.seq) for session, each in found[3:]] == [("b", seq) for seq in range(2, 41)] + [("a", 3)]

    def test_append_sets_pos_on_the_very_entries_it_was_given(self, open_journal: Opener) -> None:
        given = entries(1, 3)

        async def scenario() -> list[Entry]:
            async with open_journal() as journal:
                await journal.append(group(a=given))
                return await journal.read("a")

        assert [each.pos for each in run(scenario())] == [each.pos for each in given]
        assert 0 not in [each.pos for each in given]

    @pytest.mark.parametrize("bad", [entries(2, 3), entries(1, 1), [entry(3), entry(3)], [entry(5), entry(4)]],
                             ids=["overlapping", "older", "twice", "falling"])
    def test_a_group_with_entries_out_of_order_leaves_nothing_behind(self, open_journal: Opener, bad: list[Entry]) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 2)))
                innocent = entry(1)
                with pytest.raises(StorageError, match="session a"):
                    await journal.append(Group({"b": [innocent], "a": bad}, {"b": row("b")}))
                assert innocent.pos == 0
                assert await journal.read("b") == []
                assert await journal.rows(RowFilter()) == []
                assert seqs(await journal.read("a")) == [1, 2]
                await journal.append(group(a=entries(3, 3), b=entries(1, 1)))
                assert seqs(await journal.read("a")) == [1, 2, 3]
                assert seqs(await journal.read("b")) == [1]

        run(scenario())

    # append_now

    def test_a_group_is_committed_at_once_or_not_touched(self, open_journal: Opener) -> None:
        given = entries(1, 3)

        async def scenario() -> None:
            async with open_journal() as journal:
                if not journal.append_now(Group({"a": given}, {"a": row("a")})):
                    assert [each.pos for each in given] == [0, 0, 0]
                    assert (await journal.read("a"), await journal.rows(RowFilter()), journal.last_pos) == ([], [], 0)
                    await journal.append(Group({"a": given}, {"a": row("a")}))
                assert journal.last_pos == given[-1].pos > 0
                assert await journal.read("a") == given
                assert [found.id for found in await journal.rows(RowFilter())] == ["a"]

        run(scenario())

    def test_groups_of_both_ways_of_appending_are_one_order(self, open_journal: Opener) -> None:
        async def scenario() -> list[tuple[str, Entry]]:
            async with open_journal() as journal:
                for seq in range(1, 9):
                    part = group(a=[entry(seq)])
                    if seq % 2 or not journal.append_now(part):
                        await journal.append(part)
                return await read_hub_all(journal)

        found = run(scenario())
        assert [each.seq for _, each in found] == [*range(1, 9)]
        assert [each.pos for _, each in found] == sorted({each.pos for _, each in found})

    def test_entries_of_all_ways_of_appending_are_one_order_and_known_again(self, open_journal: Opener) -> None:
        given = entries(1, 9)

        async def scenario() -> None:
            async with open_journal() as journal:
                for number, each in enumerate(given):
                    part = group(a=[each])
                    if number % 3 == 0:
                        done = journal.append_alone_now("a", [each])
                    else:
                        done = number % 3 == 1 and journal.append_now(part)
                    if not done:
                        assert each.pos == 0
                        await journal.append(part)
                    assert journal.last_pos == each.pos
                assert await journal.read("a") == given
                assert [each for _, each in await read_hub_all(journal)] == given

        run(scenario())

    def test_one_entry_out_of_order_leaves_nothing_behind(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 2)))
                late = entry(2)
                try:
                    assert not journal.append_alone_now("a", [late])
                except StorageError as error:
                    assert "session a" in error.message
                assert (late.pos, seqs(await journal.read("a"))) == (0, [1, 2])

        run(scenario())

    def test_a_group_out_of_order_that_is_offered_at_once_leaves_nothing_behind(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 2)))
                try:
                    assert not journal.append_now(Group({"b": [entry(1)], "a": entries(2, 3)}, {"b": row("b")}))
                except StorageError as error:
                    assert "session a" in error.message
                assert (seqs(await journal.read("a")), await journal.read("b")) == ([1, 2], [])
                assert await journal.rows(RowFilter()) == []

        run(scenario())

    def test_a_gap_in_the_seqs_is_kept_as_it_is(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=[entry(1), entry(5)]))
                await journal.append(group(a=[entry(9)]))
                assert seqs(await journal.read("a")) == [1, 5, 9]
                assert seqs(await journal.read("a", after=3)) == [5, 9]
                assert seqs(await journal.read("a", after=5, before=9)) == []
                await journal.pack("a", before=10)
                assert seqs(await journal.read("a", after=3, before=9)) == [5]

        run(scenario())

    def test_an_empty_group_is_no_error(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(Group({}, {}))
                await journal.append(Group({"a": []}, {}))
                assert await journal.read("a") == []
                assert await journal.read_hub(after=0) == []

        run(scenario())

    # read

    def test_reading_goes_by_seq_in_both_directions(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await append_in_all_sizes(journal, "a", 300)
                assert seqs(await journal.read("a")) == list(range(1, 301))
                for after, before in [(0, 5), (0, None), (7, 8), (100, 180), (299, None), (300, None), (50, 50), (60, 20)]:
                    inside = [seq for seq in range(1, 301) if after < seq < (before or 1 << 40)]
                    assert seqs(await journal.read("a", after=after, before=before)) == inside
                    assert seqs(await journal.read("a", after=after, before=before, limit=3)) == inside[:3]
                    assert seqs(await journal.read("a", after=after, before=before, limit=3, tail=True)) == inside[-3:]
                assert await journal.read("nobody") == []
                assert await journal.read("a", limit=0) == []

        run(scenario())

    def test_max_bytes_counts_bodies_and_the_first_entry_always_comes(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 50, size=98)))
                assert all(each.size() == 100 for each in await journal.read("a"))
                assert seqs(await journal.read("a", max_bytes=500)) == [1, 2, 3, 4, 5]
                assert seqs(await journal.read("a", max_bytes=499)) == [1, 2, 3, 4]
                assert seqs(await journal.read("a", max_bytes=500, tail=True)) == [46, 47, 48, 49, 50]
                assert seqs(await journal.read("a", max_bytes=1)) == [1]
                assert seqs(await journal.read("a", max_bytes=1, tail=True)) == [50]
                assert [each.seq for _, each in await journal.read_hub(after=0, max_bytes=250)] == [1, 2]
                assert [each.seq for _, each in await journal.read_hub(after=0, max_bytes=0)] == [1]
                assert [each.seq for _, each in await journal.read_hub(after=0, limit=7)] == [1, 2, 3, 4, 5, 6, 7]

        run(scenario())

    def test_a_large_entry_among_small_ones_does_not_hide_what_follows_it(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(group(a=entries(1, 3)))
                await journal.append(group(a=[entry(4, size=3_000_000)]))
                await journal.append(group(a=entries(5, 6)))
                assert seqs(await journal.read("a")) == [1, 2, 3]
                assert seqs(await journal.read("a", after=3)) == [4]
                assert seqs(await journal.read("a", after=4)) == [5, 6]
                assert seqs(await journal.read("a", tail=True)) == [5, 6]
                assert seqs(await journal.read("a", before=5, tail=True)) == [4]

        run(scenario())

    def test_pages_of_any_size_join_to_the_whole(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await append_in_all_sizes(journal, "a", 400)
                for max_bytes in (1, 150, 5000):
                    assert seqs(await read_all(journal, "a", max_bytes=max_bytes)) == list(range(1, 401))
                assert seqs(await read_all(journal, "a", limit=7)) == list(range(1, 401))

        run(scenario())

    def test_the_hub_is_read_by_pos_over_all_sessions(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                seq = 0
                for turn in range(30):
                    size = 30 if turn % 7 == 0 else 1
                    await journal.append(group(a=entries(seq + 1, seq + size), b=[entry(turn + 1)]))
                    seq += size
                await journal.append(group(c=entries(1, 5)))
                whole = await read_hub_all(journal)
                assert [each.seq for session, each in whole if session == "a"] == list(range(1, seq + 1))
                assert [each.seq for session, each in whole if session == "b"] == list(range(1, 31))
                for limit in (1, 4, 33):
                    assert await read_hub_all(journal, limit=limit) == whole
                await journal.pack("a", before=1 << 40)
                await journal.pack("b", before=20)
                for limit in (1, 4, 1000):
                    assert await read_hub_all(journal, limit=limit) == whole
                assert await journal.read_hub(after=whole[-1][1].pos) == []

        run(scenario())

    # rows

    def test_a_row_is_stored_with_its_group_and_knows_its_last_seq(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(Group({"a": entries(1, 3)}, {"a": row("a", checkpoint=b"\x00\xff", checkpoint_seq=3)}))
                [found] = await journal.rows(RowFilter())
                assert (found.id, found.checkpoint, found.checkpoint_seq, found.last_seq) == ("a", b"\x00\xff", 3, 3)
                await journal.append(group(a=entries(4, 60)))
                await journal.append(Group({}, {"a": row("a", title="Renamed", updated_at=9), "b": row("b")}))
                newest, other = await journal.rows(RowFilter())
                assert (newest.id, newest.title, newest.updated_at, newest.last_seq) == ("a", "Renamed", 9, 60)
                assert (other.id, other.last_seq) == ("b", 0)

        run(scenario())

    @pytest.mark.parametrize(("which", "expected"), [
        (RowFilter(), ["e", "d", "c", "b", "a"]),
        (RowFilter(id="c"), ["c"]),
        (RowFilter(id="nobody"), []),
        (RowFilter(id="c", status=frozenset({"running"})), []),
        (RowFilter(id="c", limit=0), []),
        (RowFilter(status=frozenset({"running"})), ["d", "b"]),
        (RowFilter(status=frozenset({"running", "error"})), ["e", "d", "b"]),
        (RowFilter(status=frozenset()), []),
        (RowFilter(agent="gemini"), ["d", "c"]),
        (RowFilter(agent="gemini", status=frozenset({"running"})), ["d"]),
        (RowFilter(text="fix"), ["c", "a"]),
        (RowFilter(text="GEMI"), ["d", "c"]),
        (RowFilter(text="/srv/"), ["e"]),
        (RowFilter(text="ÄRGER"), ["b"]),
        (RowFilter(text="100%_"), ["e"]),
        (RowFilter(text=""), ["e", "d", "c", "b", "a"]),
        (RowFilter(limit=2), ["e", "d"]),
        (RowFilter(before=(3, "d")), ["c", "b", "a"]),
        (RowFilter(before=(3, "c"), limit=1), ["b"]),
        (RowFilter(before=(1, "a")), []),
    ])
    def test_rows_are_filtered_and_paged_newest_first(self, open_journal: Opener, which: RowFilter, expected: list[str]) -> None:
        rows = [
            row("a", updated_at=1, title="Fix the build"),
            row("b", updated_at=2, title="Ärger", status="running"),
            row("c", updated_at=3, title="a FIX", agent="gemini"),
            row("d", updated_at=3, agent="gemini", status="running"),
            row("e", updated_at=4, title="100%_ done", cwd="/srv/app", status="error"),
        ]

        async def scenario() -> list[str]:
            async with open_journal() as journal:
                await journal.append(Group({}, {each.id: each for each in rows}))
                return [found.id for found in await journal.rows(which)]

        assert run(scenario()) == expected

    def test_paging_rows_from_the_last_one_shown_meets_each_once(self, open_journal: Opener) -> None:
        async def scenario() -> list[str]:
            async with open_journal() as journal:
                await journal.append(Group({}, {f"s{n:02}": row(f"s{n:02}", updated_at=n // 4) for n in range(23)}))
                shown: list[str] = []
                before: tuple[int, str] | None = None
                while page := await journal.rows(RowFilter(limit=5, before=before)):
                    shown += [found.id for found in page]
                    before = (page[-1].updated_at, page[-1].id)
                return shown

        assert run(scenario()) == [f"s{n:02}" for n in reversed(range(23))]

    # pack and delete

    def test_packing_changes_no_entry_and_no_cursor(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await append_in_all_sizes(journal, "a", 300)
                await journal.append(group(b=entries(1, 4)))
                whole, hub = await read_all(journal, "a"), await read_hub_all(journal)
                assert await journal.pack("a", before=200) >= 0
                assert await journal.pack("a", before=200) == 0
                assert await journal.pack("nobody", before=200) == 0
                assert await read_all(journal, "a") == whole
                assert await read_hub_all(journal) == hub
                for after in (0, 1, 17, 150, 199, 200, 299):
                    assert seqs(await journal.read("a", after=after, limit=10)) == list(range(after + 1, min(after + 11, 301)))
                await journal.append(group(a=entries(301, 305)))
                assert await journal.pack("a", before=1 << 40) >= 0
                assert seqs(await read_all(journal, "a")) == list(range(1, 306))

        run(scenario())

    def test_a_deleted_session_is_gone_and_the_others_stay(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await append_in_all_sizes(journal, "a", 120)
                await journal.append(Group({"a": entries(121, 122), "b": entries(1, 3)}, {"a": row("a"), "b": row("b")}))
                await journal.delete("a")
                await journal.delete("a")
                await journal.delete("nobody")
                assert await journal.read("a") == []
                assert [found.id for found in await journal.rows(RowFilter())] == ["b"]
                assert [(session, each.seq) for session, each in await read_hub_all(journal)] == [("b", 1), ("b", 2), ("b", 3)]

        run(scenario())

    def test_pos_never_comes_back_after_a_delete_and_a_reopen(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                newest = entries(1, 50)
                await journal.append(group(a=newest))
                await journal.delete("a")
            async with open_journal() as journal:
                later = entry(1)
                await journal.append(group(b=[later]))
                assert later.pos > newest[-1].pos

        run(scenario())

    def test_a_deleted_id_may_be_used_again(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await journal.append(Group({"a": entries(1, 40)}, {"a": row("a", title="Old")}))
                await journal.delete("a")
                await journal.append(Group({"a": entries(1, 2)}, {"a": row("a", title="New")}))
                assert seqs(await journal.read("a")) == [1, 2]
                [found] = await journal.rows(RowFilter())
                assert (found.title, found.last_seq) == ("New", 2)

        run(scenario())

    # reopen

    def test_everything_is_there_after_a_reopen(self, open_journal: Opener) -> None:
        async def scenario() -> None:
            async with open_journal() as journal:
                await append_in_all_sizes(journal, "a", 200)
                await journal.append(Group({"b": entries(1, 2)}, {"a": row("a"), "b": row("b", updated_at=2)}))
                before = await read_hub_all(journal)
                rows = await journal.rows(RowFilter())
            async with open_journal() as journal:
                assert await read_hub_all(journal) == before
                assert await journal.rows(RowFilter()) == rows
                with pytest.raises(StorageError):
                    await journal.append(group(b=entries(2, 3)))
                await journal.append(group(b=entries(3, 3)))
                assert seqs(await journal.read("b")) == [1, 2, 3]
                assert (await read_hub_all(journal))[-1][1].pos > before[-1][1].pos

        run(scenario())

    # readers beside a writer

    def test_two_readers_beside_a_writer_miss_nothing_and_see_nothing_twice(self, open_journal: Opener) -> None:
        async def follow(journal: Journal, session_id: str, last: int) -> list[int]:
            found: list[int] = []
            while not found or found[-1] < last:
                page = await journal.read(session_id, after=found[-1] if found else 0, max_bytes=2000)
                found += seqs(page)
                await asyncio.sleep(0)
            return found

        async def follow_hub(journal: Journal, count: int) -> list[tuple[str, int]]:
            found: list[tuple[str, int]] = []
            after = 0
            while len(found) < count:
                for session, each in await journal.read_hub(after=after, limit=50):
                    found.append((session, each.seq))
                    after = each.pos
                await asyncio.sleep(0)
            return found

        async def scenario() -> None:
            async with open_journal() as journal:
                readers = asyncio.gather(follow(journal, "a", 2000), follow(journal, "a", 2000), follow_hub(journal, 2200))
                await append_in_all_sizes(journal, "a", 2000, beside="b")
                assert await journal.pack("a", before=1500) >= 0
                first, second, hub = await readers
                assert first == second == list(range(1, 2001))
                assert [seq for session, seq in hub if session == "a"] == list(range(1, 2001))
                assert [seq for session, seq in hub if session == "b"] == list(range(1, 201))

        run(scenario())


async def append_in_all_sizes(journal: Journal, session_id: str, count: int, beside: str | None = None) -> None:
    """Entries 1..count in groups of 1, 2, 20, 1, 70 … entries, with a second session's tenth as many beside them."""
    last = other = 0
    sizes = [1, 2, 20, 1, 70, 1, 1, 17, 16]
    turn = 0
    while last < count:
        size = min(sizes[turn % len(sizes)], count - last)
        parts = {session_id: entries(last + 1, last + size)}
        last, turn = last + size, turn + 1
        if beside is not None and other < count // 10:
            more = min(last // 10, count // 10) - other
            parts |= {beside: entries(other + 1, other + more)} if more else {}
            other += more
        await journal.append(Group(parts, {}))
        await asyncio.sleep(0)
